// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "faces/cli/options.h"
#include "faces/cli/ranktable/check_report.h"
#include "faces/cli/ranktable/commands.h"
#include "faces/cli/ranktable/table_file.h"
#include "faces/cli/report.h"
#include "topo/check.h"
#include "topo/fix.h"
#include "topo/topology.h"

namespace commrig::cli {
namespace {

// What stands on the command line, before it is understood.
struct CheckArguments {
  std::vector<std::string> files;
  std::string chip;
  std::string rank;
  std::string device;
  std::string topology;
  std::string fix;
  bool json = false;
  bool sarif = false;
  bool strict = false;
  bool brief = false;
  bool all = false;
  bool allow_initializing = false;
  bool no_retry = false;
  bool intra_roce = false;
  bool no_inter_hccs = false;
};

Result<std::optional<int>> parse_optional(std::string_view option, const std::string& text) {
  if (text.empty()) return std::optional<int>();
  COMMRIG_ASSIGN(const std::uint64_t number,
                 parse_number(option, text, 0, std::numeric_limits<int>::max()));
  return std::optional(static_cast<int>(number));
}

Result<topo::CheckOptions> understand(const CheckArguments& arguments) {
  topo::CheckOptions options;
  if (!arguments.chip.empty()) {
    const auto chip = topo::parse_chip(arguments.chip);
    if (!chip) return bad_option("--chip", arguments.chip, "910, 310p, a2, a3 or 950");
    options.chip = *chip;
  }
  COMMRIG_ASSIGN(options.rank, parse_optional("--rank", arguments.rank));
  COMMRIG_ASSIGN(options.device, parse_optional("--device", arguments.device));
  if (options.device && !options.rank) {
    return bad_option("--device", arguments.device, "--rank with it, whose device it is");
  }
  options.allow_initializing = arguments.allow_initializing;
  options.retry = !arguments.no_retry;
  options.intra_roce = arguments.intra_roce;
  options.inter_hccs = !arguments.no_inter_hccs;
  if (!arguments.fix.empty() && arguments.files.size() != 1) {
    return bad_option("--fix", arguments.fix, "one table to mend");
  }
  if (arguments.json && arguments.sarif) return bad_option("--sarif", "--json", "one of the two");
  return options;
}

int exit_code_of(const topo::CheckedTable& table, bool strict) {
  const bool foreign = std::ranges::any_of(table.findings, [](const topo::TableFinding& finding) {
    return finding.rule == topo::Rule::kForeignFile || finding.rule == topo::Rule::kNoTable;
  });
  if (foreign) return kExitUsage;
  const bool warned = strict && table.count(topo::Severity::kWarning) != 0;
  return table.count(topo::Severity::kError) != 0 || warned ? kExitFinding : kExitOk;
}

Result<CheckedFile> check_one(const std::string& name, const topo::CheckOptions& options) {
  COMMRIG_ASSIGN(std::string text, read_table_file(name));
  CheckedFile file{name, topo::check_table(std::move(text), options)};
  if (!file.table.is_table()) return file;
  std::vector<topo::TableFinding> findings = check_file(name);
  std::ranges::move(file.table.findings, std::back_inserter(findings));
  file.table.findings = std::move(findings);
  return file;
}

Status write_fixed(const CheckArguments& arguments, const topo::CheckedTable& table) {
  const topo::FixedTable fixed = topo::fix_table(table);
  COMMRIG_TRY(write_table_file(arguments.fix, fixed.text));
  for (const std::string& change : fixed.changes) {
    std::fprintf(stderr, "commrig: %s:%s\n", arguments.files.front().c_str(), change.c_str());
  }
  std::fprintf(stderr, "commrig: %zu changes, written to %s; what is listed without one is yours\n",
               fixed.changes.size(), arguments.fix.c_str());
  return ok();
}

Status check_with_topology(const std::string& name, std::vector<CheckedFile>& files) {
  COMMRIG_ASSIGN(std::string text, read_table_file(name));
  topo::CheckedTopology checked = topo::check_topology(std::move(text));
  for (CheckedFile& file : files) topo::check_against(checked.topology, file.table);
  files.push_back({name, std::move(checked.table)});
  return ok();
}

void print(const CheckArguments& arguments, const std::vector<CheckedFile>& files) {
  std::string text;
  if (arguments.json) {
    text = report_json(files);
  } else if (arguments.sarif) {
    text = report_sarif(files, COMMRIG_VERSION);
  } else {
    for (const CheckedFile& file : files) {
      text += report_text(file, {.brief = arguments.brief, .all = arguments.all});
    }
  }
  std::fputs(text.c_str(), stdout);
}

int check(const CheckArguments& arguments) {
  const Result<topo::CheckOptions> options = understand(arguments);
  if (!options) return report_error(options.error());
  int exit_code = kExitOk;
  std::vector<CheckedFile> files;
  for (const std::string& name : arguments.files) {
    Result<CheckedFile> file = check_one(name, *options);
    if (!file) {
      exit_code = std::max(exit_code, report_error(file.error()));
      continue;
    }
    files.push_back(std::move(*file));
  }
  if (!arguments.topology.empty()) {
    const Status read = check_with_topology(arguments.topology, files);
    if (!read) exit_code = std::max(exit_code, report_error(read.error()));
  }
  print(arguments, files);
  for (const CheckedFile& file : files) {
    exit_code = std::max(exit_code, exit_code_of(file.table, arguments.strict));
  }
  if (arguments.fix.empty() || files.empty() || !files.front().table.is_table()) return exit_code;
  const Status written = write_fixed(arguments, files.front().table);
  return written ? exit_code : std::max(exit_code, report_error(written.error()));
}

void add_surroundings(CLI::App& command, CheckArguments& arguments) {
  command.add_option("--chip", arguments.chip, "For which the table is: 910, 310p, a2, a3 or 950");
  command.add_option("--rank", arguments.rank, "RANK_ID of the process that will read it");
  command.add_option("--device", arguments.device, "Physical device of that process");
  command.add_option("--topology", arguments.topology, "Topology file that goes with a 2.0 table");
  command.add_flag("--allow-initializing", arguments.allow_initializing,
                   "A table that is not completed is no error");
  command.add_flag("--no-retry", arguments.no_retry,
                   "Backup addresses are not used (HCCL_OP_RETRY_ENABLE is off)");
  command.add_flag("--intra-roce", arguments.intra_roce, "HCCL_INTRA_ROCE_ENABLE is set");
  command.add_flag("--no-inter-hccs", arguments.no_inter_hccs, "HCCL_INTER_HCCS_DISABLE is set");
}

}  // namespace

void add_check_command(CLI::App& ranktable, int& exit_code) {
  CLI::App* const command =
      ranktable.add_subcommand("check", "Say everything that is wrong with rank tables");
  command->footer(
      "Ends with 0 without errors, 1 with errors, 2 for what cannot be read or is no rank table.");
  const auto arguments = std::make_shared<CheckArguments>();  // shared with the callback
  command->add_option("file", arguments->files, "Rank tables; - is standard input")->required();
  add_surroundings(*command, *arguments);
  command->add_flag("--strict", arguments->strict, "Warnings count as errors");
  command->add_flag("--brief", arguments->brief, "One line a finding");
  command->add_flag("--all", arguments->all, "Every finding, however often the same");
  command->add_flag("--json", arguments->json, "Print a JSON object");
  command->add_flag("--sarif", arguments->sarif, "Print SARIF 2.1.0");
  command->add_option("--fix", arguments->fix,
                      "Write the table, mended where nothing is guessed, to this file");
  command->callback([arguments, &exit_code] { exit_code = check(*arguments); });
}

}  // namespace commrig::cli
