// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

// Which of Highway's targets we compile for; included before its other headers. Not the SSE ones:
// processors with nothing better are served by the scalar loops, which compilers vectorize. What
// Highway falls back to must stay enabled, but gets no kernels.
#define COMMRIG_SIMD_TARGETS (HWY_AVX3_ZEN4 | HWY_AVX3 | HWY_AVX2 | HWY_NEON | HWY_NEON_WITHOUT_AES)
#define HWY_DISABLED_TARGETS (~(COMMRIG_SIMD_TARGETS | HWY_SCALAR | HWY_EMU128))

#include <hwy/detect_targets.h>

// Unknown to Highway 1.0.3.
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES 0
#endif
