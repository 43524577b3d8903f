// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/operation.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "faces/cli/options.h"

namespace commrig::cli::bench {
namespace {

using coll::Collective;

double whole(double) {
  return 1;
}
// All but a rank's own part goes over its link.
double others(double ranks) {
  return (ranks - 1) / ranks;
}
// Once to be combined, once to be handed out.
double twice_others(double ranks) {
  return 2 * (ranks - 1) / ranks;
}

constexpr std::array kOperations{
    Operation{"all-reduce", Collective::kAllReduce, false, twice_others},
    Operation{"reduce", Collective::kReduce, false, whole},
    Operation{"broadcast", Collective::kBroadcast, false, whole},
    Operation{"all-gather", Collective::kAllGather, true, others},
    Operation{"reduce-scatter", Collective::kReduceScatter, true, others},
    Operation{"all-to-all", Collective::kAllToAll, true, others},
    Operation{"gather", Collective::kGather, true, others},
    Operation{"scatter", Collective::kScatter, true, others},
    Operation{"sendrecv", std::nullopt, false, whole},
};

}  // namespace

std::span<const Operation> all_operations() {
  return kOperations;
}

Result<const Operation*> find_operation(std::string_view option, std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '_', '-');
  const auto found = std::ranges::find(kOperations, name, &Operation::name);
  if (found != kOperations.end()) return &*found;
  std::vector<std::string_view> names;
  for (const Operation& operation : kOperations) names.push_back(operation.name);
  return bad_option(option, text, fmt::format("one of {}", fmt::join(names, ", ")));
}

std::size_t Load::size() const {
  return count * element_bytes() * (operation->blocks ? static_cast<std::size_t>(ranks) : 1);
}

coll::Request Load::request() const {
  COMMRIG_CHECK(operation->collective.has_value(), "messages have no request");
  return {.collective = *operation->collective,
          .ranks = ranks,
          .root = rooted() ? root : 0,
          .count = count,
          .element_bytes = element_bytes(),
          .in_place = in_place};
}

std::size_t Load::input_bytes(int rank) const {
  if (!operation->collective) return count * element_bytes();
  return coll::input_count(request(), rank) * element_bytes();
}

std::size_t Load::output_bytes(int rank) const {
  if (!operation->collective) return count * element_bytes();
  return coll::output_count(request(), rank) * element_bytes();
}

Load with_size(Load load, std::size_t bytes) {
  load.count = bytes / load.element_bytes();
  if (load.operation->blocks) load.count /= static_cast<std::size_t>(load.ranks);
  return load;
}

}  // namespace commrig::cli::bench
