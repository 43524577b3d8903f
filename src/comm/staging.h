// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "comm/call.h"
#include "device/machine.h"

namespace commrig::comm {

// Device memory in the place of host buffers, for ranks of other processes, which can't reach
// those.
class Staging {
 public:
  // Fails as Memory::allocate. The machine must outlive it.
  static Result<Staging> create(device::Machine& machine, int device, const Call& call,
                                std::size_t input_bytes, std::size_t output_bytes);
  ~Staging();
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&& other) = delete;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Copies the input in, and lets the call use the staged buffers.
  void begin(Call& call) const;
  // Copies the output back.
  void end() const;

 private:
  explicit Staging(device::Machine& machine) : machine_(&machine) {}

  device::Machine* machine_;
  void* memory_ = nullptr;
  std::size_t input_at_ = 0;
  std::size_t output_at_ = 0;
  const void* input_ = nullptr;
  void* output_ = nullptr;
  std::size_t input_bytes_ = 0;
  std::size_t output_bytes_ = 0;
};

}  // namespace commrig::comm
