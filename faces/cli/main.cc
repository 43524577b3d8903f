// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <string>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/result.h"
#include "faces/cli/commands.h"

namespace {

// CLI11's own words, in the form of every other error.
int usage_error(const CLI::ParseError& error) {
  using commrig::Code;
  commrig::log(commrig::LogLevel::kError,
               to_string(commrig::Error::make(Code::kBadArgument, error.what())));
  return commrig::cli::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  commrig::set_log_sink(commrig::stderr_sink);
  CLI::App app("Runs, tests and debugs communication code for accelerators, without an accelerator",
               "commrig");
  app.set_version_flag("--version", "commrig " COMMRIG_VERSION);
  app.require_subcommand(1);
  int exit_code = commrig::cli::kExitOk;
  commrig::cli::add_mc2_command(app, exit_code);
  commrig::cli::add_explain_command(app, exit_code);
  commrig::cli::add_env_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return usage_error(error);
  }
  return exit_code;
}
