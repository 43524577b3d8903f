// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <functional>

#include "base/result.h"
#include "device/work.h"

namespace commrig::rig {

// A piece of work that is done in one step and never waits, such as a copy that owns its source.
class StepWork final : public device::Work {
 public:
  explicit StepWork(std::function<Status()> body) : body_(std::move(body)) {}
  Result<device::Progress> step() override {
    COMMRIG_TRY(body_());
    return device::Progress::kDone;
  }

 private:
  std::function<Status()> body_;
};

}  // namespace commrig::rig
