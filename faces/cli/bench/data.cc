// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/data.h"

#include <algorithm>
#include <cstring>

#include "base/rng.h"
#include "dtype/convert.h"

namespace commrig::cli::bench {
namespace {

using coll::Collective;
using dtype::Dtype;
using dtype::ReduceOp;

// A number of the place alone, or of rank and place.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b = 0) {
  return Rng(a << 32U ^ b).next();
}

// Up to here every whole number has its own bits. Integers wrap around, and have no such limit.
std::uint64_t exact_up_to(Dtype type) {
  switch (type) {
    case Dtype::kFp8E5m2:
      return 8;
    case Dtype::kFp8E4m3fn:
      return 16;
    case Dtype::kBf16:
      return 256;
    case Dtype::kFp16:
      return 2048;
    default:
      return std::uint64_t{1} << 20U;
  }
}

void encode(Dtype type, std::int64_t value, std::byte* target) {
  const dtype::DtypeInfo& info = dtype::info(type);
  if (info.element_class == dtype::Class::kFloat && info.has_arithmetic) {
    const auto number = static_cast<float>(value);
    const Status converted = dtype::convert(Dtype::kFp32, &number, type, target, 1);
    COMMRIG_CHECK(converted.has_value(), to_string(converted.error()));
    return;
  }
  std::memset(target, value < 0 ? 0xFF : 0, info.bytes);
  std::memcpy(target, &value, std::min(info.bytes, sizeof(value)));
}

void repeat(std::span<const std::byte> pattern, std::span<std::byte> target) {
  for (std::size_t at = 0; at < target.size(); at += pattern.size()) {
    std::memcpy(target.data() + at, pattern.data(), std::min(pattern.size(), target.size() - at));
  }
}

}  // namespace

std::int64_t Data::value(int rank, std::size_t i) const {
  const auto r = static_cast<std::uint64_t>(rank);
  const auto n = static_cast<std::uint64_t>(load_.ranks);
  const std::uint64_t most = exact_up_to(load_.dtype);
  const std::uint64_t place = mixed(i);
  if (!load_.combines() || load_.op == ReduceOp::kMax || load_.op == ReduceOp::kMin) {
    return static_cast<std::int64_t>(mixed(i, r + 1) % std::min<std::uint64_t>(most, 100));
  }
  // So many ranks, other ones at each place, have a 2; the product is at most 8.
  if (load_.op == ReduceOp::kProd) return (place + r) % n < place / n % 4 ? 2 : 1;
  if (n <= most) {
    const std::uint64_t bound = std::min<std::uint64_t>(most / n + 1, 100);
    return static_cast<std::int64_t>(mixed(i, r + 1) % bound);
  }
  return (place + r) % n < place / n % (most + 1) ? 1 : 0;
}

std::int64_t Data::combined(std::size_t i) const {
  std::int64_t result = value(0, i);
  for (int rank = 1; rank < load_.ranks; ++rank) {
    const std::int64_t next = value(rank, i);
    switch (load_.op) {
      case ReduceOp::kSum:
        result += next;
        break;
      case ReduceOp::kProd:
        result *= next;
        break;
      case ReduceOp::kMax:
        result = std::max(result, next);
        break;
      case ReduceOp::kMin:
        result = std::min(result, next);
        break;
    }
  }
  return result;
}

std::vector<std::byte> Data::period(int rank, std::size_t first) const {
  const std::size_t element = load_.element_bytes();
  std::vector<std::byte> bytes(kPeriod * element);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    const std::size_t at = (first + i) % kPeriod;
    encode(load_.dtype, rank == kAll ? combined(at) : value(rank, at), bytes.data() + i * element);
  }
  return bytes;
}

void Data::fill_input(int rank, std::span<std::byte> input) const {
  repeat(period(rank, 0), input);
}

void Data::fill_constant(std::span<std::byte> input) const {
  std::vector<std::byte> bytes(kPeriod * load_.element_bytes());
  for (std::size_t at = 0; at < bytes.size(); at += load_.element_bytes()) {
    encode(load_.dtype, load_.op == ReduceOp::kProd ? 1 : 0, bytes.data() + at);
  }
  repeat(bytes, input);
}

std::uint64_t Data::count_wrong_part(int rank, std::size_t first,
                                     std::span<const std::byte> found) const {
  const std::size_t element = load_.element_bytes();
  const std::vector<std::byte> expected = period(rank, first);
  std::uint64_t wrong = 0;
  for (std::size_t at = 0; at < found.size(); at += expected.size()) {
    const std::size_t length = std::min(expected.size(), found.size() - at);
    if (std::memcmp(found.data() + at, expected.data(), length) == 0) continue;
    for (std::size_t i = 0; i < length; i += element) {
      if (std::memcmp(found.data() + at + i, expected.data() + i, element) != 0) ++wrong;
    }
  }
  return wrong;
}

std::uint64_t Data::count_wrong(int rank, std::span<const std::byte> output) const {
  if (output.empty()) return 0;
  const std::size_t count = load_.count;
  const std::size_t mine = count * static_cast<std::size_t>(rank);
  if (!load_.operation->collective) {
    return count_wrong_part((rank + load_.ranks - 1) % load_.ranks, 0, output);
  }
  switch (*load_.operation->collective) {
    case Collective::kAllReduce:
    case Collective::kReduce:
      return count_wrong_part(kAll, 0, output);
    case Collective::kReduceScatter:
      return count_wrong_part(kAll, mine, output);
    case Collective::kBroadcast:
      return count_wrong_part(load_.root, 0, output);
    case Collective::kScatter:
      return count_wrong_part(load_.root, mine, output);
    default:
      break;
  }
  // A block of each rank: of all-to-all the one for this rank, else its whole input.
  const bool exchanged = load_.operation->collective == Collective::kAllToAll;
  const std::size_t bytes = count * load_.element_bytes();
  std::uint64_t wrong = 0;
  for (int sender = 0; sender < load_.ranks; ++sender) {
    wrong += count_wrong_part(sender, exchanged ? mine : 0,
                              output.subspan(bytes * static_cast<std::size_t>(sender), bytes));
  }
  return wrong;
}

}  // namespace commrig::cli::bench
