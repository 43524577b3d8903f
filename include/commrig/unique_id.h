// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "commrig/runtime.h"

namespace commrig::v0 {

// By which the ranks of one communicator find each other. One of them makes it, and hands it to the
// others by whatever the program has for that: as these bytes, or as a text. A plain value; all
// zeros is no id.
struct UniqueId {
  std::array<unsigned char, 128> bytes{};

  bool operator==(const UniqueId& other) const { return bytes == other.bytes; }
  bool operator!=(const UniqueId& other) const { return !(*this == other); }
};

struct UniqueIdOptions {
  // From the first rank that has come to the last; all that wait then fail with CR-BOOT07, which
  // names the missing ones. 0 is no limit.
  std::chrono::milliseconds ranks_within{0};
};

// An id for one new communicator. Its ranks meet in this process, which must keep the runtime until
// all have joined. Thread-safe. CR-BOOT03 if NCCL_SOCKET_IFNAME names no interface of this host,
// CR-RUN04 for a negative limit or a variable that makes no sense, CR-RUN05 if the system refuses.
COMMRIG_API Result<UniqueId> make_unique_id(Runtime& runtime,
                                            const UniqueIdOptions& options = UniqueIdOptions());

// For environments and command lines: "0123456789abcdef@192.0.2.1:4711". CR-BOOT01 for bytes or a
// text that are no id.
COMMRIG_API Result<std::string> to_string(const UniqueId& id);
COMMRIG_API Result<UniqueId> parse_unique_id(std::string_view text);

}  // namespace commrig::v0
