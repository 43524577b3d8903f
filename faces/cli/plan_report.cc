// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/plan_report.h"

#include <fmt/format.h>

#include "coll/plan_text.h"

namespace commrig::cli {
namespace {

using coll::Algorithm;
using coll::Collective;
using coll::PlanSet;
using coll::Proof;
using coll::Request;

constexpr int kOperations = 5;  // in a row: both halves of the scratch, each more than once

void add(Proof& sum, const Proof& proof) {
  sum.operations += proof.operations;
  sum.steps += proof.steps;
  sum.messages += proof.messages;
  sum.accesses += proof.accesses;
  sum.results += proof.results;
}

std::string proof_text(const Proof& proof) {
  return fmt::format("{} operations, {} steps, {} messages, {} accesses, {} results",
                     proof.operations, proof.steps, proof.messages, proof.accesses, proof.results);
}

Result<Proof> verify_one(const PlanSet& set) {
  const coll::Verdict verdict = coll::verify(set, kOperations);
  if (!verdict.defect) return verdict.proof;
  return Error::make(verdict.defect->code,
                     fmt::format("{}: operation {}, rank {}, step {}: {}", plan_title(set),
                                 verdict.defect->operation, verdict.defect->rank,
                                 verdict.defect->step, verdict.defect->what));
}

// Counts that differ from block to block, one of them 0.
void set_counts(Request& request) {
  if (!coll::has_counts(request.collective)) return;
  const auto n = static_cast<std::size_t>(request.ranks);
  const std::size_t blocks = request.collective == Collective::kAllToAllV ? n * n : n;
  for (std::size_t i = 0; i < blocks; ++i) request.counts.push_back(i % 4);
  request.count = 0;
}

Result<Proof> prove_collective(const Algorithm& algorithm, Collective collective, int ranks) {
  Proof sum;
  const int roots = coll::has_root(collective) ? ranks : 1;
  for (int root = 0; root < roots; ++root) {
    for (const bool in_place : {false, true}) {
      Request request{.collective = collective,
                      .ranks = ranks,
                      .root = root,
                      .count = static_cast<std::size_t>(ranks) + 1,
                      .element_bytes = 4,
                      .in_place = in_place};
      set_counts(request);
      COMMRIG_ASSIGN(const PlanSet set,
                     coll::make_plan_set(algorithm, request, {.chunk_bytes = 16}));
      COMMRIG_ASSIGN(const Proof proof, verify_one(set));
      add(sum, proof);
    }
  }
  return sum;
}

}  // namespace

std::string algorithm_table() {
  std::string text = fmt::format("{:<18} {:<15} {:<14} {:<20} {:<50} {}\n", "algorithm",
                                 "collective", "shared memory", "rounds", "steps", "bytes");
  for (const Algorithm& algorithm : coll::all_algorithms()) {
    for (const coll::Form& form : algorithm.forms) {
      text +=
          fmt::format("{:<18} {:<15} {:<14} {:<20} {:<50} {}\n", algorithm.name,
                      coll::name(form.collective), algorithm.shared_memory ? "needed" : "no",
                      coll::name(algorithm.rounding_of(form.collective)), form.steps, form.bytes);
    }
  }
  text +=
      "n ranks, S bytes of the largest buffer, c chunks. The -v forms of all-gather, "
      "reduce-scatter,\nall-to-all, gather and scatter go the same way.\n";
  return text;
}

std::string plan_title(const PlanSet& set) {
  const Request& request = set.request;
  std::string text = fmt::format("{} by {}, {} ranks", coll::name(request.collective),
                                 set.algorithm, request.ranks);
  if (coll::has_root(request.collective)) text += fmt::format(", root {}", request.root);
  text += request.counts.empty() ? fmt::format(", count {}", request.count)
                                 : fmt::format(", counts {}", fmt::join(request.counts, ","));
  return text + (request.in_place ? ", in place" : "");
}

std::string step_table(const PlanSet& set, int rank) {
  std::string text = plan_title(set) + "\n";
  for (int each = 0; each < set.request.ranks; ++each) {
    if (rank >= 0 && each != rank) continue;
    const coll::RankPlan& plan = set.plans[static_cast<std::size_t>(each)];
    text += fmt::format("rank {}: {} steps, {} elements of scratch, {} private\n", each,
                        plan.steps.size(), plan.scratch_count, plan.private_count);
    text += coll::to_string(plan);
  }
  return text;
}

Result<std::string> prove(const PlanSet& set) {
  COMMRIG_ASSIGN(const Proof proof, verify_one(set));
  std::string text =
      fmt::format("proved: {}\n  looked at: {}\n", plan_title(set), proof_text(proof));
  text +=
      "  every output holds exactly what the collective promises\n"
      "  nothing is read before it is written, in this or from an earlier operation\n"
      "  no two steps use the same memory without an order, nor do a step and the caller\n"
      "  every message is received, with the length that was sent\n"
      "  every rank comes to its end\n";
  if (set.rounding == coll::Rounding::kOnce) {
    text += "  every result is folded in one step, in the order of ranks\n";
  } else if (set.request.collective == Collective::kAllReduce) {
    text += "  all ranks fold in the same order\n";
  }
  return text;
}

Result<std::string> prove_all(int ranks) {
  std::string text;
  for (const Algorithm& algorithm : coll::all_algorithms()) {
    for (int i = 0; i < coll::kCollectives; ++i) {
      const auto collective = static_cast<Collective>(i);
      if (algorithm.form(collective) == nullptr) continue;
      COMMRIG_ASSIGN(const Proof proof, prove_collective(algorithm, collective, ranks));
      text += fmt::format("proved: {:<18} {:<16} {}\n", algorithm.name, coll::name(collective),
                          proof_text(proof));
    }
  }
  return text;
}

}  // namespace commrig::cli
