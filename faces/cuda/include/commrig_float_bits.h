/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_FLOAT_BITS_H
#define COMMRIG_FLOAT_BITS_H

/* Conversions of small floats on the host, for the headers beside this one: to nearest, ties to
 * even. */
#include <stdint.h>
#include <string.h>

static inline uint32_t commrig_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float commrig_bits_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The bits of a float with `exponent_bits` and `mantissa_bits`, whose largest finite value has the
 * bits `max_finite`. What is larger after rounding becomes `overflow`; a NaN becomes `nan`. */
static inline uint32_t commrig_narrow(float value, int exponent_bits, int mantissa_bits,
                                      uint32_t max_finite, uint32_t overflow, uint32_t nan) {
  const uint32_t bits = commrig_float_bits(value);
  const uint32_t sign = bits >> 31 << (exponent_bits + mantissa_bits);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int)(magnitude >> 23) - 127 + bias;
  int shift = 23 - mantissa_bits;
  uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
  uint32_t kept;
  uint32_t rest;
  uint32_t half;
  if (magnitude > 0x7F800000u) return nan;
  if (magnitude == 0x7F800000u) return sign | overflow;
  if (magnitude < 0x800000u) return sign; /* far below every smallest value of ours */
  if (exponent < 1) {
    shift += 1 - exponent;
    exponent = 1;
  }
  if (shift > 25) return sign;
  kept = mantissa >> shift;
  rest = mantissa & ((1u << shift) - 1u);
  half = 1u << (shift - 1);
  if (rest > half || (rest == half && (kept & 1u) != 0)) ++kept;
  /* The leading one of a normal number adds 1 to the exponent field. */
  kept += (uint32_t)(exponent - 1) << mantissa_bits;
  return sign | (kept > max_finite ? overflow : kept);
}

/* The value of a float with so many bits; `has_infinity` as IEEE 754 has it, else only the largest
 * pattern is a NaN. */
static inline float commrig_widen(uint32_t bits, int exponent_bits, int mantissa_bits,
                                  int has_infinity) {
  const uint32_t sign = bits >> (exponent_bits + mantissa_bits) << 31;
  const uint32_t all = (1u << (exponent_bits + mantissa_bits)) - 1u;
  const uint32_t magnitude = bits & all;
  const uint32_t top = (1u << exponent_bits) - 1u;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  uint32_t exponent = magnitude >> mantissa_bits;
  uint32_t mantissa = magnitude & ((1u << mantissa_bits) - 1u);
  if (has_infinity && exponent == top) {
    return commrig_bits_float(mantissa != 0 ? 0x7FC00000u : sign | 0x7F800000u);
  }
  if (!has_infinity && magnitude == all) return commrig_bits_float(0x7FC00000u);
  if (exponent == 0) {
    /* mantissa * 2^(1 - bias - mantissa_bits), which a float holds exactly */
    const float unit = commrig_bits_float((uint32_t)(1 - bias - mantissa_bits + 127) << 23);
    const float value = (float)mantissa * unit;
    return sign != 0 ? -value : value;
  }
  exponent = exponent + 127u - (uint32_t)bias;
  return commrig_bits_float(sign | exponent << 23 | mantissa << (23 - mantissa_bits));
}

#endif /* COMMRIG_FLOAT_BITS_H */
