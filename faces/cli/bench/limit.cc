// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/limit.h"

#include <algorithm>
#include <thread>

#include "dtype/limits_for_bench.h"

namespace commrig::cli::bench {
namespace {

using coll::Collective;

constexpr std::size_t kLeastBytes = std::size_t{64} << 10U;

struct Traffic {
  double read = 0;
  double written = 0;
};

Traffic traffic(const Load& load) {
  const double n = load.ranks;
  const auto size = static_cast<double>(load.size());
  const double block = size / (load.operation->blocks ? n : 1);
  // In place, a rank's own block is there already.
  const double kept = load.in_place ? block : 0;
  if (!load.operation->collective) return {n * size, n * size};
  switch (*load.operation->collective) {
    case Collective::kAllReduce:
      return {n * size, n * size};
    case Collective::kReduce:
      return {n * size, size};
    case Collective::kBroadcast:
      return {size, n * size - kept};
    case Collective::kAllGather:
      return {size, n * (size - kept)};
    case Collective::kReduceScatter:
      return {n * size, size};
    case Collective::kAllToAll:
      return {n * (size - kept), n * (size - kept)};
    default:  // gather, scatter
      return {size - kept, size - kept};
  }
}

// Bytes of all buffers together.
std::size_t footprint(const Load& load) {
  std::size_t bytes = 0;
  for (int rank = 0; rank < load.ranks; ++rank) {
    const std::size_t in = load.input_bytes(rank);
    const std::size_t out = load.output_bytes(rank);
    bytes += load.in_place ? std::max(in, out) : in + out;
  }
  return bytes;
}

}  // namespace

MachineLimit::Rates MachineLimit::measure(int threads, std::size_t bytes) {
  const auto found = known_.find(bytes);
  if (found != known_.end()) return found->second;
  const commrig::bench::Effort effort{.rounds = 7, .bytes_per_run = 8 * commrig::bench::kMebi};
  const commrig::bench::MemoryRates rates =
      commrig::bench::measure_memory(threads, std::min(bytes, effort.memory_bytes), effort);
  return known_[bytes] = {rates.read, rates.write, rates.copy};
}

std::optional<double> MachineLimit::seconds(const Load& load) {
  const auto [read, written] = traffic(load);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int threads = std::min(load.ranks, cores);
  const std::size_t bytes = footprint(load);
  if (bytes < kLeastBytes * static_cast<std::size_t>(threads)) return std::nullopt;
  const Rates rates = measure(threads, bytes);
  return std::max({read / rates.read, written / rates.write, (read + written) / rates.copy});
}

}  // namespace commrig::cli::bench
