// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "coll/plan_svg.h"
#include "coll/selection.h"
#include "coll/verifier.h"
#include "dtype/dtype.h"
#include "faces/cli/commands.h"
#include "faces/cli/options.h"
#include "faces/cli/plan_report.h"
#include "faces/cli/report.h"

namespace commrig::cli {
namespace {

using coll::Collective;
using coll::PlanSet;
using coll::Request;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
// Beyond these a table or a proof of all ranks takes too long to be of use.
constexpr int kShownRanksMax = 1024;
constexpr int kProvedRanksMax = 256;

// What stands on the command line, before it is understood.
struct PlanArguments {
  std::string op = "all-reduce";
  std::string ranks = "4";
  std::string algorithm = "ring";
  std::string count = "12";
  std::string counts;
  std::string dtype = "fp32";
  std::string root = "0";
  std::string chunk_bytes = "131072";
  std::string rank;
  std::string output;
  bool in_place = false;
  bool all = false;
  // choose
  std::string bytes = "1024";
  std::string rules;
  std::string slot_bytes = "16384";
  bool no_shared_memory = false;
  bool strict = false;
  bool share_cores = false;
};

Result<std::vector<std::size_t>> parse_counts(std::string_view text) {
  std::vector<std::size_t> counts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    COMMRIG_ASSIGN(const std::uint64_t count,
                   parse_number("--counts", text.substr(begin, end - begin), 0, kMost));
    counts.push_back(count);
    begin = end + 1;
  }
  return counts;
}

Result<int> parse_ranks(const PlanArguments& arguments, int most) {
  COMMRIG_ASSIGN(const std::uint64_t ranks,
                 parse_number("--ranks", arguments.ranks, 1, static_cast<std::uint64_t>(most)));
  return static_cast<int>(ranks);
}

// In the V forms `count` is that of each block, unless --counts says otherwise.
Status set_counts(Request& request, const std::string& counts) {
  if (!counts.empty()) {
    COMMRIG_ASSIGN(request.counts, parse_counts(counts));
    request.count = 0;
  } else if (coll::has_counts(request.collective)) {
    const auto n = static_cast<std::size_t>(request.ranks);
    request.counts.assign(request.collective == Collective::kAllToAllV ? n * n : n, request.count);
    request.count = 0;
  }
  return ok();
}

Result<PlanSet> understand(const PlanArguments& arguments, int ranks_most) {
  Request request;
  COMMRIG_ASSIGN(request.collective, coll::parse_collective(arguments.op));
  COMMRIG_ASSIGN(request.ranks, parse_ranks(arguments, ranks_most));
  COMMRIG_ASSIGN(const std::uint64_t root,
                 parse_number("--root", arguments.root, 0, std::numeric_limits<int>::max()));
  request.root = static_cast<int>(root);
  COMMRIG_ASSIGN(request.count, parse_number("--count", arguments.count, 0, kMost));
  COMMRIG_ASSIGN(const dtype::Dtype type, dtype::parse(arguments.dtype));
  request.element_bytes = dtype::size_of(type);
  request.in_place = arguments.in_place;
  COMMRIG_TRY(set_counts(request, arguments.counts));
  COMMRIG_TRY(coll::check(request));
  coll::Tuning tuning;
  COMMRIG_ASSIGN(tuning.chunk_bytes,
                 parse_number("--chunk-bytes", arguments.chunk_bytes, 1, kMost));
  // So many chunks that the plans would not fit into memory are a mistake.
  const std::size_t chunks = coll::size_in_bytes(request) / tuning.chunk_bytes;
  if (chunks > 100'000) {
    return bad_option("--chunk-bytes", arguments.chunk_bytes,
                      fmt::format("at most 100000 chunks, these are {}", chunks));
  }
  COMMRIG_ASSIGN(const coll::Algorithm* const algorithm, coll::find_algorithm(arguments.algorithm));
  return coll::make_plan_set(*algorithm, request, tuning);
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (file) return ok();
  return Error::make(Code::kSystemCall, fmt::format("cannot write {}", path));
}

Result<std::string> show(const PlanArguments& arguments) {
  COMMRIG_ASSIGN(const PlanSet set, understand(arguments, kShownRanksMax));
  int rank = -1;
  if (!arguments.rank.empty()) {
    const auto last = static_cast<std::uint64_t>(set.request.ranks - 1);
    COMMRIG_ASSIGN(const std::uint64_t number, parse_number("--rank", arguments.rank, 0, last));
    rank = static_cast<int>(number);
  }
  if (!arguments.output.empty()) {
    COMMRIG_TRY(write_file(arguments.output, coll::draw_svg(set, plan_title(set))));
  }
  return step_table(set, rank);
}

Result<std::string> verify(const PlanArguments& arguments) {
  if (arguments.all) {
    COMMRIG_ASSIGN(const int ranks, parse_ranks(arguments, kProvedRanksMax));
    return prove_all(ranks);
  }
  COMMRIG_ASSIGN(const PlanSet set, understand(arguments, kProvedRanksMax));
  return prove(set);
}

Result<std::string> choose(const PlanArguments& arguments) {
  Request request;
  COMMRIG_ASSIGN(request.collective, coll::parse_collective(arguments.op));
  COMMRIG_ASSIGN(request.ranks, parse_ranks(arguments, coll::kRanksMax));
  COMMRIG_ASSIGN(std::uint64_t bytes, parse_number("--bytes", arguments.bytes, 0, kMost));
  const Collective base = coll::base_form(request.collective);
  const bool whole = base == Collective::kAllReduce || base == Collective::kReduce ||
                     base == Collective::kBroadcast;
  // Of the largest buffer, which holds a block for each rank.
  const auto n = static_cast<std::uint64_t>(request.ranks);
  if (!whole) bytes = bytes / n + (bytes % n != 0 ? 1 : 0);
  request.count = bytes;
  COMMRIG_TRY(set_counts(request, ""));
  coll::Capabilities capabilities;
  capabilities.shared_memory = !arguments.no_shared_memory;
  capabilities.strict = arguments.strict;
  COMMRIG_ASSIGN(capabilities.slot_bytes,
                 parse_number("--slot-bytes", arguments.slot_bytes, 0, kMost));
  coll::CostModel model;
  model.ranks_share_cores = arguments.share_cores;
  COMMRIG_ASSIGN(const coll::Rules rules, coll::Rules::parse(arguments.rules));
  COMMRIG_ASSIGN(const coll::Choice choice, coll::choose(request, capabilities, model, rules));
  return fmt::format("{} of {} bytes on {} ranks\n{}", coll::name(request.collective),
                     coll::size_in_bytes(request), request.ranks, coll::to_string(choice));
}

int print(const Result<std::string>& text) {
  if (!text) {
    const int exit_code = report_error(text.error());
    // Of what is asked for here, only a rejected plan is not a mistake on the command line.
    const bool finding = code_info(text.error().code).kind == Kind::kProtocol ||
                         text.error().code == Code::kSystemCall;
    return finding ? exit_code : kExitUsage;
  }
  std::fputs(text->c_str(), stdout);
  return kExitOk;
}

void add_request_options(CLI::App& command, PlanArguments& arguments) {
  command.add_option("--op", arguments.op, "Collective, such as all-reduce or gather-v")
      ->capture_default_str();
  command.add_option("-n,--ranks", arguments.ranks, "Number of ranks")->capture_default_str();
  command.add_option("--algo", arguments.algorithm, "A name of `commrig plan list`")
      ->capture_default_str();
  command.add_option("--count", arguments.count, "Elements, of a block where there are several")
      ->capture_default_str();
  command.add_option("--counts", arguments.counts, "Of each block of a -v collective: 3,0,2");
  command.add_option("--dtype", arguments.dtype, "Element type")->capture_default_str();
  command.add_option("--root", arguments.root, "Root")->capture_default_str();
  command
      .add_option("--chunk-bytes", arguments.chunk_bytes,
                  "Most bytes of a message in a ring, "
                  "tree or chain")
      ->capture_default_str();
  command.add_flag("--in-place", arguments.in_place, "Input and output are one buffer");
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  CLI::App* const plan = app.add_subcommand("plan", "Algorithms of collectives as lists of steps");
  plan->require_subcommand(1);
  const auto arguments = std::make_shared<PlanArguments>();  // shared with the callbacks below
  CLI::App* const show_command = plan->add_subcommand("show", "Print the steps, or draw them");
  add_request_options(*show_command, *arguments);
  show_command->add_option("--rank", arguments->rank, "Print this rank only");
  show_command->add_option("-o,--output", arguments->output, "Draw all ranks into this SVG file");
  show_command->callback([arguments, &exit_code] { exit_code = print(show(*arguments)); });

  CLI::App* const verify_command =
      plan->add_subcommand("verify", "Prove that the plans of all ranks are right");
  add_request_options(*verify_command, *arguments);
  verify_command->add_flag("--all", arguments->all,
                           "All algorithms, collectives and roots on -n ranks");
  verify_command->callback([arguments, &exit_code] { exit_code = print(verify(*arguments)); });

  CLI::App* const list_command = plan->add_subcommand("list", "Print the table of algorithms");
  list_command->callback([&exit_code] { exit_code = print(algorithm_table()); });

  CLI::App* const choose_command =
      plan->add_subcommand("choose", "Print which algorithm is taken, and what each would cost");
  choose_command->add_option("--op", arguments->op, "Collective")->capture_default_str();
  choose_command->add_option("-n,--ranks", arguments->ranks, "Number of ranks")
      ->capture_default_str();
  choose_command->add_option("--bytes", arguments->bytes, "Bytes of a rank's largest buffer")
      ->capture_default_str();
  choose_command->add_option("--rules", arguments->rules,
                             "Such as \"all-reduce=ring@>1MiB;broadcast=chain\"");
  choose_command->add_option("--slot-bytes", arguments->slot_bytes, "Scratch of a rank")
      ->capture_default_str();
  choose_command->add_flag("--no-shared-memory", arguments->no_shared_memory, "Messages only");
  choose_command->add_flag("--strict", arguments->strict,
                           "Only what rounds once, in the order of ranks");
  choose_command->add_flag("--share-cores", arguments->share_cores, "Ranks share cores");
  choose_command->callback([arguments, &exit_code] { exit_code = print(choose(*arguments)); });
}

}  // namespace commrig::cli
