// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dtype/element.h"
#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

// An fp64 that any format with at most 51 bits of precision rounds as it would round the integer
// itself: exact up to 53 bits; beyond, cut there with the last bit set if anything was lost ("round
// to odd": S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Transactions
// on Computers 57(4), 2008).
template <class T>
constexpr double round_to_odd(T integer) {
  if constexpr (sizeof(T) < 8) {
    return integer;
  } else {
    const bool negative = integer < 0;
    auto magnitude = static_cast<std::uint64_t>(integer);
    if (negative) magnitude = 0 - magnitude;
    const int lost = static_cast<int>(std::bit_width(magnitude)) - 53;
    if (lost > 0) {
      const std::uint64_t kept = (magnitude >> lost) << lost;
      magnitude = kept | static_cast<std::uint64_t>(kept != magnitude) << lost;
    }
    const auto value = static_cast<double>(magnitude);
    return negative ? -value : value;
  }
}

template <class From, class To>
typename To::Stored convert_one(typename From::Stored stored) {
  if constexpr (std::is_same_v<To, Double>) {
    return To::store(static_cast<double>(From::load(stored)));
  } else if constexpr (std::is_integral_v<typename From::Value>) {
    return To::store(round_to_odd(stored));
  } else {
    return To::store(From::load(stored));
  }
}

template <class From, class To>
void convert_loop(const void* source, void* target, std::size_t count) {
  const auto* input = static_cast<const std::byte*>(source);
  auto* output = static_cast<std::byte*>(target);
  for (std::size_t i = 0; i < count; ++i) {
    store_at(output, i, convert_one<From, To>(load_at<typename From::Stored>(input, i)));
  }
}

constexpr ConvertTable make_table() {
  ConvertTable table{};
  const auto add = [&]<class From>(Dtype from, std::type_identity<From>) {
    for_each_float([&]<class To>(Dtype to, std::type_identity<To>) {
      table[index(from)][index(to)] = convert_loop<From, To>;
    });
  };
  for_each_integer(add);
  for_each_float(add);
  return table;
}

}  // namespace

constinit const ConvertTable kScalarConvert = make_table();

}  // namespace commrig::dtype
