// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Sums of two sources beside what the machine's memory allows, measured in the same run by the same
// number of threads in turns: the median of the runs counts. A run is many calls in a cache and one
// in memory. With any --benchmark_ option, as `./rig bench --quick` gives, everything is run once
// and small.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <latch>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/thread_executor.h"
#include "dtype/kernels.h"
#include "dtype/reduce.h"

namespace commrig::dtype {
namespace {

constexpr std::size_t kKibi = 1024;
constexpr std::size_t kMebi = 1024 * kKibi;
constexpr Dtype kDtypes[] = {Dtype::kFp32, Dtype::kBf16, Dtype::kFp16};

struct Effort {
  int rounds = 21;
  std::size_t bytes_per_run = 64 * kMebi;  // for buffers in a cache, by repeating the call
  std::size_t memory_bytes = std::clamp(8 * last_level_cache_bytes(), 256 * kMebi, 2048 * kMebi);
};

void print(const std::string& line) {
  fmt::print("{}\n", line);  // tidy: allow(print) a benchmark's table is its result
}

// One thread's two sources and target, side by side and aligned to a page. Writing every byte also
// faults every page in. Read as a float of any type, 0x3C3C... is an ordinary number, so no
// subnormal and no overflow slows or speeds the loop.
class Buffers {
 public:
  explicit Buffers(std::size_t bytes_in_all)
      : each_(bytes_in_all / 3 / kStep * kStep),
        words_((3 * each_ + kPage) / sizeof(std::uint64_t), 0x3C3C3C3C3C3C3C3C) {}

  std::byte* at(std::size_t i) {
    auto* bytes = reinterpret_cast<std::byte*>(words_.data());
    bytes += (kPage - reinterpret_cast<std::uintptr_t>(bytes) % kPage) % kPage;
    return bytes + i * each_;
  }
  std::size_t each() const { return each_; }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kStep = 256;
  std::size_t each_;
  std::vector<std::uint64_t> words_;
};

void sum(Buffers& buffers, Dtype dtype, Stores stores) {
  const void* sources[] = {buffers.at(0), buffers.at(1)};
  const std::size_t count = buffers.each() / size_of(dtype);
  const Status status = reduce(ReduceOp::kSum, dtype, sources, buffers.at(2), count, stores);
  COMMRIG_CHECK(status.has_value(), "the sum was refused");
}

#if defined(__x86_64__)
void move_string(void* target, const void* source, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}
#else
void move_string(void* target, const void* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}
#endif

// Reads everything, eight vectors a step into eight sums.
template <class Vector>
[[gnu::always_inline]] inline void read_vectors(const std::byte* bytes, std::size_t size) {
  Vector sums[8] = {};
  for (std::size_t i = 0; i + sizeof(sums) <= size; i += sizeof(sums)) {
    const auto* vectors = reinterpret_cast<const Vector*>(bytes + i);
    sums[0] |= vectors[0];
    sums[1] |= vectors[1];
    sums[2] |= vectors[2];
    sums[3] |= vectors[3];
    sums[4] |= vectors[4];
    sums[5] |= vectors[5];
    sums[6] |= vectors[6];
    sums[7] |= vectors[7];
  }
  for (Vector& sum : sums) asm volatile("" : : "m"(sum) : "memory");
}

template <std::size_t kBytes>
using Words [[gnu::vector_size(kBytes), gnu::may_alias]] = std::uint64_t;

using Read = void (*)(const std::byte* bytes, std::size_t size);

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void read_avx512(const std::byte* bytes, std::size_t size) {
  read_vectors<Words<64>>(bytes, size);
}

[[gnu::target("avx2")]] void read_avx2(const std::byte* bytes, std::size_t size) {
  read_vectors<Words<32>>(bytes, size);
}

Read widest_read() {
  if (__builtin_cpu_supports("avx512f")) return read_avx512;
  if (__builtin_cpu_supports("avx2")) return read_avx2;
  return read_vectors<Words<16>>;
}
#else
Read widest_read() {
  return read_vectors<Words<16>>;
}
#endif

using Work = std::function<void(Buffers&)>;

// Median seconds of one call of each work, when all threads call it at once on buffers of their
// own.
class Timing {
 public:
  Timing(int threads, std::size_t bytes_each, Effort effort)
      : effort_(effort),
        repeats_(std::max<std::size_t>(1, effort.bytes_per_run / bytes_each)),
        in_step_(threads),
        ended_(threads - 1) {
    for (int i = 0; i < threads; ++i) buffers_.emplace_back(bytes_each);
  }

  std::vector<double> medians(std::span<const Work> works) {
    seconds_.assign(works.size(), {});
    for (std::size_t i = 1; i < buffers_.size(); ++i) {
      executor_.spawn(Role::kUserCode, "bench", [this, i, works] {
        run_rounds(i, works);
        ended_.count_down();
      });
    }
    run_rounds(0, works);
    ended_.wait();
    std::vector<double> result;
    for (std::vector<double>& times : seconds_) {
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::nth_element(times.begin(), middle, times.end());
      result.push_back(*middle / static_cast<double>(repeats_));
    }
    return result;
  }

 private:
  void run_rounds(std::size_t thread, std::span<const Work> works) {
    for (int round = -1; round < effort_.rounds; ++round) {
      for (std::size_t w = 0; w < works.size(); ++w) {
        in_step_.arrive_and_wait();
        const Nanos begin = executor_.now();
        for (std::size_t i = 0; i < repeats_; ++i) works[w](buffers_[thread]);
        in_step_.arrive_and_wait();
        // The first round only warms up.
        if (thread == 0 && round >= 0) {
          seconds_[w].push_back(std::chrono::duration<double>(executor_.now() - begin).count());
        }
      }
    }
  }

  Effort effort_;
  std::size_t repeats_;
  std::vector<Buffers> buffers_;
  std::vector<std::vector<double>> seconds_;
  std::barrier<> in_step_;
  std::latch ended_;
  ThreadExecutor executor_;
};

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
      [](Buffers& b) { move_string(b.at(2), b.at(0), b.each()); },
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
  const Read read = widest_read();
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
  commrig::dtype::Effort effort;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--benchmark_")) {
      effort = {.rounds = 1, .bytes_per_run = 1, .memory_bytes = commrig::dtype::kMebi};
    }
  }
  commrig::dtype::bench_all(effort);
}
