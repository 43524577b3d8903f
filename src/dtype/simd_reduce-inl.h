// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// The vector loops of reduce(). Compiled once for each target, see simd_elements-inl.h.
#if defined(COMMRIG_DTYPE_SIMD_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COMMRIG_DTYPE_SIMD_REDUCE_INL_H_
#undef COMMRIG_DTYPE_SIMD_REDUCE_INL_H_
#else
#define COMMRIG_DTYPE_SIMD_REDUCE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "dtype/kernels.h"
#include "dtype/simd_elements-inl.h"

#if HWY_TARGET & COMMRIG_SIMD_TARGETS

HWY_BEFORE_NAMESPACE();
namespace commrig::dtype::HWY_NAMESPACE {

using Sources = std::span<const void* const>;

// Where in the buffers a loop stands, in bytes.
struct Range {
  std::size_t begin;
  std::size_t end;
};

// Four vectors side by side, so that their latencies overlap and the loop costs little.
template <class E>
struct Four {
  using Stored = typename E::Stored;
  struct Held {
    typename E::Held a, b, c, d;
  };
  static constexpr std::size_t kBytes = 4 * E::kBytes;

  static HWY_INLINE Held load(const std::byte* bytes) {
    return {E::load(bytes), E::load(bytes + E::kBytes), E::load(bytes + 2 * E::kBytes),
            E::load(bytes + 3 * E::kBytes)};
  }

  template <ReduceOp Op>
  static HWY_INLINE Held combine(Held x, Held y) {
    return {E::template combine<Op>(x.a, y.a), E::template combine<Op>(x.b, y.b),
            E::template combine<Op>(x.c, y.c), E::template combine<Op>(x.d, y.d)};
  }

  template <class Put>
  static HWY_INLINE void store(Held held, std::byte* bytes) {
    E::template store<Put>(held.a, bytes);
    E::template store<Put>(held.b, bytes + E::kBytes);
    E::template store<Put>(held.c, bytes + 2 * E::kBytes);
    E::template store<Put>(held.d, bytes + 3 * E::kBytes);
  }
};

HWY_INLINE const std::byte* start(const void* buffer) {
  return static_cast<const std::byte*>(buffer);
}

// Streams from memory are asked for this early: narrow types have so many instructions for each
// line that the processor doesn't look far enough ahead by itself (measured on Zen 3: 78 to 95 % of
// a copy's rate for bf16). Prefetches past the end of a buffer are harmless.
constexpr std::size_t kPrefetchBytes = 1024;
constexpr std::size_t kLineBytes = 64;

template <class Group, class Put>
HWY_INLINE void prefetch_group(const std::byte* place) {
  if constexpr (Put::kFromMemory) {
    for (std::size_t line = 0; line < Group::kBytes; line += kLineBytes) {
      hwy::Prefetch(place + kPrefetchBytes + line);
    }
  }
}

// One group of every source.
template <class Group, ReduceOp Op, class Put>
HWY_INLINE typename Group::Held fold_group(Sources sources, std::size_t at) {
  prefetch_group<Group, Put>(start(sources[0]) + at);
  auto held = Group::load(start(sources[0]) + at);
  for (std::size_t s = 1; s < sources.size(); ++s) {
    prefetch_group<Group, Put>(start(sources[s]) + at);
    held = Group::template combine<Op>(held, Group::load(start(sources[s]) + at));
  }
  return held;
}

// As many whole groups as the range holds; returns where the next would begin. A group is read from
// every source before it is written, so the target may be a source.
template <class Group, ReduceOp Op, class Put>
HWY_INLINE std::size_t reduce_groups(Sources sources, std::byte* target, Range range) {
  std::size_t at = range.begin;
  if (sources.size() == 2) {
    const void* const two[] = {sources[0], sources[1]};
    for (; range.end - at >= Group::kBytes; at += Group::kBytes) {
      Group::template store<Put>(fold_group<Group, Op, Put>(two, at), target + at);
    }
    return at;
  }
  for (; range.end - at >= Group::kBytes; at += Group::kBytes) {
    Group::template store<Put>(fold_group<Group, Op, Put>(sources, at), target + at);
  }
  return at;
}

// What was stored by guesses, and whether it is right. Two doubts, because one would be a chain as
// long as the rest of the loop takes. They start from one, so that they never become subnormal,
// which is slow on some processors.
template <class E, class Put>
struct Guesses {
  std::byte* place;
  Vector<float> doubt = hn::Set(hn::ScalableTag<float>{}, 1.0F);
  Vector<float> other_doubt = doubt;

  HWY_INLINE void add(const typename Four<E>::Held& held) {
    E::template guess<Put>(held.a, place, doubt);
    E::template guess<Put>(held.b, place + E::kBytes, other_doubt);
    E::template guess<Put>(held.c, place + 2 * E::kBytes, doubt);
    E::template guess<Put>(held.d, place + 3 * E::kBytes, other_doubt);
    place += Four<E>::kBytes;
  }

  template <ReduceOp Op>
  HWY_INLINE void add_two(const std::byte* a, const std::byte* b) {
    add_vector<Op>(a, b, 0, doubt);
    add_vector<Op>(a, b, E::kBytes, other_doubt);
    add_vector<Op>(a, b, 2 * E::kBytes, doubt);
    add_vector<Op>(a, b, 3 * E::kBytes, other_doubt);
    place += Four<E>::kBytes;
  }

  template <ReduceOp Op>
  HWY_INLINE void add_vector(const std::byte* a, const std::byte* b, std::size_t at,
                             Vector<float>& its_doubt) {
    const auto held = E::template combine<Op>(E::load(a + at), E::load(b + at));
    E::template guess<Put>(held, place + at, its_doubt);
  }

  HWY_INLINE bool are_right() const {
    const auto both = hn::Add(doubt, other_doubt);
    const auto zero_or_nan = hn::Sub(both, both);
    return hn::AllFalse(hn::ScalableTag<float>{}, hn::IsNaN(zero_or_nan));
  }
};

// Stores from `place` on what the groups in the range are if the result is true.
template <class E, ReduceOp Op, class Put>
HWY_INLINE bool guess_groups(Sources sources, std::byte* place, Range range) {
  using Group = Four<E>;
  Guesses<E, Put> guesses{place};
  if (sources.size() == 2) {
    const void* const two[] = {sources[0], sources[1]};
    for (std::size_t at = range.begin; at != range.end; at += Group::kBytes) {
      if constexpr (E::kLoadsAhead) {
        guesses.add(fold_group<Group, Op, Put>(two, at));
      } else {
        prefetch_group<Group, Put>(start(two[0]) + at);
        prefetch_group<Group, Put>(start(two[1]) + at);
        guesses.template add_two<Op>(start(two[0]) + at, start(two[1]) + at);
      }
    }
  } else {
    for (std::size_t at = range.begin; at != range.end; at += Group::kBytes) {
      guesses.add(fold_group<Group, Op, Put>(sources, at));
    }
  }
  return guesses.are_right();
}

// So much is guessed before the guesses are looked at. What is guessed in place, apart from the
// target, is less, so that the copying of one block overlaps the computing of the next.
constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kInPlaceBlockBytes = 1024;

// As reduce_groups(), by guesses. Where one of a block may be wrong, the block is computed again
// from the sources.
template <class E, ReduceOp Op, class Put>
HWY_INLINE std::size_t reduce_blocks(Sources sources, std::byte* target, Range range) {
  Range block = {range.begin, range.begin};
  const std::size_t end = range.end - (range.end - range.begin) % Four<E>::kBytes;
  for (; block.begin != end; block.begin = block.end) {
    block.end += std::min(kBlockBytes, end - block.begin);
    if (!guess_groups<E, Op, Put>(sources, target + block.begin, block)) [[unlikely]] {
      reduce_groups<Four<E>, Op, OrdinaryStores>(sources, target, block);
    }
  }
  return end;
}

template <bool kMemory>
struct StoresInPlace : OrdinaryStores {
  static constexpr bool kFromMemory = kMemory;
};

// Into a target that is a source: guesses would overwrite what is needed if they are wrong, so they
// are made elsewhere first. The lines of the target are in the cache then, so nothing is gained by
// storing past it.
template <class E, ReduceOp Op, bool kMemory>
HWY_INLINE std::size_t reduce_blocks_in_place(Sources sources, std::byte* target, Range range) {
  using Copy = Four<NativeVector<std::uint8_t>>;
  static_assert(Copy::kBytes == Four<E>::kBytes);
  HWY_ALIGN std::byte guesses[kInPlaceBlockBytes];
  Range block = {range.begin, range.begin};
  const std::size_t end = range.end - (range.end - range.begin) % Copy::kBytes;
  for (; block.begin != end; block.begin = block.end) {
    block.end += std::min(kInPlaceBlockBytes, end - block.begin);
    if (!guess_groups<E, Op, StoresInPlace<kMemory>>(sources, guesses, block)) [[unlikely]] {
      reduce_groups<Four<E>, Op, OrdinaryStores>(sources, target, block);
      continue;
    }
    for (std::size_t at = block.begin; at != block.end; at += Copy::kBytes) {
      Copy::store<OrdinaryStores>(Copy::load(guesses + (at - block.begin)), target + at);
    }
  }
  return end;
}

template <class E, ReduceOp Op, class Put>
HWY_INLINE std::size_t reduce_most(Sources sources, std::byte* target, Range range) {
  if constexpr (E::template kGuesses<Op>) {
    if (std::find(sources.begin(), sources.end(), target) != sources.end()) {
      return reduce_blocks_in_place<E, Op, Put::kFromMemory>(sources, target, range);
    }
    return reduce_blocks<E, Op, Put>(sources, target, range);
  } else {
    return reduce_groups<Four<E>, Op, Put>(sources, target, range);
  }
}

// Fewer elements than a vector holds, through a vector in memory, so that nothing outside the
// buffers is touched.
template <class E, ReduceOp Op>
HWY_NOINLINE void reduce_part(Sources sources, std::byte* target, Range range) {
  const std::size_t bytes = range.end - range.begin;
  HWY_ALIGN std::byte whole[E::kBytes] = {};
  std::memcpy(whole, start(sources[0]) + range.begin, bytes);
  auto held = E::load(whole);
  for (std::size_t s = 1; s < sources.size(); ++s) {
    std::memcpy(whole, start(sources[s]) + range.begin, bytes);
    held = E::template combine<Op>(held, E::load(whole));
  }
  E::template store<OrdinaryStores>(held, whole);
  std::memcpy(target + range.begin, whole, bytes);
}

// How many of `bytes` lie before the first place that is aligned to a vector.
HWY_INLINE std::size_t head_bytes(const std::byte* target, std::size_t vector, std::size_t bytes) {
  return std::min(bytes, (vector - reinterpret_cast<std::uintptr_t>(target) % vector) % vector);
}

template <class E, ReduceOp Op>
void reduce_loop(Sources sources, void* target, std::size_t count, Stores stores) {
  auto* output = static_cast<std::byte*>(target);
  Range range = {0, count * sizeof(typename E::Stored)};
  if (stores == Stores::kStreaming) {
    const std::size_t head = head_bytes(output, E::kBytes, range.end);
    if (head != 0) reduce_part<E, Op>(sources, output, {0, head});
    range.begin = head;
    range.begin = reduce_most<E, Op, StreamingStores>(sources, output, range);
    hwy::FlushStream();
  } else {
    range.begin = reduce_most<E, Op, OrdinaryStores>(sources, output, range);
  }
  range.begin = reduce_groups<E, Op, OrdinaryStores>(sources, output, range);
  if (range.begin != range.end) reduce_part<E, Op>(sources, output, range);
}

// Sums and products of signed integers have the bits of unsigned ones.
template <class T>
constexpr std::array<ReduceKernel, kReduceOps.size()> integer_kernels() {
  using Element = NativeVector<T>;
  using Unsigned = NativeVector<std::make_unsigned_t<T>>;
  return {reduce_loop<Unsigned, ReduceOp::kSum>, reduce_loop<Unsigned, ReduceOp::kProd>,
          reduce_loop<Element, ReduceOp::kMax>, reduce_loop<Element, ReduceOp::kMin>};
}

template <class Element>
constexpr std::array<ReduceKernel, kReduceOps.size()> float_kernels() {
  return {reduce_loop<Element, ReduceOp::kSum>, reduce_loop<Element, ReduceOp::kProd>,
          reduce_loop<Element, ReduceOp::kMax>, reduce_loop<Element, ReduceOp::kMin>};
}

constexpr ReduceTable make_reduce_table() {
  ReduceTable table{};
  table[index(Dtype::kInt8)] = integer_kernels<std::int8_t>();
  table[index(Dtype::kInt16)] = integer_kernels<std::int16_t>();
  table[index(Dtype::kInt32)] = integer_kernels<std::int32_t>();
  table[index(Dtype::kInt64)] = integer_kernels<std::int64_t>();
  table[index(Dtype::kUint8)] = integer_kernels<std::uint8_t>();
  table[index(Dtype::kUint16)] = integer_kernels<std::uint16_t>();
  table[index(Dtype::kUint32)] = integer_kernels<std::uint32_t>();
  table[index(Dtype::kUint64)] = integer_kernels<std::uint64_t>();
  table[index(Dtype::kFp16)] = float_kernels<Fp16Vector>();
  table[index(Dtype::kBf16)] = float_kernels<Bf16Vector>();
  table[index(Dtype::kFp32)] = float_kernels<NativeVector<float>>();
  table[index(Dtype::kFp64)] = float_kernels<NativeVector<double>>();
  return table;
}

constexpr ReduceTable kReduce = make_reduce_table();

}  // namespace commrig::dtype::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET & COMMRIG_SIMD_TARGETS
#endif  // COMMRIG_DTYPE_SIMD_REDUCE_INL_H_
