// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coll/plan.h"

namespace commrig::coll {

// Writes down the steps of one rank, so that an algorithm reads as in its paper. Steps that move
// nothing are left out: copies and messages of no elements, and copies of a buffer onto itself,
// which an operation in place has.
class PlanBuilder {
 public:
  PlanBuilder(const Request& request, int rank)
      : ranks_(request.ranks), rank_(rank), overlay_(overlay(request, rank)) {}

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  // The rank that stands `distance` behind this one in the circle of ranks; may be negative.
  int neighbour(int distance) const { return ((rank_ + distance) % ranks_ + ranks_) % ranks_; }

  // Places of this rank.
  Place input(std::size_t offset = 0) const { return {Buffer::kInput, rank_, offset}; }
  Place output(std::size_t offset = 0) const { return {Buffer::kOutput, rank_, offset}; }
  Place scratch(std::size_t offset = 0) const { return {Buffer::kScratch, rank_, offset}; }
  Place hidden(std::size_t offset = 0) const { return {Buffer::kPrivate, rank_, offset}; }

  void copy(Place source, Place target, std::size_t count) {
    if (count == 0 || same(overlay_.resolve(source), overlay_.resolve(target))) return;
    add({.kind = StepKind::kCopy, .count = count}, {&source, 1}, {&target, 1});
  }
  // Of one source this is a copy.
  void reduce(std::span<const Place> sources, std::span<const Place> targets, std::size_t count) {
    if (count == 0) return;
    if (sources.size() == 1) {
      for (const Place& target : targets) copy(sources[0], target, count);
    } else {
      add({.kind = StepKind::kReduce, .count = count}, sources, targets);
    }
  }
  void reduce(std::span<const Place> sources, Place target, std::size_t count) {
    reduce(sources, {&target, 1}, count);
  }
  void reduce(Place first, Place second, Place target, std::size_t count) {
    const Place sources[] = {first, second};
    reduce(sources, target, count);
  }

  // A rank alone needs none of these.
  void signal() {
    if (ranks_ > 1) add({.kind = StepKind::kSignal, .phase = ++phase_});
  }
  void wait(int peer, std::uint32_t phase) {
    if (ranks_ > 1) add({.kind = StepKind::kWait, .peer = peer, .phase = phase});
  }
  void reclaim() {
    if (ranks_ > 1) add({.kind = StepKind::kReclaim, .peer = kEveryone});
  }

  void send(int peer, Place source, std::size_t count) {
    if (count == 0) return;
    add({.kind = StepKind::kSend, .peer = peer, .count = count}, {&source, 1}, {});
    in_flight_ = true;
  }
  void recv(int peer, Place target, std::size_t count) {
    if (count == 0) return;
    add({.kind = StepKind::kRecv, .peer = peer, .count = count}, {}, {&target, 1});
  }
  void drain() {
    if (in_flight_) add({.kind = StepKind::kDrain});
    in_flight_ = false;
  }

  RankPlan take() { return std::move(plan_); }

 private:
  static bool same(const Place& a, const Place& b) {
    return a.buffer == b.buffer && a.rank == b.rank && a.offset == b.offset;
  }
  void add(Step step, std::span<const Place> sources = {}, std::span<const Place> targets = {}) {
    step.sources_begin = static_cast<std::uint32_t>(plan_.places.size());
    append(sources, step.count);
    step.sources_end = step.targets_begin = static_cast<std::uint32_t>(plan_.places.size());
    append(targets, step.count);
    step.targets_end = static_cast<std::uint32_t>(plan_.places.size());
    plan_.steps.push_back(step);
  }
  void append(std::span<const Place> places, std::size_t count) {
    for (const Place& place : places) {
      plan_.places.push_back(place);
      if (place.rank != rank_) continue;
      const std::size_t end = place.offset + count;
      if (place.buffer == Buffer::kScratch)
        plan_.scratch_count = std::max(plan_.scratch_count, end);
      if (place.buffer == Buffer::kPrivate)
        plan_.private_count = std::max(plan_.private_count, end);
    }
  }

  int ranks_;
  int rank_;
  Overlay overlay_;
  RankPlan plan_{};
  std::uint32_t phase_ = 0;
  bool in_flight_ = false;
};

// Places of another rank.
inline Place input_of(int rank, std::size_t offset = 0) {
  return {Buffer::kInput, rank, offset};
}
inline Place output_of(int rank, std::size_t offset = 0) {
  return {Buffer::kOutput, rank, offset};
}
inline Place scratch_of(int rank, std::size_t offset = 0) {
  return {Buffer::kScratch, rank, offset};
}

inline Place operator+(Place place, std::size_t offset) {
  place.offset += offset;
  return place;
}

}  // namespace commrig::coll
