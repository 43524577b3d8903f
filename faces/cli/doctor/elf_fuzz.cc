// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Bytes from anywhere as a program: no crash, no read out of bounds, and names that are as asked.
#include <array>

#include "base/check.h"
#include "faces/cli/doctor/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commrig;  // NOLINT(google-build-using-namespace): C linkage
  constexpr std::array<std::string_view, 2> kPrefixes{"cuda", "nccl"};
  const auto read = cli::doctor::read_elf(std::as_bytes(std::span(data, size)), kPrefixes);
  if (!read) {
    COMMRIG_CHECK(read.error().code == Code::kBadArgument, "another error");
    return 0;
  }
  for (const auto* const names : {&read->defined, &read->undefined}) {
    for (const std::string& name : *names) {
      COMMRIG_CHECK(name.starts_with("cuda") || name.starts_with("nccl"), "a name not asked for");
    }
  }
  return 0;
}
