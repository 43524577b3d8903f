/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_CUDA_FP16_H
#define COMMRIG_CUDA_FP16_H

/* IEEE 754 binary16: its layout, and conversions on the host. */
#include "commrig_float_bits.h"
#include "vector_types.h"

typedef struct __half_raw {
  unsigned short x;
} __half_raw;

#if defined(__cplusplus)

struct __attribute__((aligned(2))) __half {
  unsigned short __x;

  __half() = default;
  __half(const __half_raw& raw) : __x(raw.x) {}
  __half(float value)
      : __x((unsigned short)commrig_narrow(value, 5, 10, 0x7BFFu, 0x7C00u, 0x7FFFu)) {}
  __half(double value) : __x(0) { *this = __half((float)value); }
  __half(int value) : __x(0) { *this = __half((float)value); }
  operator float() const { return commrig_widen(__x, 5, 10, 1); }
  operator __half_raw() const {
    __half_raw raw;
    raw.x = __x;
    return raw;
  }
};

static inline __half __float2half(float value) {
  return __half(value);
}
static inline __half __float2half_rn(float value) {
  return __half(value);
}
static inline float __half2float(__half value) {
  return (float)value;
}

#else

typedef __half_raw __half;

static inline __half __float2half(float value) {
  __half made;
  made.x = (unsigned short)commrig_narrow(value, 5, 10, 0x7BFFu, 0x7C00u, 0x7FFFu);
  return made;
}
static inline __half __float2half_rn(float value) {
  return __float2half(value);
}
static inline float __half2float(__half value) {
  return commrig_widen(value.x, 5, 10, 1);
}

#endif

typedef struct __attribute__((aligned(4))) __half2 {
  __half x, y;
} __half2;
typedef __half half;
typedef __half2 half2;

#endif /* COMMRIG_CUDA_FP16_H */
