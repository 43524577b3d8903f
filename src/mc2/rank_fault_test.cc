// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <stdexcept>

#include "mc2/fault_fixture_for_test.h"

// Ranks that fail, leave, never come or wait in vain, see docs/mc2-faults.md.
namespace commrig::mc2 {
namespace {

std::function<Finding(FaultRig&)> word(Code code, std::string field, std::string expected,
                                       std::string found, std::string detail = {}) {
  return [=](FaultRig& rig) { return rig.word(code, 0, field, expected, found, detail); };
}
std::function<Finding(FaultRig&)> no_message(Code code, std::string detail) {
  return word(code, "sendMsgs.valid", "a message", "none", std::move(detail));
}

std::vector<FaultRow> leaving_rows() {
  return {
      {"KernelThrows",
       On::kBoth,
       [](RawRank&) -> Status { throw std::runtime_error("bad tile"); },
       no_message(Code::kRankThrew, "bad tile"),
       operations(1),
       {},
       {kGuilty}},
      {"KernelReturnsAnError",
       On::kBoth,
       [](RawRank&) { return Status(Error::make(Code::kBadArgument, "shape does not fit")); },
       no_message(Code::kRankThrew, "shape does not fit"),
       operations(1),
       {},
       {kGuilty}},
      {"LeavesBeforeItsMessage",
       On::kBoth,
       [](RawRank&) { return ok(); },
       no_message(Code::kRankLeft, "its kernel returned"),
       operations(1),
       {},
       {kGuilty}},
      {"LeavesBeforeItsCommit",
       On::kBoth,
       [](RawRank& rank) { return rank.write(0, rank.message()); },
       word(Code::kRankLeft, "commitTurnCnt.cnt", "at least 1", "0", "its kernel returned"),
       operations(1),
       {},
       {kGuilty}},
      {"LeavesBeforeItsLastTurn",
       On::kBoth,
       [](RawRank& rank) { return rank.perform(0, rank.turns()); },
       word(Code::kRankLeft, "commitTurnCnt.cnt", "at least 2", "1", "its kernel returned"),
       three_turns,
       {},
       {kGuilty}},
      {"LeavesBeforeFinalize",
       On::kBoth,
       [](RawRank& rank) { return rank.perform(0, rank.message()); },
       [](FaultRig& rig) {
         return rig.word(Code::kNoFinalize, 1, "sendMsgs.valid", "a finalize message",
                         "the end of the kernel");
       },
       operations(1),
       {},
       {0, 1, 2}},
      {"NeverLaunched",
       On::kBoth,
       {},
       no_message(Code::kRankMissing, "nobody is left to launch"),
       operations(1),
       {},
       {kGuilty}},
      {"NeverLaunchedAgain",
       On::kBoth,
       {},
       no_message(Code::kRankMissing, "nobody is left to launch"),
       operations(1),
       &RawRank::right,
       {kGuilty}},
  };
}

std::vector<FaultRow> waiting_rows() {
  const auto waits_for_two = [](RawRank& rank) -> Status {
    COMMRIG_TRY(rank.perform(0, rank.message()));
    return rank.await(0, 2);
  };
  return {
      {"WaitsForATurnTooMany",
       On::kUpstream,
       waits_for_two,
       word(Code::kStalled, "finishedTurnCnt.cnt", "a wait for turn 1 at most", "a wait for turn 2",
            "no such turn"),
       operations(1),
       {},
       {0, 2}},
      {"WaitsForATurnThatItDidNotCommit",
       On::kReadme,
       waits_for_two,
       word(Code::kStalled, "commitTurnCnt.cnt", "at least 2", "1", "rank 1 waits for a turn"),
       operations(1),
       {},
       {0, 2}},
      {"WaitsForASlotWithoutAMessage", On::kReadme, [](RawRank& rank) { return rank.await(3, 1); },
       [](FaultRig& rig) {
         return rig.word(Code::kStalled, 3, "sendMsgs.valid", "a message", "none");
       }},
      {"WaitsForASlotThatIsNotNext", On::kUpstream, [](RawRank& rank) { return rank.await(3, 1); },
       no_message(Code::kStalled, "finishedTurnCnt[3] >= 1")},
      {"WaitsForSomethingElse", On::kBoth,
       [](RawRank& rank) -> Status {
         COMMRIG_ASSIGN(const device::Window flag, rank.context.window(rank.rig.recv[1], 8, 8));
         return rank.context.wait<std::uint64_t>(flag, 0, Compare::kEqual, 7, {.what = "a flag"});
       },
       no_message(Code::kStalled, "rank 1 waits for a flag (a word at")},
  };
}

class RankFault : public FaultTest {};
TEST_P(RankFault, IsNamed) {
  run();
}
INSTANTIATE_TEST_SUITE_P(Leaving, RankFault, testing::ValuesIn(fault_cases(leaving_rows())),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Waiting, RankFault, testing::ValuesIn(fault_cases(waiting_rows())),
                         fault_name);

device::KernelFunction right_kernel(FaultRig& rig) {
  return [&rig](device::KernelContext& context) { return RawRank(rig, context).right(); };
}

TEST(RankFaultLaunch, KernelBehindTheOneThatWaitsForItIsNamed) {
  const CapturedLog log;
  FaultRig rig("upstream-64");
  const auto shared = std::move(rig.machine().create_stream(0)).value();
  for (int rank = 0; rank < 2; ++rank) {
    const auto config = rig.group().launch_config(rank);
    ASSERT_TRUE(device::launch_function(*shared, config, right_kernel(rig)));
  }
  rig.launch_raw(2, right_kernel(rig));
  expect_finding(rig, log, rig.word(Code::kRankMissing, 0, "sendMsgs.valid", "a message", "none"),
                 {0, 1});
  EXPECT_FALSE(rig.machine().synchronize(*shared).has_value());
}

TEST(RankFaultLaunch, RankThatIsLaunchedLateIsNotMissing) {
  for (const int threads : {0, 1, 2}) {
    FaultRig rig("upstream-64");
    rig.machine().set_host_threads(threads);
    auto* const submitted = rig.allocate<std::uint64_t>(0, 1);
    const device::Window word = *rig.machine().memory().resolve(submitted, 8, 8);
    for (const int rank : {0, 2}) {
      rig.launch_raw(rank, [&rig, word](device::KernelContext& context) -> Status {
        const RawRank raw(rig, context);
        COMMRIG_TRY(raw.submit(0, raw.message()));
        COMMRIG_TRY(context.add<std::uint64_t>(word, 0, 1));
        COMMRIG_TRY(raw.await(0, 1));
        return raw.finalize(1);
      });
    }
    // This thread is inside a synchronise while they wait, and comes back from it.
    const auto other = std::move(rig.machine().create_stream(1)).value();
    ASSERT_TRUE(device::call(*other, [&rig, word]() -> Status {
      device::Accessor accessor(rig.executor(), -1);
      return accessor.wait<std::uint64_t>(word, 0, Compare::kAtLeast, 2, {.what = "messages"});
    }));
    ASSERT_TRUE(rig.machine().synchronize(*other).has_value());
    rig.launch_raw(1, right_kernel(rig));
    rig.expect_success();
  }
}

// The race of a core that still waits when the working core finalizes: the counter that it waits
// for is cleared under it.
TEST(RankFaultLaunch, BlockThatWaitsAfterFinalizeIsNamed) {
  const CapturedLog log;
  FaultRig rig("upstream-64");
  auto* const flag = rig.allocate<std::uint64_t>(kGuilty, 1);
  for (int rank = 0; rank < rig.ranks(); ++rank) {
    if (rank != kGuilty) rig.launch_raw(rank, right_kernel(rig));
  }
  device::LaunchConfig config = rig.group().launch_config(kGuilty);
  config.blocks = 2;
  const auto stream = std::move(rig.machine().create_stream(kGuilty)).value();
  ASSERT_TRUE(device::launch_function(
      *stream, config, [&rig, flag](device::KernelContext& context) -> Status {
        const RawRank raw(rig, context);
        COMMRIG_ASSIGN(const device::Window window, context.window(flag, 8, 8));
        if (context.block() == 0) {
          COMMRIG_TRY(raw.right());
          return context.notify<std::uint64_t>(window, 0, 1);
        }
        COMMRIG_TRY(context.wait<std::uint64_t>(window, 0, Compare::kEqual, 1, {.what = "a flag"}));
        return raw.await(0, 1);
      }));
  EXPECT_EQ(rig.machine().synchronize(*stream).error().code, Code::kStalled);
  Finding expected = rig.word(Code::kStalled, 0, "sendMsgs.valid", "a message", "none");
  expected.detail = "rank 1 waits for a turn (finishedTurnCnt[0] >= 1, found 0)";
  expect_finding(rig, log, expected, {0, 1, 2});
}

}  // namespace
}  // namespace commrig::mc2
