// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/rng.h"
#include "faces/cli/commands.h"
#include "faces/cli/installed.h"
#include "faces/cli/report.h"
#include "faces/cli/run/local_job.h"
#include "faces/cli/run/rank_environment.h"
#include "faces/cli/run/rank_process.h"
#include "faces/cli/run/run_options.h"

namespace commrig::cli {
namespace {

using run::RunArguments;
using run::RunOptions;
using run::Variables;

constexpr int kExitNotStarted = 127;  // as shells have it

void say(const RunOptions& options, const std::string& line) {
  if (!options.quiet) std::fprintf(stderr, "commrig: %s\n", line.c_str());
}

std::string count(std::uint64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// A rank that fails is a finding, unless it only follows from what ranks have found themselves.
std::string last_line(const std::string& ranks, const run::JobEnd& end) {
  const double seconds = std::chrono::duration<double>(end.took).count();
  const std::string how =
      end.exit_code == 0 ? std::string("well") : fmt::format("with exit code {}", end.exit_code);
  const std::uint64_t findings =
      std::max<std::uint64_t>(end.done.findings, end.exit_code == 0 ? 0 : 1);
  return fmt::format("{} ended {} after {:.2f} s: {}, {}, {}, {}", ranks, how, seconds,
                     count(end.done.collectives, "collective"), count(end.done.messages, "message"),
                     count(end.done.bytes, "byte"), count(findings, "finding"));
}

Result<int> run_ranks(const RunOptions& options) {
  Variables variables = run::own_variables();
  run::add_library_folders(variables, library_folders());
  if (options.inside) {
    if (options.devices) run::set(variables, "COMMRIG_DEVICES", std::to_string(*options.devices));
    return run::become(options.program, variables);
  }
  run::LocalJob job{.program = options.program,
                    .variables = std::move(variables),
                    .ranks = {},
                    .seed = seed_from_environment(unforeseeable()),
                    .devices = options.devices,
                    .tags = options.tags,
                    .timeout = options.timeout};
  for (int rank = 0; rank < options.ranks; ++rank) job.ranks.push_back({rank});
  const std::string ranks = options.ranks == 1 ? "1 rank" : fmt::format("{} ranks", options.ranks);
  say(options, fmt::format("{}, engine threads, seed {}, no GPU used", ranks, job.seed));
  COMMRIG_ASSIGN(const run::JobEnd end, run::run_local_job(job, RealClock()));
  say(options, last_line(ranks, end));
  if (!end.lost_output) return end.exit_code;
  const int failed = report_error(*end.lost_output);
  return end.exit_code != 0 ? end.exit_code : failed;
}

int run_program(const RunArguments& arguments) {
  const Result<RunOptions> options = run::understand(
      arguments, [](std::string_view name) { return bootstrap::process_environment(name); });
  if (!options) {
    (void)report_error(options.error());
    return kExitUsage;
  }
  const Result<int> ended = run_ranks(*options);
  if (ended) return *ended;
  (void)report_error(ended.error());
  return kExitNotStarted;
}

constexpr const char* kExamples =
    "Rank and number of ranks stand in RANK and WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, in\n"
    "Open MPI's OMPI_COMM_WORLD_RANK and so on, and in COMMRIG_RANK and COMMRIG_RANKS. With "
    "several\n"
    "ranks each line of output begins with its rank. The exit code is that of the first rank that\n"
    "fails (128 and the signal that killed it), 124 after --timeout, 127 if nothing was started.\n"
    "Inside another launcher leave -n away: mpirun -n 4 commrig run ./prog starts nothing twice.\n"
    "Examples:\n"
    "  commrig run -n 4 ./prog -x 3\n"
    "  commrig run -n 8 --timeout 5m -- python3 train.py";

}  // namespace

std::vector<std::string> split_run_command(std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "run") return {};
  run::Split split = run::split_command({words.begin() + 2, words.end()});
  words.resize(2);
  words.insert(words.end(), split.options.begin(), split.options.end());
  return split.program;
}

void add_run_command(CLI::App& app, int& exit_code, std::vector<std::string> program) {
  CLI::App* const command =
      app.add_subcommand("run", "Start a program as several ranks: commrig run -n 4 -- ./prog");
  const auto arguments = std::make_shared<RunArguments>();  // shared with the callback
  arguments->program = std::move(program);
  command->footer(kExamples);
  command->add_option("-n,--ranks", arguments->ranks,
                      "Number of ranks, each a process of this host; 1 by default");
  command->add_option("--devices", arguments->devices, "Simulated devices that each rank sees");
  command->add_option("--timeout", arguments->timeout, "End the job after that time, such as 30s");
  command->add_flag("--tag", arguments->tag, "The rank in front of lines even if there is one");
  command->add_flag("--no-tag", arguments->no_tag,
                    "Lines as they are; those of several ranks may mix");
  command->add_flag("-q,--quiet", arguments->quiet, "No lines of commrig's own but errors");
  command->callback([arguments, &exit_code] { exit_code = run_program(*arguments); });
}

}  // namespace commrig::cli
