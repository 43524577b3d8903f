/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_VECTOR_TYPES_H
#define COMMRIG_VECTOR_TYPES_H

/* Sizes and positions of blocks and threads, and small vectors. */
#include "host_defines.h"

typedef struct uint3 {
  unsigned int x, y, z;
} uint3;

typedef struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;

#define COMMRIG_VECTORS(type, name, align2, align4)         \
  typedef struct name##1 {                                  \
    type x;                                                 \
  }                                                         \
  name##1;                                                  \
  typedef struct __attribute__((aligned(align2))) name##2 { \
    type x, y;                                              \
  }                                                         \
  name##2;                                                  \
  typedef struct name##3 {                                  \
    type x, y, z;                                           \
  }                                                         \
  name##3;                                                  \
  typedef struct __attribute__((aligned(align4))) name##4 { \
    type x, y, z, w;                                        \
  }                                                         \
  name##4

COMMRIG_VECTORS(signed char, char, 2, 4);
COMMRIG_VECTORS(unsigned char, uchar, 2, 4);
COMMRIG_VECTORS(short, short, 4, 8);
COMMRIG_VECTORS(unsigned short, ushort, 4, 8);
COMMRIG_VECTORS(int, int, 8, 16);
COMMRIG_VECTORS(float, float, 8, 16);
COMMRIG_VECTORS(double, double, 16, 16);
#undef COMMRIG_VECTORS
typedef struct uint1 {
  unsigned int x;
} uint1;
typedef struct __attribute__((aligned(8))) uint2 {
  unsigned int x, y;
} uint2;
typedef struct __attribute__((aligned(16))) uint4 {
  unsigned int x, y, z, w;
} uint4;

#endif /* COMMRIG_VECTOR_TYPES_H */
