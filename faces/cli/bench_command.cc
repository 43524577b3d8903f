// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "faces/cli/bench/limit.h"
#include "faces/cli/bench/table.h"
#include "faces/cli/bench/thread_ranks.h"
#include "faces/cli/commands.h"
#include "faces/cli/report.h"

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

Result<Cell> measure(const BenchOptions& options, const Load& load, bench::ThreadRanks& ranks,
                     RankBenches& benches) {
  Cell cell;
  COMMRIG_TRY(ranks.run([&](int rank) -> Status {
    COMMRIG_ASSIGN(const bench::Figure figure,
                   benches[static_cast<std::size_t>(rank)]->measure(load, options.effort));
    if (rank == 0) cell.figure = figure;  // the same on all ranks
    return ok();
  }));
  return cell;
}

Result<Row> measure_row(const BenchOptions& options, const Load& load, bench::ThreadRanks& ranks,
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

Result<std::vector<Row>> run(const BenchOptions& options) {
  COMMRIG_ASSIGN(const std::unique_ptr<bench::ThreadRanks> ranks,
                 bench::ThreadRanks::create(options.loads.front().ranks, options.communicator));
  RankBenches benches(static_cast<std::size_t>(options.loads.front().ranks));
  for (std::size_t rank = 0; rank < benches.size(); ++rank) {
    COMMRIG_ASSIGN(benches[rank],
                   bench::RankBench::create(ranks->communicator(static_cast<int>(rank)),
                                            ranks->machine(), options.loads.back()));
  }
  bench::MachineLimit limit;
  std::vector<Row> rows;
  show(table_head(options));
  for (const Load& load : options.loads) {
    COMMRIG_ASSIGN(const Row row, measure_row(options, load, *ranks, benches, limit));
    show(table_row(options, row));
    rows.push_back(row);
  }
  show(table_foot(rows));
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

int run_bench(const BenchArguments& arguments) {
  const Result<BenchOptions> options = understand(arguments, machine_memory());
  if (!options) {
    (void)report_error(options.error());
    return kExitUsage;
  }
  const auto finished = [&]() -> Result<std::vector<Row>> {
    COMMRIG_TRY(check_writable(*options));
    COMMRIG_ASSIGN(std::vector<Row> rows, run(*options));
    COMMRIG_TRY(write_file(options->json, to_json(*options, rows)));
    COMMRIG_TRY(write_file(options->plot, to_svg(*options, rows)));
    return rows;
  }();
  if (!finished) {
    const int exit_code = report_error(finished.error());
    // An algorithm that can't do the operation is a mistake on the command line.
    return finished.error().code == Code::kNoAlgorithm ? kExitUsage : exit_code;
  }
  const std::uint64_t wrong = wrong_elements(*finished);
  if (wrong == 0) return kExitOk;
  return report_error(
      Error::make(Code::kWrongResult, fmt::format("{} elements differ from the reference", wrong)));
}

constexpr const char* kExamples =
    "Columns are those of nccl-tests. Examples:\n"
    "  commrig bench all-reduce -n 4 -b 8 -e 16M\n"
    "  commrig bench all-gather -n 8 --dtype bf16 --out-of-place --limit\n"
    "  commrig bench all-reduce -n 4 --algo \"all-reduce=ring@>1MiB\" -o ring.svg\n"
    "  commrig bench reduce -n 3 --root 2 --op max --json reduce.json\n"
    "Times are those of this machine, not of an accelerator.";

void add_options(CLI::App& command, BenchArguments& arguments) {
  const auto option = [&](const char* name, std::string& text, const char* words) {
    command.add_option(name, text, words)->capture_default_str();
  };
  option("operation", arguments.operation,
         "all-reduce, reduce, broadcast, all-gather, reduce-scatter, all-to-all, gather, scatter "
         "or sendrecv (each rank to the next)");
  option("-n,--ranks", arguments.ranks, "Number of ranks, as threads of this process");
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

void add_bench_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("bench", "Time collectives, and check their results");
  const auto arguments = std::make_shared<BenchArguments>();  // shared with the callback
  command->footer(kExamples);
  add_options(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = run_bench(*arguments); });
}

}  // namespace commrig::cli
