// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include "faces/cli/commands.h"
#include "faces/cli/report.h"

namespace commrig::cli {
namespace {

// In single quotes, so that a shell takes every character as it is.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

int print_settings() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) {
    return report_error(
        Error::make(Code::kSystemCall, "readlink of /proc/self/exe: " + failed.message()));
  }
  const std::filesystem::path bin = program.parent_path();
  std::printf("export COMMRIG_HOME=%s\n", quoted(bin.parent_path().string()).c_str());
  std::printf("export PATH=%s\"${PATH:+:$PATH}\"\n", quoted(bin.string()).c_str());
  return kExitOk;
}

}  // namespace

void add_env_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("env", "Print the settings of this installation: eval \"$(commrig env)\"");
  command->callback([&exit_code] { exit_code = print_settings(); });
}

}  // namespace commrig::cli
