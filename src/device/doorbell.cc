// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/doorbell.h"

#include <utility>

#include "device/machine.h"

namespace commrig::device {

Doorbell::Doorbell(Machine& machine, Window word, Engine engine)
    : machine_(machine), word_(std::move(word)), engine_(std::move(engine)) {
  machine_.add_doorbell(*this);
}

Doorbell::~Doorbell() {
  machine_.remove_doorbell(*this);
}

}  // namespace commrig::device
