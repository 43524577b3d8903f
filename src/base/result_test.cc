// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/result.h"

#include <cstdio>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "base/finding.h"

namespace commrig {
namespace {

Status fails_if(bool condition) {
  if (condition) return Error::make(Code::kBadArgument, "it was asked to");
  return ok();
}

Result<int> doubled(Result<int> input) {
  COMMRIG_ASSIGN(const int value, std::move(input));
  return 2 * value;
}

Status both(bool first, bool second) {
  COMMRIG_TRY(fails_if(first));
  COMMRIG_TRY(fails_if(second));
  return ok();
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value(7);
  const Result<int> error(Error::make(Code::kDeadline, "late"));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(*value, 7);
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().code, Code::kDeadline);
  EXPECT_EQ(error.value_or(3), 3);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, TryAndAssignPassTheErrorUp) {
  EXPECT_EQ(*doubled(21), 42);
  EXPECT_EQ(doubled(Error::make(Code::kAborted, "x")).error().code, Code::kAborted);
  EXPECT_TRUE(both(false, false).has_value());
  EXPECT_FALSE(both(false, true).has_value());
}

TEST(Result, ErrorKnowsWhereItWasDecided) {
  const Status status = fails_if(true);
  EXPECT_TRUE(std::string_view(status.error().location.file_name()).ends_with("result_test.cc"));
  EXPECT_GT(status.error().location.line(), 0U);
}

TEST(ResultDeathTest, ValueOfAnErrorEndsTheProcessWithTheError) {
  const Result<int> error(Error::make(Code::kDeadline, "waited for a word"));
  EXPECT_DEATH(
      {
        set_check_handler([](std::string_view message) {
          fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
        });
        (void)error.value();
      },
      "CR-RUN03: waited for a word");
}

TEST(Codes, EveryIdIsUniqueAndFoundByItsText) {
  for (const CodeInfo& row : all_codes()) {
    const CodeInfo* found = find_code(row.id);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->code, row.code) << row.id << " stands twice";
    EXPECT_TRUE(row.id.starts_with("CR-")) << row.id;
    EXPECT_FALSE(row.title.empty() || row.advice.empty() || row.explanation.empty()) << row.id;
  }
  EXPECT_EQ(find_code("CR-MEM99"), nullptr);
}

TEST(Codes, ErrorTextCarriesIdMessageAndAdvice) {
  const std::string text = to_string(Error::make(Code::kFreedPointer, "rank 1 read a byte"));
  EXPECT_TRUE(text.starts_with("CR-MEM02: rank 1 read a byte. Free a buffer only after")) << text;
}

TEST(Finding, SentenceNamesRankSlotFieldExpectedAndFound) {
  const Finding finding{.code = Code::kGroupMismatch,
                        .rank = 2,
                        .slot = 3,
                        .field = "dataCnt",
                        .offset = 0xd8,
                        .expected = "64",
                        .found = "65",
                        .detail = "ranks 0, 1 agree"};
  EXPECT_EQ(sentence(finding),
            "rank 2, slot 3, dataCnt (at 0xd8): ranks disagree about an operation; expected 64, "
            "found 65; ranks 0, 1 agree");
  EXPECT_EQ(to_error(finding).code, Code::kGroupMismatch);
}

}  // namespace
}  // namespace commrig
