// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/plan_text.h"

#include <span>

#include <fmt/format.h>

namespace commrig::coll {
namespace {

// Lists of many ranks' places are cut in the middle.
constexpr std::size_t kPlacesMax = 8;

std::string list(std::span<const Place> places) {
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0) text += ", ";
    if (places.size() > kPlacesMax && i == kPlacesMax / 2) {
      text += "..., ";
      i = places.size() - kPlacesMax / 2;
    }
    text += to_string(places[i]);
  }
  return text;
}

std::string peer_name(int peer) {
  return peer == kEveryone ? "all others" : fmt::format("rank {}", peer);
}

}  // namespace

std::string to_string(const Place& place) {
  return fmt::format("rank {} {}[{}]", place.rank, name(place.buffer), place.offset);
}

std::string to_string(const RankPlan& plan, const Step& step) {
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kReduce:
      return fmt::format("{} {}: {} -> {}", name(step.kind), step.count, list(plan.sources(step)),
                         list(plan.targets(step)));
    case StepKind::kSignal:
      return fmt::format("signal phase {}", step.phase);
    case StepKind::kWait:
      return fmt::format("wait for phase {} of {}", step.phase, peer_name(step.peer));
    case StepKind::kReclaim:
      return fmt::format("reclaim scratch from {}", peer_name(step.peer));
    case StepKind::kSend:
      return fmt::format("send {} to {}: {}", step.count, peer_name(step.peer),
                         list(plan.sources(step)));
    case StepKind::kRecv:
      return fmt::format("recv {} from {}: {}", step.count, peer_name(step.peer),
                         list(plan.targets(step)));
    case StepKind::kDrain:
      return "drain";
  }
  return {};
}

std::string to_string(const RankPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    text += fmt::format("{:>4}  {}\n", i, to_string(plan, plan.steps[i]));
  }
  return text;
}

}  // namespace commrig::coll
