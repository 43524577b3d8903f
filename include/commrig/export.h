// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

// What the shared library offers, and what of that only itself uses. All else in it is hidden.
#define COMMRIG_API __attribute__((visibility("default")))
#define COMMRIG_LOCAL __attribute__((visibility("hidden")))

// Everything of this interface is in commrig::v0, which users name as commrig. The library's own
// sources, which have an Error and a Result of their own in commrig, must not see the two as one.
namespace commrig {
namespace v0 {}
#if !defined(COMMRIG_BUILDING_API)
using namespace v0;  // NOLINT(google-build-using-namespace)
#endif
}  // namespace commrig
