// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Sums of two sources beside what the machine's memory allows, measured in the same run by the same
// number of threads in turns: the median of the runs counts. A run is many calls in a cache and one
// in memory. With any --benchmark_ option, as `./rig bench --quick` gives, everything is run once
// and small.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dtype/kernels.h"
#include "dtype/limits_for_bench.h"
#include "dtype/reduce.h"

namespace commrig::dtype {
namespace {

using bench::Buffers;
using bench::Effort;
using bench::kKibi;
using bench::kMebi;
using bench::Timing;
using bench::Work;

constexpr Dtype kDtypes[] = {Dtype::kFp32, Dtype::kBf16, Dtype::kFp16};

void print(const std::string& line) {
  fmt::print("{}\n", line);  // tidy: allow(print) a benchmark's table is its result
}

void sum(Buffers& buffers, Dtype dtype, Stores stores) {
  const void* sources[] = {buffers.at(0), buffers.at(1)};
  const std::size_t count = buffers.each() / size_of(dtype);
  const Status status = reduce(ReduceOp::kSum, dtype, sources, buffers.at(2), count, stores);
  COMMRIG_CHECK(status.has_value(), "the sum was refused");
}

void print_row(std::string_view what, Dtype dtype, int threads, double figure, double baseline,
               double target) {
  print(fmt::format("{:<22} {:<5} {:>7} {:>10.1f} {:>10.1f} {:>6.0f} % {:>6.0f} %", what,
                    info(dtype).name, threads, figure / 1e9, baseline / 1e9,
                    100 * figure / baseline, 100 * target));
}

// Three bytes for each that is copied at the price of two: the best that memory can do.
void bench_memory(int threads, const Effort& effort) {
  const std::size_t each = effort.memory_bytes / static_cast<std::size_t>(threads);
  std::vector<Work> works = {
      [](Buffers& b) { std::memcpy(b.at(2), b.at(0), b.each()); },
      [](Buffers& b) { bench::move_string(b.at(2), b.at(0), b.each()); },
      [](Buffers& b) { copy(b.at(2), b.at(0), b.each(), Stores::kStreaming); },
  };
  const std::size_t copies = works.size();
  const Stores stores = stores_for(effort.memory_bytes);
  for (const Dtype dtype : kDtypes) {
    works.emplace_back([dtype, stores](Buffers& b) { sum(b, dtype, stores); });
  }
  const std::vector<double> seconds = Timing(threads, each, effort).medians(works);
  const double bytes = static_cast<double>(Buffers(each).each()) * threads;
  const double fastest = *std::min_element(seconds.begin(), seconds.begin() + 3);
  for (std::size_t i = 0; i < std::size(kDtypes); ++i) {
    print_row("memory, against copy", kDtypes[i], threads, 3 * bytes / seconds[copies + i],
              2 * bytes / fastest, 0.9);
  }
}

void bench_cache(int threads, std::size_t bytes_each, const Effort& effort) {
  const bench::Read read = bench::widest_read();
  std::vector<Work> works = {[read](Buffers& b) { read(b.at(0), 3 * b.each()); }};
  for (const Dtype dtype : kDtypes) {
    works.emplace_back([dtype](Buffers& b) { sum(b, dtype, Stores::kOrdinary); });
  }
  const std::vector<double> seconds = Timing(threads, bytes_each, effort).medians(works);
  const double bytes = 3.0 * static_cast<double>(Buffers(bytes_each).each()) * threads;
  for (std::size_t i = 0; i < std::size(kDtypes); ++i) {
    print_row(fmt::format("{} KiB, against read", bytes_each / kKibi), kDtypes[i], threads,
              bytes / seconds[i + 1], bytes / seconds[0], kDtypes[i] == Dtype::kFp32 ? 0.9 : 0.6);
  }
}

void bench_all(const Effort& effort) {
  print(fmt::format("sum of two sources with the kernels '{}'; GB/s of all threads; median of {}",
                    chosen_kernels().value()->name, effort.rounds));
  print(fmt::format("{:<22} {:<5} {:>7} {:>10} {:>10} {:>8} {:>8}", "each thread's buffers", "type",
                    "threads", "sum", "baseline", "ratio", "target"));
  for (const int threads : {1, 2}) {
    bench_memory(threads, effort);
    for (const std::size_t size : {8 * kKibi, 256 * kKibi, 4 * kMebi}) {
      bench_cache(threads, size, effort);
    }
  }
}

}  // namespace
}  // namespace commrig::dtype

int main(int argc, char** argv) {
  commrig::bench::Effort effort;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--benchmark_")) {
      effort = {.rounds = 1, .bytes_per_run = 1, .memory_bytes = commrig::bench::kMebi};
    }
  }
  commrig::dtype::bench_all(effort);
}
