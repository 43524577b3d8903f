// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "commrig/runtime.h"

#include <fmt/format.h>

#include "api/objects.h"
#include "api/translate.h"

namespace commrig::v0 {

Runtime::Runtime(std::shared_ptr<State> state) : state_(std::move(state)) {}
Runtime::Runtime(Runtime&& other) noexcept = default;
Runtime& Runtime::operator=(Runtime&& other) noexcept = default;
Runtime::~Runtime() = default;

Result<Runtime> Runtime::create(const RuntimeOptions& options) {
  if (options.devices < 1) {
    return translate(commrig::Error::make(
        Code::kBadArgument,
        fmt::format("RuntimeOptions::devices is {}; expected at least 1", options.devices)));
  }
  if (options.bytes_per_device == 0) {
    return translate(commrig::Error::make(
        Code::kBadArgument, "RuntimeOptions::bytes_per_device is 0; expected at least 1"));
  }
  return guarded([&]() -> Result<Runtime> {
    auto state = std::make_shared<State>(options);
    // The machine tells here whether it could be started.
    COMMRIG_API_TRY(state->machine.create_stream(0));
    return Runtime(std::move(state));
  });
}

int Runtime::devices() const {
  return state_ ? state_->machine.devices() : 0;
}

Status Runtime::synchronize_device(int device) {
  if (!state_) return moved_from("Runtime");
  return guarded([&]() -> Status {
    if (device < 0 || device >= devices()) {
      return translate(commrig::Error::make(
          Code::kBadDevice, fmt::format("device {} of {} devices", device, devices())));
    }
    return translate(state_->machine.synchronize_device(device));
  });
}

}  // namespace commrig::v0
