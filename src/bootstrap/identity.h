// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bootstrap/environment.h"

namespace commrig::bootstrap {

// By which ranks find out who shares what with them. Equal numbers mean the same host, process
// (of one host), or file system of shared memory.
struct Identity {
  std::uint64_t host = 0;
  std::uint64_t process = 0;
  std::uint64_t shared_memory = 0;

  bool operator==(const Identity&) const = default;
};

// What an identity is made from.
struct HostFacts {
  std::string host_name{};      // whole, with the domain
  std::string boot_id{};        // differs for each boot of each machine
  std::string host_id{};        // replaces both where it is set
  std::string process_space{};  // the namespace that process ids belong to
  std::uint64_t process = 0;
  std::string shared_memory{};  // which file system /dev/shm is
};

// Reads them from the system; the host's id from COMMRIG_HOSTID or NCCL_HOSTID.
Result<HostFacts> gather_host_facts(Environment environment);
Identity identify(const HostFacts& facts);
// For people: what each number was made from.
std::string describe(const HostFacts& facts);

}  // namespace commrig::bootstrap
