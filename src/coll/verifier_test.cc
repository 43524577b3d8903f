// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/verifier.h"

#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coll/plan_builder.h"

// Plans that are wrong in one way each, and what is said of them.
namespace commrig::coll {
namespace {

using testing::HasSubstr;

// A broadcast of `count` elements from rank 0 to rank 1, with what each of the two does.
PlanSet broadcast(RankPlan root, RankPlan other, std::size_t count = 2) {
  return {.request = {.collective = Collective::kBroadcast, .ranks = 2, .count = count},
          .plans = {std::move(root), std::move(other)}};
}

class Verifier : public testing::Test {
 protected:
  static Defect defect_of(const PlanSet& set) {
    const Verdict verdict = verify(set);
    EXPECT_TRUE(verdict.defect) << "accepted";
    return verdict.defect.value_or(Defect{.code = Code::kAborted});
  }

  // Rank 0's own part is right in all of them.
  void copy_own() { root_.copy(root_.input(), root_.output(), 2); }

  Request request_{.collective = Collective::kBroadcast, .ranks = 2, .count = 2};
  PlanBuilder root_{request_, 0};
  PlanBuilder other_{request_, 1};
};

TEST_F(Verifier, AcceptsABroadcastByOneMessage) {
  root_.send(1, root_.input(), 2);
  copy_own();
  other_.recv(0, other_.output(), 2);
  const Verdict verdict = verify(broadcast(root_.take(), other_.take()));
  EXPECT_FALSE(verdict.defect) << to_string(*verdict.defect);
  EXPECT_EQ(verdict.proof.operations, 5U);
  EXPECT_EQ(verdict.proof.messages, 5U);
  EXPECT_EQ(verdict.proof.steps, 15U);
}

TEST_F(Verifier, RejectsAWriteIntoAnInput) {
  root_.copy(root_.output(), root_.input(), 2);
  const Defect defect = defect_of(broadcast(root_.take(), {}));
  EXPECT_EQ(defect.code, Code::kPlanStep);
  EXPECT_THAT(defect.what, HasSubstr("writes an input"));
}

TEST_F(Verifier, RejectsAStepPastTheEndOfABuffer) {
  copy_own();
  other_.recv(0, other_.output(1), 2);
  root_.send(1, root_.input(), 2);
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanBounds);
  EXPECT_EQ(defect.rank, 1);
  EXPECT_THAT(defect.what, HasSubstr("rank 1 output[1] has 2 elements"));
}

TEST_F(Verifier, RejectsAnOffsetThatWrapsAround) {
  copy_own();
  other_.copy(scratch_of(0, ~std::size_t{0}), other_.output(), 2);
  EXPECT_EQ(defect_of(broadcast(root_.take(), other_.take())).code, Code::kPlanBounds);
}

TEST_F(Verifier, RejectsPhasesWithGapsAndPeersThatDoNotExist) {
  RankPlan gap;
  gap.steps.push_back({.kind = StepKind::kSignal, .phase = 2});
  EXPECT_THAT(defect_of(broadcast(gap, {})).what, HasSubstr("phases grow by one"));
  RankPlan stranger;
  stranger.steps.push_back({.kind = StepKind::kWait, .peer = 2, .phase = 1});
  EXPECT_THAT(defect_of(broadcast(stranger, {})).what, HasSubstr("not another rank"));
  RankPlan wild;
  wild.steps.push_back({.kind = StepKind::kCopy, .count = 1, .sources_end = 1, .targets_end = 9});
  EXPECT_THAT(defect_of(broadcast(wild, {})).what, HasSubstr("outside the plan's"));
}

TEST_F(Verifier, RejectsAFlagWhereTheAlgorithmNeedsNoSharedMemory) {
  root_.signal();
  PlanSet set = broadcast(root_.take(), {});
  set.shared_memory = false;
  EXPECT_THAT(defect_of(set).what, HasSubstr("needs shared memory"));
}

// A message brings an order, but only a flag tells the address.
TEST_F(Verifier, RejectsAPeersInputWhoseAddressIsNotKnown) {
  copy_own();
  root_.send(1, root_.input(), 1);
  root_.signal();
  root_.wait(1, 1);
  other_.recv(0, other_.output(), 1);
  other_.copy(input_of(0), other_.output(), 2);
  other_.signal();
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanAddress);
  EXPECT_EQ(defect.rank, 1);
  EXPECT_EQ(defect.step, 1);
}

// Both put the right elements there, and all that follows has an order to both.
TEST_F(Verifier, RejectsTwoWritesWithoutAnOrder) {
  root_.signal();
  copy_own();
  root_.wait(1, 1);
  other_.wait(0, 1);
  other_.copy(input_of(0), output_of(0), 2);
  other_.copy(input_of(0), other_.output(), 2);
  other_.signal();
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanRace);
  EXPECT_EQ(defect.rank, 1);
  EXPECT_EQ(defect.step, 1);
  EXPECT_EQ(defect.peer_step, 1);
}

TEST_F(Verifier, RejectsAReadOfWhatNothingWrote) {
  copy_own();
  other_.copy(other_.hidden(), other_.output(), 2);
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanUndefined);
  EXPECT_EQ(defect.step, 0);
}

TEST_F(Verifier, RejectsAnOutputThatIsLeftAlone) {
  copy_own();
  const Defect defect = defect_of(broadcast(root_.take(), {}));
  EXPECT_EQ(defect.code, Code::kPlanContents);
  EXPECT_EQ(defect.rank, 1);
  EXPECT_THAT(defect.what, HasSubstr("output[0] should hold rank 0 input[0], and holds nothing"));
}

TEST_F(Verifier, RejectsElementsInTheWrongPlace) {
  copy_own();
  root_.send(1, root_.input(1), 1);
  root_.send(1, root_.input(0), 1);
  other_.recv(0, other_.output(0), 1);
  other_.recv(0, other_.output(1), 1);
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanContents);
  EXPECT_THAT(defect.what, HasSubstr("should hold rank 0 input[0], and holds rank 0 input[1]"));
}

TEST_F(Verifier, RejectsAnInputThatItsCallerGetsBackTooEarly) {
  root_.signal();
  copy_own();
  other_.wait(0, 1);
  other_.copy(input_of(0), other_.output(), 2);
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanRace);
  EXPECT_EQ(defect.rank, 1);
  EXPECT_EQ(defect.step, 1);
  EXPECT_EQ(defect.peer, 0);
  EXPECT_EQ(defect.peer_step, kCallerAfter);
  EXPECT_THAT(to_string(defect), HasSubstr("CR-COL15: operation 0, rank 1, step 1: "));
}

TEST_F(Verifier, RejectsASlotThatIsUsedAgainTooEarly) {
  root_.copy(root_.input(), root_.scratch(), 2);
  root_.signal();
  copy_own();
  other_.wait(0, 1);
  other_.copy(scratch_of(0), other_.output(), 2);
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanRace);
  EXPECT_THAT(defect.what, HasSubstr("scratch"));
}

TEST_F(Verifier, RejectsAMessageThatIsOverwrittenOnItsWay) {
  root_.copy(root_.input(), root_.hidden(), 2);
  root_.send(1, root_.hidden(), 1);
  root_.copy(root_.input(1), root_.hidden(), 1);
  copy_own();
  root_.send(1, root_.input(1), 1);
  other_.recv(0, other_.output(0), 1);
  other_.recv(0, other_.output(1), 1);
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanRace);
  EXPECT_EQ(defect.step, 2);
  EXPECT_EQ(defect.peer_step, 1);
  EXPECT_THAT(defect.what, HasSubstr("a message still on its way"));
}

TEST_F(Verifier, RejectsMessagesThatDoNotMatch) {
  copy_own();
  root_.send(1, root_.input(), 2);
  const RankPlan root = root_.take();
  EXPECT_EQ(defect_of(broadcast(root, {})).code, Code::kPlanMessages);
  other_.recv(0, other_.output(), 1);
  const Defect shorter = defect_of(broadcast(root, other_.take()));
  EXPECT_EQ(shorter.code, Code::kPlanMessages);
  EXPECT_THAT(shorter.what, HasSubstr("receives 1 elements from rank 0, which sends 2"));
  PlanBuilder lonely(request_, 1);
  lonely.recv(0, lonely.output(), 2);
  EXPECT_EQ(defect_of(broadcast({}, lonely.take())).code, Code::kPlanMessages);
}

TEST_F(Verifier, NamesTheCircleOfWaits) {
  root_.wait(1, 1);
  root_.signal();
  other_.wait(0, 1);
  other_.signal();
  const Defect defect = defect_of(broadcast(root_.take(), other_.take()));
  EXPECT_EQ(defect.code, Code::kPlanStuck);
  EXPECT_THAT(defect.what,
              HasSubstr("rank 0 waits in operation 0 at step 0 for phase 1 of rank 1, "
                        "rank 1 waits in operation 0 at step 0 for phase 1 of rank 0"));
}

TEST_F(Verifier, RejectsDrainsThatWaitForEachOther) {
  // Each waits until its message was received before it receives.
  PlanSet set{.request = {.collective = Collective::kAllReduce, .ranks = 2, .count = 1}};
  for (int rank = 0; rank < 2; ++rank) {
    PlanBuilder plan(set.request, rank);
    plan.send(1 - rank, plan.input(), 1);
    plan.drain();
    plan.recv(1 - rank, plan.hidden(), 1);
    set.plans.push_back(plan.take());
  }
  const Defect defect = defect_of(set);
  EXPECT_EQ(defect.code, Code::kPlanStuck);
  EXPECT_THAT(defect.what, HasSubstr("for rank 1 to receive a message"));
}

// Two ranks exchange their inputs and fold them in the order that `order` gives each.
PlanSet exchange(std::array<bool, 2> own_first, Rounding rounding) {
  PlanSet set{.request = {.collective = Collective::kAllReduce, .ranks = 2, .count = 3},
              .rounding = rounding};
  for (int rank = 0; rank < 2; ++rank) {
    PlanBuilder plan(set.request, rank);
    plan.send(1 - rank, plan.input(), 3);
    plan.recv(1 - rank, plan.hidden(), 3);
    const bool first = own_first[static_cast<std::size_t>(rank)];
    plan.reduce(first ? plan.input() : plan.hidden(), first ? plan.hidden() : plan.input(),
                plan.output(), 3);
    set.plans.push_back(plan.take());
  }
  return set;
}

TEST_F(Verifier, RejectsAnotherOrderThanThatOfRanksWhereThatIsClaimed) {
  EXPECT_FALSE(verify(exchange({true, false}, Rounding::kOnce)).defect);
  EXPECT_EQ(defect_of(exchange({false, true}, Rounding::kOnce)).code, Code::kPlanRounding);
  EXPECT_FALSE(verify(exchange({false, true}, Rounding::kPerHop)).defect);
}

TEST_F(Verifier, RejectsRanksThatWouldGetOtherBits) {
  const Defect defect = defect_of(exchange({true, true}, Rounding::kPerHop));
  EXPECT_EQ(defect.code, Code::kPlanRounding);
  EXPECT_THAT(defect.what, HasSubstr("in another order than that of rank 0"));
}

TEST_F(Verifier, RejectsAContributionThatCountsTwice) {
  PlanSet set = exchange({true, false}, Rounding::kPerHop);
  RankPlan& plan = set.plans[0];
  plan.places[plan.steps[2].sources_begin + 1] = plan.places[plan.steps[2].sources_begin];
  const Defect defect = defect_of(set);
  EXPECT_EQ(defect.code, Code::kPlanContents);
  EXPECT_THAT(defect.what, HasSubstr("holds rank 0 input[0] + rank 0 input[0]"));
}

TEST_F(Verifier, ChecksRequestsAndSequencesToo) {
  PlanSet bad = exchange({true, false}, Rounding::kOnce);
  bad.request.element_bytes = 0;
  EXPECT_EQ(defect_of(bad).code, Code::kCollectiveSize);
  PlanSet one = exchange({true, false}, Rounding::kOnce);
  one.plans.pop_back();
  EXPECT_EQ(defect_of(one).code, Code::kPlanStep);
  const PlanSet two = exchange({true, false}, Rounding::kOnce);
  const PlanSet alone{.request = {.ranks = 1}, .plans = {RankPlan{}}};
  const std::vector<const PlanSet*> sequence{&two, &alone};
  EXPECT_TRUE(verify_sequence(sequence).defect);
  EXPECT_FALSE(verify_sequence({}).defect);
}

}  // namespace
}  // namespace commrig::coll
