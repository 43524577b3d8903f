// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/ulp.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dtype/format.h"

namespace commrig::dtype {
namespace {

template <class F>
double spacing(double value) {
  constexpr int kMin = 1 - F::kBias;
  constexpr int kMax = static_cast<int>(F::kMaxFinite >> F::kMantissaBits) - F::kBias;
  const int exponent = value == 0 ? kMin : std::isinf(value) ? kMax : std::ilogb(value);
  return std::ldexp(1.0, std::clamp(exponent, kMin, kMax) - F::kMantissaBits);
}

}  // namespace

double ulp(Dtype dtype, double value) {
  const DtypeInfo& row = info(dtype);
  COMMRIG_CHECK(row.has_arithmetic, std::string(row.name) + " is known by its size only");
  if (std::isnan(value)) return value;
  switch (dtype) {
    case Dtype::kFp16:
      return spacing<Fp16>(value);
    case Dtype::kBf16:
      return spacing<Bf16>(value);
    case Dtype::kFp32:
      return spacing<Fp32>(value);
    case Dtype::kFp64:
      return spacing<Fp64>(value);
    case Dtype::kFp8E4m3fn:
      return spacing<Fp8E4m3fn>(value);
    case Dtype::kFp8E5m2:
      return spacing<Fp8E5m2>(value);
    default:
      return 1;
  }
}

}  // namespace commrig::dtype
