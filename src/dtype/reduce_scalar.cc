// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "dtype/element.h"
#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

// Accumulators of one block stay in the first-level cache while every source is added to them, so
// each source is read once and the target written once. Because a block is written after all of it
// was read, the target may be a source.
constexpr std::size_t kBlockBytes = 4096;

// Sums and products modulo 2^bits. Arithmetic is unsigned, and at least 32 bits wide because a
// product of two uint16 would be promoted to a signed int and overflow it.
template <ReduceOp Op, class T>
constexpr T combine_integers(T a, T b) {
  using Wide = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;
  if constexpr (Op == ReduceOp::kSum) {
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  } else if constexpr (Op == ReduceOp::kProd) {
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  } else if constexpr (Op == ReduceOp::kMax) {
    return b > a ? b : a;
  } else {
    return b < a ? b : a;
  }
}

// A signed integer in the order of the values, with -0 just below +0 (IEEE 754-2019 section 5.10,
// totalOrder, without the NaNs): negative numbers have their magnitude flipped.
template <class T>
constexpr auto order(T value) {
  using Key = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const auto key = std::bit_cast<Key>(value);
  return key ^ ((key >> (8 * sizeof(T) - 1)) & std::numeric_limits<Key>::max());
}

template <ReduceOp Op, class T>
constexpr T combine_floats(T a, T b) {
  if constexpr (Op == ReduceOp::kSum) {
    return a + b;
  } else if constexpr (Op == ReduceOp::kProd) {
    return a * b;
  } else {
    const bool b_wins = Op == ReduceOp::kMax ? order(b) > order(a) : order(b) < order(a);
    const T winner = b_wins ? b : a;
    return a != a ? b : (b != b ? a : winner);
  }
}

template <ReduceOp Op, class T>
constexpr T combine(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return combine_integers<Op>(a, b);
  } else {
    return combine_floats<Op>(a, b);
  }
}

template <class Element, ReduceOp Op>
void reduce_loop(std::span<const void* const> sources, void* target, std::size_t count,
                 Stores /*unused: always ordinary ones*/) {
  using Stored = typename Element::Stored;
  using Value = typename Element::Value;
  constexpr std::size_t kBlock = kBlockBytes / sizeof(Value);
  std::array<Value, kBlock> sums;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    const std::size_t offset = begin * sizeof(Stored);
    const auto* first = static_cast<const std::byte*>(sources[0]) + offset;
    for (std::size_t i = 0; i < length; ++i) sums[i] = Element::load(load_at<Stored>(first, i));
    for (const void* start : sources.subspan(1)) {
      const auto* source = static_cast<const std::byte*>(start) + offset;
      for (std::size_t i = 0; i < length; ++i) {
        const Value value = Element::load(load_at<Stored>(source, i));
        sums[i] = combine<Op>(sums[i], value);
      }
    }
    auto* output = static_cast<std::byte*>(target) + offset;
    for (std::size_t i = 0; i < length; ++i) store_at<Stored>(output, i, Element::store(sums[i]));
  }
}

constexpr ReduceTable make_table() {
  ReduceTable table{};
  const auto add = [&]<class Element>(Dtype dtype, std::type_identity<Element>) {
    table[index(dtype)] = {
        reduce_loop<Element, ReduceOp::kSum>, reduce_loop<Element, ReduceOp::kProd>,
        reduce_loop<Element, ReduceOp::kMax>, reduce_loop<Element, ReduceOp::kMin>};
  };
  for_each_integer(add);
  for_each_float(add);
  return table;
}

}  // namespace

constinit const ReduceTable kScalarReduce = make_table();

}  // namespace commrig::dtype
