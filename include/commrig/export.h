// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

// Marks what the shared library offers; everything else in it is hidden.
#define COMMRIG_API __attribute__((visibility("default")))

// Everything of this interface is in commrig::v0, which users name as commrig. The library's own
// sources, which have names of their own in commrig, must not see the two as one.
#if defined(COMMRIG_BUILDING_API)
#define COMMRIG_API_INLINE
#else
#define COMMRIG_API_INLINE inline
#endif

namespace commrig {
COMMRIG_API_INLINE namespace v0 {}
}  // namespace commrig
