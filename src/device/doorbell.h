// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <functional>

#include "device/accessor.h"
#include "device/memory.h"

namespace commrig::device {

class Machine;

// A word of device memory that calls an engine beside the ranks: what the engine has to do is done
// on the ringing thread, so that it costs no hand-over. Whoever knows the word's address only may
// add to the word instead, which wakes those who sleep on it.
//
// Kernels find the doorbell by the address of its word; it must outlive them. Thread-safe.
class Doorbell {
 public:
  enum class Caller : std::uint8_t {
    kComputes,  // has more to do than to wait for the engine
    kWaits,     // is about to wait: does itself what else would be handed to another thread
  };
  // Called on the thread that rings, with the rank of the accessor that it rings with; must not
  // wait.
  using Engine = std::function<void(int rank, Caller caller)>;

  // The window holds the word alone. Machine and engine must outlive the doorbell.
  Doorbell(Machine& machine, Window word, Engine engine);
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // On a thread of user code.
  void ring(const Accessor& accessor, Caller caller) const;
  const Window& word() const { return word_; }

 private:
  Machine& machine_;
  Window word_;
  Engine engine_;
};

}  // namespace commrig::device
