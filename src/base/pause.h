// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

namespace commrig {

// Tells the core that this is a loop that looks for something.
inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");  // NOLINT(hicpp-no-assembler): no builtin exists
#endif
}

}  // namespace commrig
