// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/run_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "bootstrap/launch.h"
#include "faces/cli/options.h"

namespace commrig::cli::run {
namespace {

constexpr std::uint64_t kRanksMax = 1024;
constexpr std::uint64_t kDevicesMax = 1024;
// Of the options that add_run_command() knows, those with a value.
constexpr std::array<std::string_view, 4> kWithValue{"-n", "--ranks", "--devices", "--timeout"};

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array kUnits{Unit{"", 1e9}, Unit{"ms", 1e6}, Unit{"s", 1e9}, Unit{"m", 60e9},
                            Unit{"h", 3600e9}};

}  // namespace

Split split_command(const std::vector<std::string>& words) {
  Split split;
  auto word = words.begin();
  while (word != words.end() && word->starts_with('-') && *word != "--") {
    const bool has_value = std::ranges::find(kWithValue, *word) != kWithValue.end();
    split.options.push_back(*word++);
    if (has_value && word != words.end()) split.options.push_back(*word++);
  }
  if (word != words.end() && *word == "--") ++word;
  split.program.assign(word, words.end());
  return split;
}

Result<Nanos> parse_duration(std::string_view option, std::string_view text) {
  constexpr double kMost = 1e18;  // 30 years, in ns
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& each : kUnits) {
    const double nanoseconds = number * each.nanoseconds;
    if (error == std::errc() && unit == each.name && nanoseconds >= 1 && nanoseconds <= kMost) {
      return Nanos(static_cast<Nanos::rep>(nanoseconds));
    }
  }
  return bad_option(option, text, "a time above 0 such as 30s, 5m, 1.5h or 500ms");
}

Result<RunOptions> understand(const RunArguments& arguments, bootstrap::Environment environment) {
  RunOptions options;
  options.program = arguments.program;
  options.quiet = arguments.quiet;
  if (options.program.empty() || options.program.front().empty()) {
    return Error::make(
        Code::kBadArgument,
        "no program to run; expected as in: commrig run -n 4 -- ./program arguments");
  }
  COMMRIG_ASSIGN(const auto launch, bootstrap::read_launch(environment));
  if (!arguments.ranks.empty()) {
    COMMRIG_ASSIGN(const auto ranks, parse_number("--ranks", arguments.ranks, 1, kRanksMax));
    options.ranks = static_cast<int>(ranks);
    // Slurm's variables also stand around what is no rank: a batch script.
    if (launch && launch->launcher != "Slurm") {
      return bad_option("--ranks", arguments.ranks,
                        fmt::format("none, since {} has started this as rank {} of {}; without it, "
                                    "the program becomes this rank",
                                    launch->launcher, launch->rank, launch->ranks));
    }
  } else {
    options.inside = launch.has_value();
  }
  if (!arguments.devices.empty()) {
    COMMRIG_ASSIGN(const auto devices,
                   parse_number("--devices", arguments.devices, 1, kDevicesMax));
    options.devices = static_cast<int>(devices);
  }
  if (!arguments.timeout.empty()) {
    COMMRIG_ASSIGN(options.timeout, parse_duration("--timeout", arguments.timeout));
    if (options.inside) {
      return bad_option("--timeout", arguments.timeout,
                        fmt::format("none, since {} has started this rank", launch->launcher));
    }
  }
  if (const auto seed = environment("COMMRIG_SEED")) {
    COMMRIG_TRY(parse_number("COMMRIG_SEED", *seed, 0, std::numeric_limits<std::uint64_t>::max()));
  }
  if (arguments.tag && arguments.no_tag) return bad_option("--tag", "set", "no --no-tag with it");
  options.tags = arguments.tag || (options.ranks > 1 && !arguments.no_tag);
  return options;
}

}  // namespace commrig::cli::run
