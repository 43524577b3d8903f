// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "dtype/dtype.h"
#include "examples/mc2/mistake.h"
#include "examples/mc2/operators.h"
#include "examples/mc2/run.h"
#include "faces/cli/commands.h"
#include "faces/cli/options.h"
#include "faces/cli/report.h"
#include "mc2/context.h"
#include "mc2/layout.h"

namespace commrig::cli {
namespace {

using operators::RunOptions;
using operators::RunReport;

constexpr auto kTypes = {dtype::Dtype::kFp16, dtype::Dtype::kBf16, dtype::Dtype::kFp32};

// What stands on the command line, before it is understood. Numbers too, because the parser would
// wrap a negative one around.
struct RunArguments {
  std::string op = "all-gather-matmul";
  std::string ranks = "4";
  std::string devices = "0";
  std::string shape = "256x512x256";
  std::string dtype = "fp16";
  std::string layout = "upstream-64";
  std::string tile_rows = "0";
  std::string seed = "1";
  bool json = false;
};

std::string type_names() {
  std::vector<std::string_view> names;
  for (const dtype::Dtype type : kTypes) names.push_back(dtype::info(type).name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string operator_names() {
  std::vector<std::string_view> names;
  for (const operators::OperatorInfo& op : operators::all_operators()) names.emplace_back(op.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string layout_names() {
  std::vector<std::string_view> names;
  for (const mc2::Layout& layout : mc2::all_layouts()) names.push_back(layout.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<dtype::Dtype> parse_type(const std::string& text) {
  const Result<dtype::Dtype> type = dtype::parse(text);
  if (type && std::ranges::count(kTypes, *type) != 0) return *type;
  return bad_option("--dtype", text, "one of " + type_names());
}

Result<RunOptions> understand(const RunArguments& arguments) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  RunOptions options;
  if (operators::find_operator(arguments.op) == nullptr) {
    return bad_option("--op", arguments.op, "one of " + operator_names());
  }
  options.op = arguments.op;
  COMMRIG_ASSIGN(const std::uint64_t ranks,
                 parse_number("--ranks", arguments.ranks, 1, mc2::kRanksMax));
  options.ranks = static_cast<int>(ranks);
  COMMRIG_ASSIGN(const std::uint64_t devices,
                 parse_number("--devices", arguments.devices, 0, ranks));
  options.devices = static_cast<int>(devices);
  COMMRIG_ASSIGN(options.shape, parse_shape(arguments.shape));
  COMMRIG_ASSIGN(options.dtype, parse_type(arguments.dtype));
  if (!mc2::find_layout(arguments.layout)) {
    return bad_option("--layout", arguments.layout, "one of " + layout_names());
  }
  options.layout = arguments.layout;
  COMMRIG_ASSIGN(options.tile_rows, parse_number("--tile-rows", arguments.tile_rows, 0, kMost));
  COMMRIG_ASSIGN(options.seed, parse_number("--seed", arguments.seed, 0, kMost));
  return options;
}

std::string shape_text(const operators::MatmulShape& shape) {
  return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
}

nlohmann::json to_json(const RunOptions& options, const RunReport& report) {
  const operators::MatmulShape& shape = options.shape;
  return {
      {"op", options.op},
      {"ranks", options.ranks},
      {"devices", options.devices != 0 ? options.devices : options.ranks},
      {"shape", {shape.m, shape.k, shape.n}},
      {"dtype", dtype::info(options.dtype).name},
      {"layout", options.layout},
      {"tile_rows", report.tile_rows},
      {"tiles", report.tiles},
      {"seed", options.seed},
      {"worst_error", report.worst.error},
      {"worst_bound", report.worst.bound},
      {"worst_at",
       {{"rank", report.worst.rank}, {"row", report.worst.row}, {"column", report.worst.column}}},
      {"messages", report.messages},
      {"turns", report.turns},
      {"overlap", report.tiles > 1 ? nlohmann::json(report.overlap) : nlohmann::json()},
      {"seconds", report.seconds},
      {"ok", report.worst.inside()}};
}

void print_report(const RunOptions& options, const RunReport& report) {
  const operators::MatmulShape& shape = options.shape;
  const operators::WorstElement& worst = report.worst;
  const std::string text = fmt::format(
      "{} on {} ranks, x1 {}x{} a rank, x2 {}x{}, {}, layout {}, seed {}\n"
      "  tiles        {} of {} rows a rank\n"
      "  messages     {}\n"
      "  turns        {}\n"
      "  worst error  {:.3e}, bound {:.3e} (rank {}, row {}, column {}: expected {:.9g}, found "
      "{:.9g})\n"
      "  overlap      {}\n"
      "  time         {:.3f} ms\n",
      options.op, options.ranks, shape.m, shape.k, shape.k, shape.n,
      dtype::info(options.dtype).name, options.layout, options.seed, report.tiles, report.tile_rows,
      report.messages, report.turns, worst.error, worst.bound, worst.rank, worst.row, worst.column,
      worst.expected, worst.found, 100 * report.overlap, 1e3 * report.seconds);
  std::fputs(text.c_str(), stdout);
}

int run_once(const RunArguments& arguments) {
  const Result<RunOptions> options = understand(arguments);
  if (!options) return report_error(options.error());
  const Result<RunReport> report = operators::run_operator(*options);
  if (!report) return report_error(report.error());
  if (arguments.json) {
    std::printf("%s\n", to_json(*options, *report).dump().c_str());
  } else {
    print_report(*options, *report);
  }
  return kExitOk;
}

// One line of the demo's table; whether the result is right.
bool print_row(const RunOptions& options) {
  const std::string start = fmt::format("{:<12} {:<5} {:<12}", options.layout,
                                        dtype::info(options.dtype).name, shape_text(options.shape));
  const Result<RunReport> report = operators::run_operator(options);
  if (!report) {
    const std::string_view id = code_info(report.error().code).id;
    std::printf("%s\n", fmt::format("{}  failed: {}", start, id).c_str());
    std::fflush(stdout);
    (void)report_error(report.error());
    return false;
  }
  const std::string rest =
      fmt::format(" {:>5} {:>8} {:>5} {:>11.3e} {:>11.3e} {:>6.0f}% {:>6.2f} ms  ok", report->tiles,
                  report->messages, report->turns, report->worst.error, report->worst.bound,
                  100 * report->overlap, 1e3 * report->seconds);
  std::printf("%s%s\n", start.c_str(), rest.c_str());
  return true;
}

bool print_mistake() {
  std::printf(
      "\nAnd this is how a mistake ends: four ranks sum a vector, rank 2 gives an element "
      "less.\n\n");
  const LogSink shown = set_log_sink(nullptr);  // It comes with the return value.
  const Result<Finding> finding = operators::run_with_mistake();
  set_log_sink(shown);
  if (!finding) {
    (void)report_error(finding.error());
    return false;
  }
  std::printf("%s\n", to_string(to_error(*finding)).c_str());
  return true;
}

int run_demo() {
  std::printf(
      "Four ranks run fused operators: what a tile's product gives is moved by a server while the\n"
      "next tile is computed. Every element of every rank's output is compared with a product in\n"
      "fp64.\n");
  bool right = true;
  for (const operators::OperatorInfo& op : operators::all_operators()) {
    std::printf("\n%s: %s\n", op.name, op.summary);
    std::printf("%-12s %-5s %-12s %5s %8s %5s %11s %11s %7s %9s\n", "layout", "dtype", "shape",
                "tiles", "messages", "turns", "worst error", "bound", "overlap", "time");
    for (const mc2::Layout& layout : mc2::all_layouts()) {
      for (const dtype::Dtype type : kTypes) {
        right =
            print_row({.op = op.name, .dtype = type, .layout = std::string(layout.name)}) && right;
      }
    }
  }
  std::printf("\n%s\n", right ? "All results are inside their bounds, with the same bits wherever "
                                "ranks hold the same."
                              : "Something is wrong, see above.");
  right = print_mistake() && right;
  return right ? kExitOk : kExitFinding;
}

}  // namespace

void add_mc2_command(CLI::App& app, int& exit_code) {
  CLI::App* const mc2 =
      app.add_subcommand("mc2", "Fused operators that talk to a server through a workspace");
  mc2->require_subcommand(1);
  const auto arguments = std::make_shared<RunArguments>();  // shared with the callback below
  CLI::App* const run = mc2->add_subcommand("run", "Run an operator and check every element");
  run->add_option("--op", arguments->op, "One of " + operator_names())->capture_default_str();
  run->add_option("-n,--ranks", arguments->ranks, "Number of ranks, 1 to 256")
      ->capture_default_str();
  run->add_option("--devices", arguments->devices,
                  "Rank r runs on device r modulo these; 0: one device a rank")
      ->capture_default_str();
  run->add_option("--shape", arguments->shape, "MxKxN: x1 is MxK on each rank, x2 is KxN")
      ->capture_default_str();
  run->add_option("--dtype", arguments->dtype, "One of " + type_names())->capture_default_str();
  run->add_option("--layout", arguments->layout, "One of " + layout_names())->capture_default_str();
  run->add_option("--tile-rows", arguments->tile_rows,
                  "Rows of a tile, of those that each rank sends in turns; 0: an eighth of them")
      ->capture_default_str();
  run->add_option("--seed", arguments->seed, "Seed of the inputs")->capture_default_str();
  run->add_flag("--json", arguments->json, "Print one JSON object");
  run->callback([arguments, &exit_code] { exit_code = run_once(*arguments); });
  CLI::App* const demo =
      mc2->add_subcommand("demo", "Run the operators in three types and both layouts");
  demo->callback([&exit_code] { exit_code = run_demo(); });
}

}  // namespace commrig::cli
