// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <latch>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/thread_executor.h"
#include "dtype/stores.h"

// For benchmarks: what this machine's memory can do, as the baseline of what we make of it.
namespace commrig::bench {

using dtype::Stores;

inline constexpr std::size_t kKibi = 1024;
inline constexpr std::size_t kMebi = 1024 * kKibi;

struct Effort {
  int rounds = 21;
  std::size_t bytes_per_run = 64 * kMebi;  // for buffers in a cache, by repeating the call
  std::size_t memory_bytes =
      std::clamp(8 * dtype::last_level_cache_bytes(), 256 * kMebi, 2048 * kMebi);
};

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

#if defined(__x86_64__)
inline void move_string(void* target, const void* source, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}
#else
inline void move_string(void* target, const void* source, std::size_t bytes) {
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
[[gnu::target("avx512f")]] inline void read_avx512(const std::byte* bytes, std::size_t size) {
  read_vectors<Words<64>>(bytes, size);
}

[[gnu::target("avx2")]] inline void read_avx2(const std::byte* bytes, std::size_t size) {
  read_vectors<Words<32>>(bytes, size);
}

inline Read widest_read() {
  if (__builtin_cpu_supports("avx512f")) return read_avx512;
  if (__builtin_cpu_supports("avx2")) return read_avx2;
  return read_vectors<Words<16>>;
}
#else
inline Read widest_read() {
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
      const Status spawned = executor_.spawn(Role::kUserCode, "bench", [this, i, works] {
        run_rounds(i, works);
        ended_.count_down();
      });
      COMMRIG_CHECK(spawned.has_value(), to_string(spawned.error()));
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

// Bytes a second of `threads` threads together in buffers of `bytes_in_all`, measured in turns.
struct MemoryRates {
  double read = 0;
  double write = 0;
  double copy = 0;  // read and written together, by the fastest of three ways
};

inline MemoryRates measure_memory(int threads, std::size_t bytes_in_all, const Effort& effort) {
  const std::size_t each = bytes_in_all / static_cast<std::size_t>(threads);
  const Read read = widest_read();
  // The source of the writes stays in the first-level cache.
  constexpr std::size_t kPiece = 8 * 1024;
  const Work write = [](Buffers& b) {
    for (std::size_t at = 0; at + kPiece <= 3 * b.each(); at += kPiece) {
      alignas(64) static thread_local std::byte source[kPiece] = {};
      dtype::copy(b.at(0) + at, source, kPiece, Stores::kStreaming);
    }
  };
  const std::vector<Work> works = {
      [read](Buffers& b) { read(b.at(0), 3 * b.each()); },
      write,
      [](Buffers& b) { std::memcpy(b.at(2), b.at(0), b.each()); },
      [](Buffers& b) { move_string(b.at(2), b.at(0), b.each()); },
      [](Buffers& b) { dtype::copy(b.at(2), b.at(0), b.each(), Stores::kStreaming); },
  };
  const std::vector<double> seconds = Timing(threads, each, effort).medians(works);
  const double third = static_cast<double>(Buffers(each).each()) * threads;
  return {.read = 3 * third / seconds[0],
          .write = 3 * third / seconds[1],
          .copy = 2 * third / std::min({seconds[2], seconds[3], seconds[4]})};
}

}  // namespace commrig::bench
