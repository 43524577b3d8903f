/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_CUDA_BF16_H
#define COMMRIG_CUDA_BF16_H

/* bfloat16, the upper half of a float: its layout, and conversions on the host. */
#include "commrig_float_bits.h"
#include "vector_types.h"

/* Its exponent is that of a float, small values included, so that only bits are cut off. */
static inline unsigned short commrig_to_bfloat16(float value) {
  const uint32_t bits = commrig_float_bits(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
  return (unsigned short)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

typedef struct __nv_bfloat16_raw {
  unsigned short x;
} __nv_bfloat16_raw;

#if defined(__cplusplus)

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  __nv_bfloat16(float value) : __x((unsigned short)commrig_to_bfloat16(value)) {}
  __nv_bfloat16(double value) : __x(0) { *this = __nv_bfloat16((float)value); }
  __nv_bfloat16(int value) : __x(0) { *this = __nv_bfloat16((float)value); }
  operator float() const { return commrig_bits_float((uint32_t)__x << 16); }
  operator __nv_bfloat16_raw() const {
    __nv_bfloat16_raw raw;
    raw.x = __x;
    return raw;
  }
};

static inline __nv_bfloat16 __float2bfloat16(float value) {
  return __nv_bfloat16(value);
}
static inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return __nv_bfloat16(value);
}
static inline float __bfloat162float(__nv_bfloat16 value) {
  return (float)value;
}

#else

typedef __nv_bfloat16_raw __nv_bfloat16;

static inline __nv_bfloat16 __float2bfloat16(float value) {
  __nv_bfloat16 made;
  made.x = (unsigned short)commrig_to_bfloat16(value);
  return made;
}
static inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return __float2bfloat16(value);
}
static inline float __bfloat162float(__nv_bfloat16 value) {
  return commrig_bits_float((uint32_t)value.x << 16);
}

#endif

typedef struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
} __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif /* COMMRIG_CUDA_BF16_H */
