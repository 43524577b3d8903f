// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "faces/cli/options.h"
#include "faces/cli/ranktable/check_report.h"
#include "faces/cli/ranktable/commands.h"
#include "faces/cli/ranktable/table_file.h"
#include "faces/cli/ranktable/wait_file.h"
#include "faces/cli/report.h"
#include "topo/check.h"
#include "topo/draw.h"
#include "topo/view.h"

namespace commrig::cli {
namespace {

// What stands on the command line, before it is understood.
struct ViewArguments {
  std::string file;
  std::string other;
  std::string output;
  std::string deadline_s;
  std::string recheck_ms = "1000";
};

Result<topo::CheckedTable> read(const std::string& name) {
  COMMRIG_ASSIGN(std::string text, read_table_file(name));
  return topo::require_table({name, std::move(text)});
}

Status show(const ViewArguments& arguments) {
  COMMRIG_ASSIGN(const topo::CheckedTable table, read(arguments.file));
  std::printf("%s, %s\n", std::string(topo::describe(table.cluster.form)).c_str(),
              size_text(table.cluster).c_str());
  std::fputs(topo::rank_table_text(table.cluster).c_str(), stdout);
  return ok();
}

// Whether the two say the same.
Result<bool> diff(const ViewArguments& arguments) {
  COMMRIG_ASSIGN(const topo::CheckedTable before, read(arguments.file));
  COMMRIG_ASSIGN(const topo::CheckedTable after, read(arguments.other));
  const std::vector<std::string> lines = topo::differences(before.cluster, after.cluster);
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  return lines.empty();
}

Status draw(const ViewArguments& arguments) {
  const std::string kind = std::filesystem::path(arguments.output).extension().string();
  if (kind != ".svg" && kind != ".html") {
    return bad_option("--output", arguments.output, "a file that ends in .svg or .html");
  }
  COMMRIG_ASSIGN(const topo::CheckedTable table, read(arguments.file));
  const std::string title = std::filesystem::path(arguments.file).filename().string();
  return write_table_file(arguments.output, kind == ".svg" ? topo::draw_svg(table.cluster, title)
                                                           : topo::draw_html(table.cluster, title));
}

Status wait(const ViewArguments& arguments) {
  WaitOptions options;
  if (!arguments.deadline_s.empty()) {
    COMMRIG_ASSIGN(const std::uint64_t seconds,
                   parse_number("--deadline", arguments.deadline_s, 0, 1'000'000'000));
    options.deadline = std::chrono::seconds(seconds);
  }
  COMMRIG_ASSIGN(const std::uint64_t millis,
                 parse_number("--recheck-ms", arguments.recheck_ms, 1, 1'000'000'000));
  options.recheck = std::chrono::milliseconds(millis);
  if (arguments.file == "-") return bad_option("file", "-", "the name of a file");
  const RealClock clock;
  return wait_completed(arguments.file, clock, options);
}

int finish(const Status& status) {
  return status ? kExitOk : report_error(status.error());
}

}  // namespace

void add_view_commands(CLI::App& ranktable, int& exit_code) {
  const auto arguments = std::make_shared<ViewArguments>();  // shared with the callbacks
  CLI::App* const show_command =
      ranktable.add_subcommand("show", "Print a line a rank, by server and super pod");
  show_command->add_option("file", arguments->file, "Rank table; - is standard input")->required();
  show_command->callback([arguments, &exit_code] { exit_code = finish(show(*arguments)); });

  CLI::App* const diff_command = ranktable.add_subcommand(
      "diff", "Print in what two rank tables differ; ends with 1 if they do");
  diff_command->add_option("first", arguments->file, "Rank table")->required();
  diff_command->add_option("second", arguments->other, "Another one")->required();
  diff_command->callback([arguments, &exit_code] {
    const Result<bool> same = diff(*arguments);
    exit_code = !same ? report_error(same.error()) : *same ? kExitOk : kExitFinding;
  });

  CLI::App* const draw_command =
      ranktable.add_subcommand("draw", "Draw super pods, servers, devices and ranks");
  draw_command->add_option("file", arguments->file, "Rank table; - is standard input")->required();
  draw_command->add_option("-o,--output", arguments->output, "topo.svg or topo.html")->required();
  draw_command->callback([arguments, &exit_code] { exit_code = finish(draw(*arguments)); });

  CLI::App* const wait_command = ranktable.add_subcommand(
      "wait", "Block until a rank table is completed, whoever replaces it and however");
  wait_command->add_option("file", arguments->file, "Rank table, or where it will be")->required();
  wait_command->add_option("--deadline", arguments->deadline_s,
                           "Seconds, after which it ends with 1 and says why");
  wait_command
      ->add_option("--recheck-ms", arguments->recheck_ms,
                   "How often to look where the system does not tell of changes")
      ->capture_default_str();
  wait_command->callback([arguments, &exit_code] { exit_code = finish(wait(*arguments)); });
}

}  // namespace commrig::cli
