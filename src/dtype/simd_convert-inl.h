// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// The vector loops of convert() and copy(). Compiled once for each target, see
// simd_elements-inl.h.
#if defined(COMMRIG_DTYPE_SIMD_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COMMRIG_DTYPE_SIMD_CONVERT_INL_H_
#undef COMMRIG_DTYPE_SIMD_CONVERT_INL_H_
#else
#define COMMRIG_DTYPE_SIMD_CONVERT_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dtype/kernels.h"
#include "dtype/simd_elements-inl.h"
#include "dtype/simd_reduce-inl.h"

#if HWY_TARGET & COMMRIG_SIMD_TARGETS

HWY_BEFORE_NAMESPACE();
namespace commrig::dtype::HWY_NAMESPACE {

// Half a vector of 16-bit elements beside a whole one of fp32.
using HalfWords = hn::Rebind<std::uint16_t, hn::ScalableTag<float>>;
constexpr std::size_t kFloatBytes = HWY_LANES(float) * sizeof(float);
constexpr std::size_t kHalfBytes = kFloatBytes / 2;

struct WidenBf16 {
  static constexpr std::size_t kSourceBytes = kHalfBytes;
  static constexpr std::size_t kTargetBytes = kFloatBytes;
  static HWY_INLINE void convert(const std::byte* source, std::byte* target) {
    const auto words = hn::LoadU(HalfWords{}, reinterpret_cast<const std::uint16_t*>(source));
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(hn::ScalableTag<std::uint32_t>{}, words));
    NativeVector<float>::store<OrdinaryStores>(hn::BitCast(hn::ScalableTag<float>{}, bits), target);
  }
};

struct WidenFp16 {
  static constexpr std::size_t kSourceBytes = kHalfBytes;
  static constexpr std::size_t kTargetBytes = kFloatBytes;
  static HWY_INLINE void convert(const std::byte* source, std::byte* target) {
    NativeVector<float>::store<OrdinaryStores>(Fp16Vector::widen_half(source), target);
  }
};

// The payload of a NaN may lie in the lower half alone, so NaNs are found before rounding.
struct NarrowBf16 {
  static constexpr std::size_t kSourceBytes = kFloatBytes;
  static constexpr std::size_t kTargetBytes = kHalfBytes;
  static HWY_INLINE void convert(const std::byte* source, std::byte* target) {
    const hn::ScalableTag<std::uint32_t> words;
    const hn::ScalableTag<std::int32_t> integers;
    const auto value = canonical_vector<float>(load_vector<float>(source));
    const auto bits = hn::BitCast(words, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(words, 0x7FFF)));
    const HalfWords half;
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(integers, rounded)), half,
               reinterpret_cast<std::uint16_t*>(target));
  }
};

struct NarrowFp16 {
  static constexpr std::size_t kSourceBytes = kFloatBytes;
  static constexpr std::size_t kTargetBytes = kHalfBytes;
  static HWY_INLINE void convert(const std::byte* source, std::byte* target) {
    const auto value = canonical_vector<float>(load_vector<float>(source));
    hn::StoreU(Fp16Vector::narrow_half(value), HalfWords{},
               reinterpret_cast<std::uint16_t*>(target));
  }
};

template <class Step>
void convert_loop(const void* source, void* target, std::size_t count) {
  constexpr std::size_t kLanes = HWY_LANES(float);
  const auto* input = static_cast<const std::byte*>(source);
  auto* output = static_cast<std::byte*>(target);
  for (; count >= kLanes; count -= kLanes) {
    Step::convert(input, output);
    input += Step::kSourceBytes;
    output += Step::kTargetBytes;
  }
  if (count == 0) return;
  HWY_ALIGN std::byte whole_input[Step::kSourceBytes] = {};
  HWY_ALIGN std::byte whole_output[Step::kTargetBytes];
  std::memcpy(whole_input, input, count * (Step::kSourceBytes / kLanes));
  Step::convert(whole_input, whole_output);
  std::memcpy(output, whole_output, count * (Step::kTargetBytes / kLanes));
}

constexpr ConvertTable make_convert_table() {
  ConvertTable table{};
  table[index(Dtype::kBf16)][index(Dtype::kFp32)] = convert_loop<WidenBf16>;
  table[index(Dtype::kFp16)][index(Dtype::kFp32)] = convert_loop<WidenFp16>;
  table[index(Dtype::kFp32)][index(Dtype::kBf16)] = convert_loop<NarrowBf16>;
  table[index(Dtype::kFp32)][index(Dtype::kFp16)] = convert_loop<NarrowFp16>;
  return table;
}

constexpr ConvertTable kConvert = make_convert_table();

void stream_copy(const void* source, void* target, std::size_t bytes) {
  using Group = Four<NativeVector<std::uint8_t>>;
  const auto* input = static_cast<const std::byte*>(source);
  auto* output = static_cast<std::byte*>(target);
  std::size_t at = head_bytes(output, Group::kBytes / 4, bytes);
  std::memcpy(output, input, at);
  for (; bytes - at >= Group::kBytes; at += Group::kBytes) {
    Group::store<StreamingStores>(Group::load(input + at), output + at);
  }
  hwy::FlushStream();
  std::memcpy(output + at, input + at, bytes - at);
}

}  // namespace commrig::dtype::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET & COMMRIG_SIMD_TARGETS
#endif  // COMMRIG_DTYPE_SIMD_CONVERT_INL_H_
