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
HWY_INLINE typename Group::Held load_group(const std::byte* place) {
  if constexpr (std::is_same_v<Put, StreamingStores>) {
    for (std::size_t line = 0; line < Group::kBytes; line += kLineBytes) {
      hwy::Prefetch(place + kPrefetchBytes + line);
    }
  }
  return Group::load(place);
}

// As many whole groups as the range holds; returns where the next would begin. A group is read from
// every source before it is written, so the target may be a source.
template <class Group, ReduceOp Op, class Put>
HWY_INLINE std::size_t reduce_groups(Sources sources, std::byte* target, Range range) {
  std::size_t at = range.begin;
  if (sources.size() == 2) {
    const std::byte* a = start(sources[0]);
    const std::byte* b = start(sources[1]);
    for (; range.end - at >= Group::kBytes; at += Group::kBytes) {
      const auto sum = Group::template combine<Op>(load_group<Group, Put>(a + at),
                                                   load_group<Group, Put>(b + at));
      Group::template store<Put>(sum, target + at);
    }
    return at;
  }
  for (; range.end - at >= Group::kBytes; at += Group::kBytes) {
    auto held = load_group<Group, Put>(start(sources[0]) + at);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      held = Group::template combine<Op>(held, load_group<Group, Put>(start(sources[s]) + at));
    }
    Group::template store<Put>(held, target + at);
  }
  return at;
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
    range.begin = reduce_groups<Four<E>, Op, StreamingStores>(sources, output, range);
    hwy::FlushStream();
  } else {
    range.begin = reduce_groups<Four<E>, Op, OrdinaryStores>(sources, output, range);
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
