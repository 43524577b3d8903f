// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The lines that NCCL_DEBUG asks for, in the shape in which people and tools read them. Lines go to
// standard output or NCCL_DEBUG_FILE. Thread-safe.
namespace commrig::nccl {

enum class Level : std::uint8_t { kNone, kVersion, kWarn, kInfo, kAbort, kTrace };

// Parts of the library, as bits, by which NCCL_DEBUG_SUBSYS chooses INFO lines.
enum Subsystem : std::uint64_t {
  kInit = 0x1,
  kColl = 0x2,
  kP2p = 0x4,
  kEnv = 0x80,
  kAlloc = 0x100,
  kCall = 0x200,
  kBootstrap = 0x1000,
  kReg = 0x2000,
  kAllSubsystems = ~std::uint64_t{0},
};

// "INFO" in any case; kNone for a text that is no level.
Level parse_level(std::string_view text);

// "COLL,P2P" or "^INIT"; unknown names count for nothing.
std::uint64_t parse_subsystems(std::string_view text);

// %h, %p and %% replaced by the host, the process and a percent sign.
std::string expand_file_name(std::string_view pattern, std::string_view host, int process);

// Prints the version once, if the level asks for it.
void log_version();

bool wants_info(Subsystem subsystem);
void info(Subsystem subsystem, std::string_view text);

// Keeps the text for last_error(), and prints it from kWarn on.
void warn(std::string_view text);

// The text of the latest warn(); "" before. The storage lives for ever and changes with the next.
const char* last_error();

// The variables are read anew by the next line.
void reset_log();

}  // namespace commrig::nccl
