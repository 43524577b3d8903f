// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bootstrap/environment.h"
#include "faces/cli/commands.h"
#include "faces/cli/doctor/examination.h"
#include "faces/cli/installed.h"
#include "faces/cli/report.h"

namespace commrig::cli {
namespace {

int examine_program(const std::string& program) {
  const std::string given = bootstrap::process_environment("LD_LIBRARY_PATH").value_or("");
  const doctor::Surroundings surroundings{.own = library_folders(),
                                          .given = doctor::split_folders(given, program),
                                          .system = doctor::system_folders("/etc/ld.so.conf")};
  const Result<doctor::Examination> examined = doctor::examine(program, surroundings);
  if (!examined) return report_error(examined.error());
  for (const std::string& fact : examined->facts) {
    std::printf("%s: %s\n", program.c_str(), fact.c_str());
  }
  for (const doctor::Problem& problem : examined->problems) {
    (void)report_error(
        Error::make(Code::kUnfitProgram,
                    fmt::format("{}: {}. To change: {}", program, problem.what, problem.change)));
  }
  if (!examined->problems.empty()) return kExitFinding;
  std::printf("%s: nothing keeps it from running: commrig run -n 2 %s\n", program.c_str(),
              program.c_str());
  return kExitOk;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "doctor", "Say whether a program will run, and what to change: commrig doctor ./prog");
  const auto program = std::make_shared<std::string>();  // shared with the callback
  command->add_option("program", *program, "An executable file or a shared library")->required();
  command->callback([program, &exit_code] { exit_code = examine_program(*program); });
}

}  // namespace commrig::cli
