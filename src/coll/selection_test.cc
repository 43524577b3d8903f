// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/selection.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::coll {
namespace {

using testing::HasSubstr;

std::string_view chosen(const Request& request, const Capabilities& capabilities,
                        std::string_view rules = "") {
  const Result<Choice> choice = choose(request, capabilities, {}, Rules::parse(rules).value());
  return choice ? choice->algorithm->name : std::string_view(code_info(choice.error().code).id);
}

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = kKiB * kKiB;

TEST(Selection, TakesTheCheapestThatCanBeTaken) {
  EXPECT_EQ(chosen({.ranks = 4, .count = 64}, {}), "slots");
  EXPECT_EQ(chosen({.ranks = 8, .count = 4 * kMiB}, {}), "two-shot");
  EXPECT_EQ(chosen({.ranks = 8, .count = 64}, {.shared_memory = false}), "recursive-doubling");
  EXPECT_EQ(chosen({.ranks = 8, .count = 64 * kMiB}, {.shared_memory = false, .strict = true}),
            "pairwise");
  EXPECT_EQ(chosen({.collective = Collective::kBroadcast, .ranks = 8, .count = 64 * kMiB},
                   {.shared_memory = false}),
            "chain");
}

TEST(Selection, IsNeverDearerThanAnotherCandidate) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const int ranks : {1, 2, 5, 64}) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kKiB, kMiB}) {
        Request request{.collective = collective, .ranks = ranks, .count = count};
        if (has_counts(collective)) {
          const auto n = static_cast<std::size_t>(ranks);
          request.counts.assign(collective == Collective::kAllToAllV ? n * n : n, count);
        }
        const Choice choice = choose(request, {}).value();
        double taken = 0;
        double least = 1e9;
        for (const Candidate& each : choice.candidates) {
          if (each.algorithm == choice.algorithm) taken = each.seconds;
          if (each.refused.empty()) least = std::min(least, each.seconds);
        }
        EXPECT_EQ(taken, least) << name(collective);
      }
    }
  }
}

TEST(Selection, StrictModeRefusesRoundingPerHopButNotMovingData) {
  const Request reduce{.ranks = 8, .count = kMiB};
  const Capabilities strict{.shared_memory = false, .strict = true};
  EXPECT_EQ(chosen(reduce, strict), "pairwise");
  EXPECT_EQ(chosen(reduce, strict, "all-reduce=ring"), "CR-COL08");
  const Request gather{.collective = Collective::kAllGather, .ranks = 8, .count = kMiB};
  EXPECT_EQ(chosen(gather, strict, "all-gather=ring"), "ring");
}

TEST(Selection, TextOverrulesCostFirstRuleFirst) {
  const std::string_view rules = "all-reduce=ring@>1MiB;all-reduce=tree@<=1KiB;broadcast=chain";
  EXPECT_EQ(chosen({.ranks = 4, .count = kMiB + 1}, {}, rules), "ring");
  EXPECT_EQ(chosen({.ranks = 4, .count = kMiB}, {}, rules), "two-shot");
  EXPECT_EQ(chosen({.ranks = 4, .count = kKiB}, {}, rules), "tree");
  EXPECT_EQ(chosen({.collective = Collective::kBroadcast, .ranks = 4, .count = 1}, {}, rules),
            "chain");
  EXPECT_EQ(chosen({.ranks = 4, .count = 7}, {}, "all-reduce=ring@<8;all-reduce=tree"), "ring");
  EXPECT_EQ(chosen({.ranks = 4, .count = 8}, {}, "all-reduce=ring@<8;all-reduce=tree"), "tree");
  EXPECT_EQ(chosen({.ranks = 4, .count = 8}, {}, "all-reduce=ring@>=8B"), "ring");
}

TEST(Selection, SaysWhyWhatWasAskedForCannotBe) {
  const auto why = [](const Request& request, const Capabilities& capabilities,
                      std::string_view rules) {
    return choose(request, capabilities, {}, Rules::parse(rules).value()).error().message;
  };
  EXPECT_THAT(why({.ranks = 4}, {.shared_memory = false}, "all-reduce=direct"),
              HasSubstr("as \"all-reduce=direct\" asks: it needs shared memory"));
  EXPECT_THAT(why({.ranks = 4, .count = 100}, {.slot_bytes = 64}, "all-reduce=slots@>1B"),
              HasSubstr("needs 100 bytes of scratch, a slot has 64"));
}

TEST(Selection, TextThatCannotBeReadIsRefusedWithItsPosition) {
  const struct {
    std::string_view text;
    Code code;
    std::string_view message;
  } cases[] = {
      {"all-reduce", Code::kSelectionText, "at character 11: expected = and an algorithm, found"},
      {"all-reduce=", Code::kUnknownAlgorithm, "at character 12: algorithm \"\""},
      {"allreduce=ring", Code::kUnknownCollective, "at character 1: collective \"allreduce\""},
      {"broadcast=chain;all-reduce=rng", Code::kUnknownAlgorithm, "at character 28: "},
      {"gather=chain", Code::kNoAlgorithm, "at character 8: chain has no plan for gather"},
      {"all-reduce=ring@1MiB", Code::kSelectionText, "at character 17: expected <, <=, > or >="},
      {"all-reduce=ring@>", Code::kSelectionText, "at character 18: expected a number of bytes"},
      {"all-reduce=ring@>-1", Code::kSelectionText, "at character 18: expected a number of bytes"},
      {"all-reduce=ring@>1MB", Code::kSelectionText, "at character 19: expected B, KiB"},
      {"all-reduce=ring@>1MiBs", Code::kSelectionText, "at character 22: expected a semicolon"},
      {"all-reduce=ring@<0", Code::kSelectionText, "expected a size that some buffer can have"},
      {"all-reduce=ring@>99999999999GiB", Code::kSelectionText, "expected a smaller number"},
      {"all-reduce=ring@>99999999999999999999999", Code::kSelectionText, "a number of bytes"},
      {"all-reduce=ring;", Code::kSelectionText, "at character 17: expected another rule"},
      {";", Code::kUnknownCollective, "at character 1: "},
      {"all-reduce=ring@>1B@<2B", Code::kSelectionText, "at character 20: expected a semicolon"},
  };
  for (const auto& each : cases) {
    const Result<Rules> rules = Rules::parse(each.text);
    ASSERT_FALSE(rules) << each.text;
    EXPECT_EQ(rules.error().code, each.code) << each.text;
    EXPECT_THAT(rules.error().message, HasSubstr(std::string(each.message))) << each.text;
  }
}

TEST(Selection, CanBePrintedWithTheCostOfAllCandidates) {
  const std::string text =
      to_string(choose({.ranks = 4, .count = kMiB}, {.shared_memory = false}).value());
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.form(Collective::kAllReduce) == nullptr) continue;
    EXPECT_THAT(text, HasSubstr(std::string(algorithm.name)));
  }
  EXPECT_THAT(text, HasSubstr("least cost"));
  EXPECT_THAT(text, HasSubstr("needs shared memory"));
}

}  // namespace
}  // namespace commrig::coll
