// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/bench_options.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "dtype/kernels.h"
#include "faces/cli/options.h"

namespace commrig::cli::bench {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kRanksMax = 256;
constexpr std::uint64_t kTimesMax = 1'000'000;

Result<int> parse_int(std::string_view option, std::string_view text, std::uint64_t least,
                      std::uint64_t most) {
  COMMRIG_ASSIGN(const std::uint64_t number, parse_number(option, text, least, most));
  return static_cast<int>(number);
}

// Bytes that the ranks allocate for it together; saturates.
std::size_t bytes_of_all_ranks(const Load& load) {
  std::size_t bytes = 0;
  for (int rank = 0; rank < load.ranks; ++rank) {
    const std::size_t in = load.input_bytes(rank);
    const std::size_t out = load.output_bytes(rank);
    if (__builtin_add_overflow(bytes, std::max(in, out), &bytes)) return kMost;
    if (__builtin_add_overflow(bytes, out, &bytes)) return kMost;
  }
  return bytes;
}

// The sizes from least to most, each once; those that hold no element for each rank are left out.
Status add_loads(const BenchArguments& arguments, const Load& load, BenchOptions& options) {
  COMMRIG_ASSIGN(const std::size_t least, parse_size("--min-bytes", arguments.least));
  COMMRIG_ASSIGN(const std::size_t most, parse_size("--max-bytes", arguments.most));
  COMMRIG_ASSIGN(const std::uint64_t factor, parse_number("--factor", arguments.factor, 2, kMost));
  if (least > most) {
    return bad_option("--min-bytes", arguments.least,
                      fmt::format("at most --max-bytes, which is {}", arguments.most));
  }
  Load smallest = load;
  smallest.count = 1;
  for (std::size_t bytes = least; true; bytes *= factor) {
    const Load one = with_size(load, bytes);
    if (one.count == 0) {
      options.note = fmt::format("sizes below {} bytes are left out: they hold no element {}",
                                 smallest.size(), load.operation->blocks ? "for each rank" : "");
    } else if (options.loads.empty() || options.loads.back().count != one.count) {
      options.loads.push_back(one);
    }
    if (bytes > most / factor) break;
  }
  if (!options.loads.empty()) return ok();
  return bad_option("--max-bytes", arguments.most,
                    fmt::format("at least {} bytes for {} of {} on {} ranks", smallest.size(),
                                load.operation->name, dtype::info(load.dtype).name, load.ranks));
}

}  // namespace

Result<std::size_t> parse_size(std::string_view option, std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  const Result<std::uint64_t> number = parse_number(option, text.substr(0, digits), 1, kMost);
  for (const std::string_view name : {"", "K", "M", "G"}) {
    if (unit != name && (name.empty() || unit != std::string(name) + "iB")) continue;
    const unsigned shift = name.empty() ? 0 : name == "K" ? 10 : name == "M" ? 20 : 30;
    if (number && *number <= kMost >> shift) return std::size_t{*number} << shift;
  }
  return bad_option(option, text, "a number of bytes from 1 such as 8, 64K, 128M or 2GiB");
}

Result<BenchOptions> understand(const BenchArguments& arguments, std::size_t memory_bytes) {
  BenchOptions options;
  Load load;
  COMMRIG_TRY(dtype::chosen_kernels());
  COMMRIG_ASSIGN(load.operation, find_operation("OPERATION", arguments.operation));
  COMMRIG_ASSIGN(load.ranks, parse_int("--ranks", arguments.ranks, 1, kRanksMax));
  COMMRIG_ASSIGN(options.processes, parse_int("--processes", arguments.processes, 1,
                                              static_cast<std::uint64_t>(load.ranks)));
  if (arguments.link != "shm" && arguments.link != "tcp") {
    return bad_option("--link", arguments.link, "shm or tcp");
  }
  options.communicator.team.tcp_between_processes = arguments.link == "tcp";
  COMMRIG_ASSIGN(load.dtype, dtype::parse(arguments.dtype));
  COMMRIG_ASSIGN(load.op, dtype::parse_reduce_op(arguments.op));
  if (load.combines() && !dtype::info(load.dtype).has_arithmetic) {
    return Error::make(Code::kNoArithmetic,
                       fmt::format("{} of {}", load.operation->name, arguments.dtype));
  }
  COMMRIG_ASSIGN(load.root, parse_int("--root", arguments.root, 0,
                                      static_cast<std::uint64_t>(load.ranks) - 1));
  COMMRIG_ASSIGN(options.effort.iterations,
                 parse_int("--iterations", arguments.iterations, 1, kTimesMax));
  COMMRIG_ASSIGN(options.effort.warm_up, parse_int("--warm-up", arguments.warm_up, 0, kTimesMax));
  COMMRIG_ASSIGN(options.effort.repeats, parse_int("--repeats", arguments.repeats, 1, 1000));
  COMMRIG_TRY(add_loads(arguments, load, options));
  const std::size_t needed = bytes_of_all_ranks(options.loads.back());
  if (needed > memory_bytes / 4 * 3) {
    return bad_option("--max-bytes", arguments.most,
                      fmt::format("a size whose buffers fit into three quarters of this machine's "
                                  "{} MiB; these take {} MiB",
                                  memory_bytes >> 20U, needed >> 20U));
  }
  COMMRIG_ASSIGN(options.communicator.rules, coll::Rules::parse(arguments.algorithms));
  options.algorithms = arguments.algorithms;
  options.communicator.strict = arguments.strict;
  options.communicator.messages_only = arguments.no_shared_memory;
  // Neither or both: both.
  options.in_place = arguments.in_place || !arguments.out_of_place;
  options.out_of_place = arguments.out_of_place || !arguments.in_place;
  if (!load.operation->collective) {
    if (!options.out_of_place) {
      return bad_option(
          "--in-place", "set",
          fmt::format("another operation: {} has no such form", load.operation->name));
    }
    options.in_place = false;
  }
  options.limit = arguments.limit;
  options.json = arguments.json;
  options.plot = arguments.plot;
  return options;
}

}  // namespace commrig::cli::bench
