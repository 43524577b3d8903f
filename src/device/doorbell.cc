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

void Doorbell::ring(const Accessor& accessor, Caller caller) const {
  Executor& executor = machine_.executor();
  executor.enter_service();
  engine_(accessor.rank(), caller);
  executor.leave_service();
}

Doorbell::~Doorbell() {
  machine_.remove_doorbell(*this);
}

}  // namespace commrig::device
