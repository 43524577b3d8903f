// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "faces/cli/commands.h"
#include "faces/cli/grammar.h"
#include "faces/cli/report.h"

namespace {

int run(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (words.empty()) words.emplace_back("commrig");
  commrig::cli::understand_help(words);
  std::vector<std::string> program = commrig::cli::split_run_command(words);
  CLI::App app("Runs, tests and debugs communication code for accelerators, without an accelerator",
               "commrig");
  app.set_version_flag("--version", "commrig " COMMRIG_VERSION);
  app.require_subcommand(1);
  int exit_code = commrig::cli::kExitOk;
  commrig::cli::add_run_command(app, exit_code, std::move(program));
  commrig::cli::add_mc2_command(app, exit_code);
  commrig::cli::add_bench_command(app, exit_code, words);
  commrig::cli::add_plan_command(app, exit_code);
  commrig::cli::add_explain_command(app, exit_code);
  commrig::cli::add_env_command(app, exit_code);
  commrig::cli::add_doctor_command(app, exit_code);
  commrig::cli::add_ranktable_command(app, exit_code);
  commrig::cli::name_values(app);
  if (const commrig::Status known = commrig::cli::check_commands(app, words); !known) {
    return commrig::cli::report_error(known.error());
  }
  try {
    // The parser takes them from the last to the first.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::Success& help) {
    exit_code = app.exit(help);
  } catch (const CLI::ParseError& error) {
    // The parser's own words, in the form of every other error.
    exit_code =
        commrig::cli::report_error(commrig::Error::make(commrig::Code::kBadArgument, error.what()));
  }
  return commrig::cli::close_output(exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  commrig::set_log_sink(commrig::stderr_sink);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, or a mistake in the options above
    std::fprintf(stderr, "commrig: %s\n", error.what());
    return commrig::cli::kExitFinding;
  }
}
