// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/tally.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/descriptor.h"

namespace commrig::comm {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Tally attach(const Variables& variables) {
  return Tally::attach([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(TallyTest, AddsUpWhatRanksHaveDone) {
  const Tally tally = Tally::create(3).value();
  for (int rank = 0; rank < 3; ++rank) {
    Tally mine = attach({{Tally::kVariable, tally.path()}, {"COMMRIG_RANK", std::to_string(rank)}});
    mine.add_collective(100, rank == 0);
    mine.add_message(10);
  }
  const Tally::Sum sum = tally.sum();
  EXPECT_EQ(sum.collectives, 1U);
  EXPECT_EQ(sum.messages, 3U);
  EXPECT_EQ(sum.bytes, 330U);
  EXPECT_EQ(sum.findings, 0U);
}

TEST(TallyTest, AnErrorCountsOnceForItsCommunicator) {
  const Tally tally = Tally::create(2).value();
  Tally first = attach({{Tally::kVariable, tally.path()}, {"COMMRIG_RANK", "0"}});
  Tally second = attach({{Tally::kVariable, tally.path()}, {"COMMRIG_RANK", "1"}});
  for (const std::uint64_t communicator : {7U, 8U, 0U}) {
    first.add_finding(communicator);
    second.add_finding(communicator);
  }
  EXPECT_EQ(tally.sum().findings, 3U);
}

TEST(TallyTest, MoreFindingsThanItTellsApartAreCountedAllTheSame) {
  const Tally tally = Tally::create(1).value();
  Tally mine = attach({{Tally::kVariable, tally.path()}});
  for (std::uint64_t communicator = 1; communicator <= 1000; ++communicator) {
    mine.add_finding(communicator);
  }
  EXPECT_EQ(tally.sum().findings, 1000U);
}

TEST(TallyTest, ARankThatIsNoneAddsToSomeLine) {
  const Tally tally = Tally::create(2).value();
  for (const char* const rank : {"17", "-1", "x", ""}) {
    attach({{Tally::kVariable, tally.path()}, {"COMMRIG_RANK", rank}}).add_message(1);
  }
  EXPECT_EQ(tally.sum().messages, 4U);
}

TEST(TallyTest, WithoutALauncherItCountsForNobody) {
  const transport::Segment other =
      transport::Segment::create("commrig-test", std::size_t{1} << 16U).value();
  const std::vector<std::string> paths{"",
                                       "/",
                                       "/dev/null",
                                       "/proc/self/exe",
                                       "/no/such/file",
                                       "/proc/self/fd/" + std::to_string(other.descriptor())};
  for (const std::string& path : paths) {
    Tally mine = attach({{Tally::kVariable, path}});
    mine.add_collective(1, true);
    mine.add_message(1);
    mine.add_finding(1);
    EXPECT_EQ(mine.sum().collectives, 0U) << path;
    EXPECT_EQ(mine.sum().findings, 0U) << path;
  }
  EXPECT_EQ(attach({}).sum().bytes, 0U);
}

}  // namespace
}  // namespace commrig::comm
