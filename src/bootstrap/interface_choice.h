// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/socket.h>

#include <span>
#include <string>
#include <vector>

#include "base/interfaces.h"
#include "base/result.h"
#include "bootstrap/environment.h"

namespace commrig::bootstrap {

// What a user asks for. The pattern is that of NCCL_SOCKET_IFNAME: a list of prefixes with commas
// between them; in front of the list ^ for "all but these", then = for whole names. A pattern of
// fewer than two characters is none; a list without a name lets everything through.
struct InterfaceRule {
  std::string pattern;
  int family = AF_UNSPEC;
};

// From NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY (AF_INET or AF_INET6).
Result<InterfaceRule> read_interface_rule(Environment environment);

struct InterfaceChoice {
  struct Rejected {
    std::string name;
    std::string reason;
  };
  Interface chosen;
  std::vector<Rejected> rejected;  // every other one, once
};

// The first interface that fits: in the system's order where a pattern is given; else those named
// ib first, then all others, docker, loopback, virbr. Of its addresses the first one of the family,
// link-local ones last. Fails with kNoInterface, which lists what is present and why it doesn't
// fit.
Result<InterfaceChoice> choose_interface(std::span<const Interface> present,
                                         const InterfaceRule& rule);

}  // namespace commrig::bootstrap
