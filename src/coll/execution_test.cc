// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "coll/interpreter_for_test.h"
#include "coll/order_oracle_for_test.h"
#include "coll/plan_svg.h"
#include "coll/plan_text.h"
#include "coll/requests_for_test.h"
#include "coll/timeline.h"

namespace commrig::coll {
namespace {

using testing::HasSubstr;

class Execution : public testing::TestWithParam<const Algorithm*> {};
INSTANTIATE_TEST_SUITE_P(Table, Execution, testing::ValuesIn(algorithm_pointers()),
                         algorithm_test_name);

TEST_P(Execution, GivesWhatAPlainReferenceGivesInAnyOrderOfSteps) {
  const std::uint64_t seed = seed_from_environment(20'250'404);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13}) {
    for (Request request : small_requests(*GetParam(), ranks)) {
      for (const std::size_t count : {request.count, std::size_t{0}, std::size_t{30}}) {
        request.count = count;
        const PlanSet set = make_plan_set(*GetParam(), request, {.chunk_bytes = 12}).value();
        const std::vector<const PlanSet*> sequence(4, &set);
        for (const FoldKind kind : {FoldKind::kSum, FoldKind::kOrdered}) {
          ASSERT_EQ(run_and_compare(sequence, kind, rng.next()), "") << describe(set);
        }
      }
    }
  }
}

TEST_P(Execution, HasAPathBetweenAnyTwoConflictingUses) {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const Request& request : small_requests(*GetParam(), ranks)) {
      const PlanSet set = make_plan_set(*GetParam(), request, {.chunk_bytes = 12}).value();
      const std::vector<const PlanSet*> sequence(5, &set);
      ASSERT_EQ(find_disorder(sequence), "") << describe(set);
    }
  }
}

TEST_P(Execution, CanBeLaidOutAndDrawnToTheLastStep) {
  for (const Request& request : small_requests(*GetParam(), 5)) {
    const PlanSet set = make_plan_set(*GetParam(), request).value();
    const Timeline timeline = lay_out(set);
    std::size_t steps = 0;
    for (std::size_t rank = 0; rank < set.plans.size(); ++rank) {
      EXPECT_EQ(timeline.rows[rank].size(), set.plans[rank].steps.size());
      steps += set.plans[rank].steps.size();
    }
    for (const Arrow& arrow : timeline.arrows) {
      EXPECT_LT(timeline.rows[static_cast<std::size_t>(arrow.from.rank)][arrow.from.step],
                timeline.rows[static_cast<std::size_t>(arrow.to.rank)][arrow.to.step]);
    }
    const std::string svg = draw_svg(set, "a < b & c");
    EXPECT_THAT(svg, HasSubstr(">a &lt; b &amp; c<"));
    std::size_t boxes = 0;
    for (std::size_t at = svg.find("<g>"); at != svg.npos; at = svg.find("<g>", at + 1)) ++boxes;
    EXPECT_EQ(boxes, steps);
    EXPECT_EQ(svg.find("->"), svg.npos) << "not escaped";
  }
}

TEST(PlansAsText, NamesPlacesAndCutsLongLists) {
  const PlanSet set =
      make_plan_set(*find_algorithm("direct").value(), {.ranks = 64, .count = 3}).value();
  const std::string text = to_string(set.plans[0]);
  EXPECT_THAT(text, HasSubstr("   0  signal phase 1\n"));
  EXPECT_THAT(text, HasSubstr("   1  wait for phase 1 of all others\n"));
  EXPECT_THAT(text, HasSubstr("reduce 3: rank 0 input[0], rank 1 input[0], rank 2 input[0], rank 3 "
                              "input[0], ..., rank 60 input[0], rank 61 input[0], rank 62 "
                              "input[0], rank 63 input[0] -> rank 0 output[0]\n"));
}

}  // namespace
}  // namespace commrig::coll
