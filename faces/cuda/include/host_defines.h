/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_HOST_DEFINES_H
#define COMMRIG_HOST_DEFINES_H

/* Words of device code that mean nothing to a host compiler. Functions marked __global__ can be
 * declared and compiled as plain functions; cuda_runtime.h says what a launch does. */
#if !defined(__CUDACC__)
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#endif

/* In C++, enumerations are as wide as in C, so that any number may be passed and is refused. */
#if defined(__cplusplus)
#define COMMRIG_AS_INT : int
#else
#define COMMRIG_AS_INT
#endif

#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI

#endif /* COMMRIG_HOST_DEFINES_H */
