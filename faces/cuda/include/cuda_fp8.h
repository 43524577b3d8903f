/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_CUDA_FP8_H
#define COMMRIG_CUDA_FP8_H

/* Floats of 8 bits by the OCP specification: their layout, and conversions on the host that
 * saturate. */
#include "commrig_float_bits.h"
#include "host_defines.h"

typedef unsigned char __nv_fp8_storage_t;

#if defined(__cplusplus)

struct __nv_fp8_e4m3 {
  __nv_fp8_storage_t __x;

  __nv_fp8_e4m3() = default;
  explicit __nv_fp8_e4m3(float value)
      : __x((__nv_fp8_storage_t)commrig_narrow(value, 4, 3, 0x7Eu, 0x7Eu, 0x7Fu)) {}
  explicit __nv_fp8_e4m3(double value) : __x(0) { *this = __nv_fp8_e4m3((float)value); }
  explicit __nv_fp8_e4m3(int value) : __x(0) { *this = __nv_fp8_e4m3((float)value); }
  operator float() const { return commrig_widen(__x, 4, 3, 0); }
};

struct __nv_fp8_e5m2 {
  __nv_fp8_storage_t __x;

  __nv_fp8_e5m2() = default;
  explicit __nv_fp8_e5m2(float value)
      : __x((__nv_fp8_storage_t)commrig_narrow(value, 5, 2, 0x7Bu, 0x7Bu, 0x7Fu)) {}
  explicit __nv_fp8_e5m2(double value) : __x(0) { *this = __nv_fp8_e5m2((float)value); }
  explicit __nv_fp8_e5m2(int value) : __x(0) { *this = __nv_fp8_e5m2((float)value); }
  operator float() const { return commrig_widen(__x, 5, 2, 1); }
};

#endif

#endif /* COMMRIG_CUDA_FP8_H */
