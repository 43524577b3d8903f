// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Compiles the loops of the -inl.h headers for each target of Highway, and lists the results. This
// file is included by foreach_target.h again and again.
#include "dtype/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dtype/kernels_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "dtype/simd_convert-inl.h"
#include "dtype/simd_reduce-inl.h"

#if HWY_ONCE

#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

// Static builds are for one target and need no library of Highway's to ask the processor.
[[maybe_unused]] bool has(std::int64_t target) {
  return (HWY_SUPPORTED_TARGETS & target) != 0;
}

// Best first.
constexpr KernelSet kSets[] = {
#if HWY_TARGETS & HWY_AVX3_ZEN4
    // Highway names it after AMD's processor and finds it on AMD's only; what it takes is AVX3_DL
    // and bf16. The processor's own conversion to bf16 takes subnormals for zero, so rounding is
    // by integers here as well.
    {"avx512-bf16", [] { return has(HWY_AVX3_DL) && __builtin_cpu_supports("avx512bf16") != 0; },
     &N_AVX3_ZEN4::kReduce, &N_AVX3_ZEN4::kConvert, N_AVX3_ZEN4::stream_copy},
#endif
#if HWY_TARGETS & HWY_AVX3
    {"avx512", [] { return has(HWY_AVX3); }, &N_AVX3::kReduce, &N_AVX3::kConvert,
     N_AVX3::stream_copy},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"avx2", [] { return has(HWY_AVX2); }, &N_AVX2::kReduce, &N_AVX2::kConvert,
     N_AVX2::stream_copy},
#endif
#if HWY_TARGETS & HWY_NEON
    {"neon", [] { return has(HWY_NEON); }, &N_NEON::kReduce, &N_NEON::kConvert,
     N_NEON::stream_copy},
#elif HWY_TARGETS & HWY_NEON_WITHOUT_AES
    {"neon", [] { return has(HWY_NEON_WITHOUT_AES); }, &N_NEON_WITHOUT_AES::kReduce,
     &N_NEON_WITHOUT_AES::kConvert, N_NEON_WITHOUT_AES::stream_copy},
#endif
    {"scalar", [] { return true; }, &kScalarReduce, &kScalarConvert, nullptr},
};

}  // namespace

std::span<const KernelSet> kernel_sets() {
  return kSets;
}

}  // namespace commrig::dtype

#endif  // HWY_ONCE
