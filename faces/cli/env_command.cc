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

// Where Makefiles look for the libraries of vendors that this installation stands in for.
void print_vendor_roots(const std::filesystem::path& prefix) {
  struct Root {
    const char* variable;
    const char* folder;
    const char* libraries;
  };
  std::string path;
  for (const Root& root : {Root{"CUDA_HOME", "cuda", "lib64"}, Root{"NCCL_HOME", "nccl", "lib"}}) {
    std::error_code failed;
    const std::filesystem::path folder = prefix / root.folder;
    if (!std::filesystem::is_directory(folder, failed)) continue;
    std::printf("export %s=%s\n", root.variable, quoted(folder.string()).c_str());
    path += quoted((folder / root.libraries).string()) + ":";
  }
  if (path.empty()) return;
  path.pop_back();
  std::printf("export LD_LIBRARY_PATH=%s\"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n", path.c_str());
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
  print_vendor_roots(bin.parent_path());
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
