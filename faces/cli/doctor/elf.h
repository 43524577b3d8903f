// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace commrig::cli::doctor {

// What an ELF file says about itself, as far as it matters for what it is loaded with.
struct ElfFile {
  bool native = false;  // of the kind of machine that commrig was built for; else nothing follows
  std::uint16_t machine = 0;
  bool executable = false;    // a program, also a position-independent one
  bool dynamic = false;       // brought to run by a loader
  std::string interpreter{};  // that loader, for programs
  std::string soname{};
  std::string rpath{};    // folders, with ':' between them
  std::string runpath{};  // the same, and they are looked at later
  std::vector<std::string> needed{};
  std::vector<std::string> defined{};    // names of functions and data it has, as asked for
  std::vector<std::string> undefined{};  // those that others must have; weak ones left out
  std::vector<std::string> sections{};
};

// Reads the bytes of a whole file, of which names are kept that begin with one of the prefixes.
// kBadArgument for what is no ELF file, or points outside of itself. Thread-safe.
Result<ElfFile> read_elf(std::span<const std::byte> file,
                         std::span<const std::string_view> prefixes);

// "x86-64", "aarch64", or "machine 8".
std::string name_of_machine(std::uint16_t machine);

}  // namespace commrig::cli::doctor
