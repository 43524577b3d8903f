// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "bootstrap/hash.h"

namespace commrig::bootstrap {
namespace {

Error refused(std::string_view call) {
  const std::string text = std::error_code(errno, std::generic_category()).message();
  return Error::make(Code::kSystemCall, fmt::format("{}: {}", call, text));
}

// Where a link of /proc points to, as "pid:[4026531836]".
Result<std::string> link_target(const char* path) {
  std::array<char, 256> text{};
  const ssize_t size = ::readlink(path, text.data(), text.size());
  if (size < 0) return refused(path);
  return std::string(text.data(), static_cast<std::size_t>(size));
}

// Containers may have the same /dev/shm or each their own; the device's number tells. Where there
// is none, files are shared by those who see the same mounts.
Result<std::string> shared_memory_domain() {
  struct stat about{};
  if (::stat("/dev/shm", &about) == 0) return fmt::format("/dev/shm on device {}", about.st_dev);
  return link_target("/proc/self/ns/mnt");
}

}  // namespace

Result<HostFacts> gather_host_facts(Environment environment) {
  HostFacts facts;
  for (const std::string_view name : {"COMMRIG_HOSTID", "NCCL_HOSTID"}) {
    if (facts.host_id.empty()) facts.host_id = environment(name).value_or("");
  }
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return refused("gethostname");
  facts.host_name = name.data();
  std::ifstream boot_id("/proc/sys/kernel/random/boot_id");
  std::getline(boot_id, facts.boot_id);  // Empty where it can't be read: then the name decides.
  facts.process = static_cast<std::uint64_t>(::getpid());
  COMMRIG_ASSIGN(facts.process_space, link_target("/proc/self/ns/pid"));
  COMMRIG_ASSIGN(facts.shared_memory, shared_memory_domain());
  return facts;
}

Identity identify(const HostFacts& facts) {
  Identity identity;
  identity.host =
      facts.host_id.empty() ? djb2(facts.host_name + facts.boot_id) : djb2(facts.host_id);
  identity.process = djb2(fmt::to_string(facts.process) + facts.process_space);
  identity.shared_memory = djb2(facts.shared_memory);
  return identity;
}

std::string describe(const HostFacts& facts) {
  const std::string host =
      facts.host_id.empty()
          ? fmt::format("{} (boot {})", facts.host_name, facts.boot_id)
          : fmt::format("{}, called {} by the environment", facts.host_name, facts.host_id);
  return fmt::format("host {}, process {} in {}, shared memory: {}", host, facts.process,
                     facts.process_space, facts.shared_memory);
}

}  // namespace commrig::bootstrap
