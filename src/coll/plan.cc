// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "coll/blocks.h"

namespace commrig::coll {
namespace {

struct CollectiveRow {
  Collective collective;
  std::string_view name;
  Collective base;
  bool root;
  bool arithmetic;
};

using enum Collective;

constexpr std::array<CollectiveRow, kCollectives> kRows{{
    {kAllReduce, "all-reduce", kAllReduce, false, true},
    {kReduce, "reduce", kReduce, true, true},
    {kBroadcast, "broadcast", kBroadcast, true, false},
    {kAllGather, "all-gather", kAllGather, false, false},
    {kReduceScatter, "reduce-scatter", kReduceScatter, false, true},
    {kAllToAll, "all-to-all", kAllToAll, false, false},
    {kGather, "gather", kGather, true, false},
    {kScatter, "scatter", kScatter, true, false},
    {kAllGatherV, "all-gather-v", kAllGather, false, false},
    {kReduceScatterV, "reduce-scatter-v", kReduceScatter, false, true},
    {kAllToAllV, "all-to-all-v", kAllToAll, false, false},
    {kGatherV, "gather-v", kGather, true, false},
    {kScatterV, "scatter-v", kScatter, true, false},
}};

static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].collective) != i) return false;
  }
  return true;
}());

const CollectiveRow& row(Collective collective) {
  const auto index = static_cast<std::size_t>(collective);
  COMMRIG_CHECK(index < kRows.size(), "no collective has this number");
  return kRows[index];
}

Error too_large(const Request& request) {
  return Error::make(Code::kCollectiveSize,
                     fmt::format("{} over {} ranks: the buffers of all ranks, with {} bytes an "
                                 "element, have more than {} bytes",
                                 name(request.collective), request.ranks, request.element_bytes,
                                 std::numeric_limits<std::size_t>::max()));
}

Status check_counts(const Request& request) {
  const auto n = static_cast<std::size_t>(request.ranks);
  std::size_t expected = 0;
  if (request.collective == kAllToAllV) {
    expected = n * n;
  } else if (has_counts(request.collective)) {
    expected = n;
  }
  if (request.counts.size() != expected) {
    return Error::make(Code::kCollectiveCounts,
                       fmt::format("{} over {} ranks takes {} counts, found {}",
                                   name(request.collective), n, expected, request.counts.size()));
  }
  return ok();
}

// Elements of all inputs and outputs together stay below this: twice the sum of all blocks, times
// the number of ranks where every rank holds them all.
Status check_size(const Request& request) {
  if (request.element_bytes == 0) {
    return Error::make(Code::kCollectiveSize,
                       fmt::format("{}: an element has 0 bytes", name(request.collective)));
  }
  const auto n = static_cast<std::size_t>(request.ranks);
  std::size_t left = std::numeric_limits<std::size_t>::max() / request.element_bytes / 2 / n;
  if (!has_counts(request.collective)) {
    return request.count <= left / n ? ok() : Status(too_large(request));
  }
  for (const std::size_t count : request.counts) {
    if (count > left) return too_large(request);
    left -= count;
  }
  return ok();
}

}  // namespace

std::string_view name(Collective collective) {
  return row(collective).name;
}

std::string_view name(StepKind kind) {
  static constexpr std::array<std::string_view, 8> kNames{"copy",    "reduce", "signal", "wait",
                                                          "reclaim", "send",   "recv",   "drain"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view name(Buffer buffer) {
  static constexpr std::array<std::string_view, 4> kNames{"input", "output", "scratch", "private"};
  return kNames.at(static_cast<std::size_t>(buffer));
}

Result<Collective> parse_collective(std::string_view text) {
  std::string known;
  for (const CollectiveRow& each : kRows) {
    if (each.name == text) return each.collective;
    known += known.empty() ? "" : ", ";
    known += each.name;
  }
  return Error::make(Code::kUnknownCollective,
                     fmt::format("collective \"{}\"; expected one of {}", text, known));
}

bool has_counts(Collective collective) {
  return row(collective).base != collective;
}

bool has_root(Collective collective) {
  return row(collective).root;
}

bool has_arithmetic(Collective collective) {
  return row(collective).arithmetic;
}

Collective base_form(Collective collective) {
  return row(collective).base;
}

Status check(const Request& request) {
  if (request.ranks < 1 || request.ranks > kRanksMax) {
    return Error::make(Code::kCollectiveRanks,
                       fmt::format("{}: {} ranks; expected 1 to {}", name(request.collective),
                                   request.ranks, kRanksMax));
  }
  if (has_root(request.collective) && (request.root < 0 || request.root >= request.ranks)) {
    return Error::make(Code::kCollectiveRoot,
                       fmt::format("{}: root {}; expected 0 to {}", name(request.collective),
                                   request.root, request.ranks - 1));
  }
  COMMRIG_TRY(check_counts(request));
  return check_size(request);
}

std::size_t input_count(const Request& request, int rank) {
  switch (base_form(request.collective)) {
    case kAllReduce:
    case kReduce:
      return request.count;
    case kBroadcast:
      return rank == request.root ? request.count : 0;
    case kAllGather:
    case kGather:
      return Blocks::of(request)[rank].count;
    case kReduceScatter:
      return Blocks::of(request).total();
    case kScatter:
      return rank == request.root ? Blocks::of(request).total() : 0;
    default:
      return sent_range(request, rank, request.ranks).offset;
  }
}

std::size_t output_count(const Request& request, int rank) {
  switch (base_form(request.collective)) {
    case kAllReduce:
    case kBroadcast:
      return request.count;
    case kReduce:
      return rank == request.root ? request.count : 0;
    case kAllGather:
      return Blocks::of(request).total();
    case kGather:
      return rank == request.root ? Blocks::of(request).total() : 0;
    case kReduceScatter:
    case kScatter:
      return Blocks::of(request)[rank].count;
    default:
      return received_range(request, rank, request.ranks).offset;
  }
}

std::size_t size_in_bytes(const Request& request) {
  std::size_t elements = request.count;
  if (request.collective == kAllToAllV) {
    elements = 0;
    for (int rank = 0; rank < request.ranks; ++rank) {
      elements = std::max({elements, input_count(request, rank), output_count(request, rank)});
    }
  } else if (has_counts(request.collective)) {
    elements = std::accumulate(request.counts.begin(), request.counts.end(), std::size_t{0});
  } else if (base_form(request.collective) != kAllReduce && request.collective != kReduce &&
             request.collective != kBroadcast) {
    elements *= static_cast<std::size_t>(request.ranks);
  }
  return elements * request.element_bytes;
}

Overlay overlay(const Request& request, int rank) {
  if (!request.in_place) return {};
  if (has_root(request.collective) && rank != request.root) return {};
  switch (base_form(request.collective)) {
    case kAllGather:
    case kGather:
      return {true, Buffer::kInput, Buffer::kOutput, Blocks::of(request)[rank].offset};
    case kReduceScatter:
    case kScatter:
      return {true, Buffer::kOutput, Buffer::kInput, Blocks::of(request)[rank].offset};
    default:
      return {true, Buffer::kInput, Buffer::kOutput, 0};
  }
}

}  // namespace commrig::coll
