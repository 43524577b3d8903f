// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace commrig::cli {

struct WaitOptions {
  Nanos deadline = kForever;  // from now
  // How often the file is read whether or not the system tells of a change: a network file system
  // does not tell what other hosts do.
  Nanos recheck = std::chrono::seconds(1);
  bool notify = true;  // false: as on a file system that tells nothing
  // Called before each sleep, when everything is being watched; for tests.
  std::function<void()> before_sleep{};
};

// Blocks until the file is a rank table with status completed. Every folder on the way through
// symbolic links is watched, so that a file that is replaced, renamed, or swapped by a link above
// it, as a mounted ConfigMap is, is noticed at once. kDeadline names the path and why it is not
// ready.
Status wait_completed(const std::string& path, const Clock& clock, const WaitOptions& options);

// Why the file is no completed table; empty where it is one.
std::string why_not_completed(const std::string& path);

}  // namespace commrig::cli
