// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "base/address.h"
#include "base/result.h"

namespace commrig {

// One address of one network interface of this machine.
struct Interface {
  std::string name;
  Address address;       // without a port
  bool running = false;  // up, and with a carrier
};

// All addresses of all interfaces, in the system's order. An interface without an IP address has
// one entry with no address.
Result<std::vector<Interface>> list_interfaces();

}  // namespace commrig
