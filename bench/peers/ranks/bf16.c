/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#include "bf16.h"

#include <stdint.h>
#include <string.h>

static float widen(uint16_t word) {
  const uint32_t bits = (uint32_t)word << 16;
  float number = 0;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

static uint16_t narrow(float number) {
  uint32_t bits = 0;
  memcpy(&bits, &number, sizeof(bits));
  return (uint16_t)((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

void add_bf16(void* target, const void* a, const void* b, size_t count) {
  uint16_t* const to = target;
  const uint16_t* const x = a;
  const uint16_t* const y = b;
  for (size_t i = 0; i < count; ++i) to[i] = narrow(widen(x[i]) + widen(y[i]));
}
