// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/rng.h"
#include "bootstrap/launch.h"
#include "faces/cli/bench/limit.h"
#include "faces/cli/bench/local_ranks.h"
#include "faces/cli/bench/table.h"
#include "faces/cli/commands.h"
#include "faces/cli/options.h"
#include "faces/cli/report.h"
#include "faces/cli/run/local_job.h"

namespace commrig::cli {
namespace {

using bench::BenchArguments;
using bench::BenchOptions;
using bench::Cell;
using bench::Load;
using bench::Row;

// The largest load has the largest buffers, in each form.
using RankBenches = std::vector<std::unique_ptr<bench::RankBench>>;

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
}

Result<Cell> measure(const BenchOptions& options, const Load& load, bench::LocalRanks& ranks,
                     RankBenches& benches) {
  Cell cell;
  COMMRIG_TRY(ranks.run([&](int rank) -> Status {
    COMMRIG_ASSIGN(const bench::Figure figure,
                   benches[static_cast<std::size_t>(rank - ranks.share().first)]->measure(
                       load, options.effort));
    if (rank == ranks.share().first) cell.figure = figure;  // the same on all ranks
    return ok();
  }));
  return cell;
}

Result<Row> measure_row(const BenchOptions& options, const Load& load, bench::LocalRanks& ranks,
                        RankBenches& benches, bench::MachineLimit& limit) {
  Row row{.load = load, .out_of_place = {}, .in_place = {}};
  for (const bool in_place : {false, true}) {
    if (in_place ? !options.in_place : !options.out_of_place) continue;
    Load form = load;
    form.in_place = in_place;
    COMMRIG_ASSIGN(Cell cell, measure(options, form, ranks, benches));
    if (options.limit) cell.limit_seconds = limit.seconds(form);
    (in_place ? row.in_place : row.out_of_place) = cell;
  }
  return row;
}

Status write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return ok();
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (file) return ok();
  return Error::make(Code::kSystemCall, fmt::format("cannot write {}", path));
}

void show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // a large size takes its time
}

// `launch`: this process in a job of several; nothing where all ranks are here.
Result<std::vector<Row>> run(const BenchOptions& options,
                             const std::optional<bootstrap::Launch>& launch) {
  const int count = options.loads.front().ranks;
  COMMRIG_ASSIGN(const std::unique_ptr<bench::LocalRanks> ranks,
                 launch ? bench::LocalRanks::join(*launch, count, options.communicator)
                        : bench::LocalRanks::create(count, options.communicator));
  const bench::Share share = ranks->share();
  RankBenches benches(static_cast<std::size_t>(share.count));
  for (int i = 0; i < share.count; ++i) {
    COMMRIG_ASSIGN(benches[static_cast<std::size_t>(i)],
                   bench::RankBench::create(ranks->communicator(share.first + i), ranks->machine(),
                                            options.loads.back()));
  }
  bench::MachineLimit limit;
  std::vector<Row> rows;
  const bool speaks = share.first == 0;
  if (speaks) show(table_head(options));
  for (const Load& load : options.loads) {
    COMMRIG_ASSIGN(const Row row, measure_row(options, load, *ranks, benches, limit));
    if (speaks) show(table_row(options, row));
    rows.push_back(row);
  }
  if (speaks) show(table_foot(rows));
  return rows;
}

// Opens files before minutes are spent on what could not be written then.
Status check_writable(const BenchOptions& options) {
  for (const std::string& path : {options.json, options.plot}) {
    if (path.empty()) continue;
    const std::ofstream file(path, std::ios::binary | std::ios::app);
    if (!file) return Error::make(Code::kSystemCall, fmt::format("cannot write {}", path));
  }
  return ok();
}

Status run_and_write(const BenchOptions& options, const std::optional<bootstrap::Launch>& launch) {
  if (launch && launch->rank != 0) {
    COMMRIG_TRY(run(options, launch));
    return ok();
  }
  COMMRIG_TRY(check_writable(options));
  COMMRIG_ASSIGN(const std::vector<Row> rows, run(options, launch));
  COMMRIG_TRY(write_file(options.json, to_json(options, rows)));
  COMMRIG_TRY(write_file(options.plot, to_svg(options, rows)));
  const std::uint64_t wrong = wrong_elements(rows);
  if (wrong == 0) return ok();
  return Error::make(Code::kWrongResult,
                     fmt::format("{} elements differ from the reference", wrong));
}

// This program once more for each process, with the same command line.
Result<int> run_processes(const BenchOptions& options, const std::vector<std::string>& words) {
  run::LocalJob job{.program = words,
                    .variables = run::own_variables(),
                    .ranks = {},
                    .seed = seed_from_environment(unforeseeable())};
  std::error_code failed;
  job.program.front() = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  for (int process = 0; process < options.processes; ++process) {
    const bench::Share share =
        bench::share_of(options.loads.front().ranks, process, options.processes);
    std::vector<int> ranks(static_cast<std::size_t>(share.count));
    std::iota(ranks.begin(), ranks.end(), share.first);
    job.ranks.push_back(std::move(ranks));
  }
  COMMRIG_ASSIGN(const run::JobEnd end, run::run_local_job(job, RealClock()));
  return end.exit_code;
}

// In a job of several processes each of them is here, and has its share of the ranks.
Result<std::optional<bootstrap::Launch>> find_job(const BenchArguments& arguments,
                                                  BenchOptions& options) {
  COMMRIG_ASSIGN(auto launch, bootstrap::read_launch([](std::string_view name) {
                   return bootstrap::process_environment(name);
                 }));
  if (!launch || launch->ranks == 1) return std::optional<bootstrap::Launch>();
  const int ranks = options.loads.front().ranks;
  if (options.processes != 1 && options.processes != launch->ranks) {
    return bad_option(
        "--processes", arguments.processes,
        fmt::format("none, since {} has started {} processes", launch->launcher, launch->ranks));
  }
  if (ranks < launch->ranks) {
    return bad_option("--ranks", arguments.ranks,
                      fmt::format("at least {}, since {} has started as many processes",
                                  launch->ranks, launch->launcher));
  }
  options.processes = launch->ranks;
  return launch;
}

int run_bench(const BenchArguments& arguments, const std::vector<std::string>& words) {
  Result<BenchOptions> options = understand(arguments, machine_memory());
  if (!options) {
    (void)report_error(options.error());
    return kExitUsage;
  }
  const auto launch = find_job(arguments, *options);
  if (!launch) {
    (void)report_error(launch.error());
    return kExitUsage;
  }
  if (!launch->has_value() && options->processes > 1) {
    const Result<int> exit_code = run_processes(*options, words);
    return exit_code ? *exit_code : report_error(exit_code.error());
  }
  const Status finished = run_and_write(*options, *launch);
  if (finished) return kExitOk;
  const int exit_code = report_error(finished.error());
  // An algorithm that can't do the operation is a mistake on the command line.
  return finished.error().code == Code::kNoAlgorithm ? kExitUsage : exit_code;
}

constexpr const char* kExamples =
    "Columns are those of nccl-tests. Examples:\n"
    "  commrig bench all-reduce -n 4 -b 8 -e 16M\n"
    "  commrig bench all-gather -n 8 --dtype bf16 --out-of-place --limit\n"
    "  commrig bench all-reduce -n 4 --algo \"all-reduce=ring@>1MiB\" -o ring.svg\n"
    "  commrig bench all-reduce -n 6 --processes 2 --link tcp\n"
    "  commrig bench reduce -n 3 --root 2 --op max --json reduce.json\n"
    "Times are those of this machine, not of an accelerator.";

void add_options(CLI::App& command, BenchArguments& arguments) {
  const auto option = [&](const char* name, std::string& text, const char* words) {
    command.add_option(name, text, words)->capture_default_str();
  };
  option("operation", arguments.operation,
         "all-reduce, reduce, broadcast, all-gather, reduce-scatter, all-to-all, gather, scatter "
         "or sendrecv (each rank to the next)");
  option("-n,--ranks", arguments.ranks, "Number of ranks");
  option("--processes", arguments.processes,
         "Processes in which they are, as threads; as evenly as it goes");
  option("--link", arguments.link, "How ranks of different processes reach each other: shm or tcp");
  option("-b,--min-bytes", arguments.least, "Smallest size: bytes, or with K, M, G");
  option("-e,--max-bytes", arguments.most, "Largest size");
  option("-f,--factor", arguments.factor, "From one size to the next");
  option("--iterations", arguments.iterations, "Calls that are timed together");
  option("-w,--warm-up", arguments.warm_up, "Calls before, which are not timed");
  option("--repeats", arguments.repeats, "Of the timed calls; their median counts");
  option("-d,--dtype", arguments.dtype, "Element type");
  option("--op", arguments.op, "Reduction: sum, prod, max or min");
  option("--root", arguments.root, "Root of reduce, broadcast, gather and scatter");
  option("--algo", arguments.algorithms, "Such as \"all-reduce=ring@>1MiB;broadcast=chain\"");
  command.add_flag("--in-place", arguments.in_place,
                   "Only in place; both forms if neither flag is given, or both are");
  command.add_flag("--out-of-place", arguments.out_of_place, "Only out of place");
  command.add_flag("--strict", arguments.strict, "Only what rounds once, in the order of ranks");
  command.add_flag("--no-shared-memory", arguments.no_shared_memory, "Messages only");
  command.add_flag("--limit", arguments.limit,
                   "Measure what the memory allows too, and print its time as a part of ours");
  command.add_option("--json", arguments.json, "Write the figures into this file");
  command.add_option("-o,--output", arguments.plot, "Draw them into this SVG file");
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code, std::vector<std::string> words) {
  CLI::App* const command =
      app.add_subcommand("bench", "Time collectives, and check their results");
  const auto arguments = std::make_shared<BenchArguments>();  // shared with the callback
  command->footer(kExamples);
  add_options(*command, *arguments);
  command->callback([arguments, words = std::move(words), &exit_code] {
    exit_code = run_bench(*arguments, words);
  });
}

}  // namespace commrig::cli
