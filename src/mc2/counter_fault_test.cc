// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/fault_fixture_for_test.h"

// What can be wrong in a counter, see docs/mc2-faults.md.
namespace commrig::mc2 {
namespace {

// The first of three turns, as it should be; the server has seen all of it by then.
Status first_turn(RawRank& rank) {
  COMMRIG_TRY(rank.write(0, rank.turns()));
  COMMRIG_TRY(rank.commit(0, 1));
  return rank.await(0, 1);
}

RawKernel after_first_turn(std::function<Status(RawRank&)> wrong) {
  return [wrong = std::move(wrong)](RawRank& rank) -> Status {
    COMMRIG_TRY(first_turn(rank));
    COMMRIG_TRY(wrong(rank));
    COMMRIG_TRY(rank.commit(0, 2));
    return rank.await(0, 9);
  };
}

std::function<Finding(FaultRig&)> word(Code code, std::string field, std::string expected,
                                       std::string found, std::string detail = {}) {
  return [=](FaultRig& rig) { return rig.word(code, 0, field, expected, found, detail); };
}

std::vector<FaultRow> commit_rows() {
  const auto commits = [](std::uint64_t total) {
    return [total](RawRank& rank) -> Status {
      COMMRIG_TRY(rank.write(0, rank.message()));
      COMMRIG_TRY(rank.commit(0, total));
      return rank.await(0, total);
    };
  };
  return {
      {"CommitAboveRepeat", On::kUpstream, commits(2),
       word(Code::kCommitAboveRepeat, "commitTurnCnt.cnt", "at most 1", "2")},
      {"CommitsBeyondTheBlock", On::kReadme,
       [](RawRank& rank) -> Status {
         Message message = rank.message();
         message.stride = kFaultCount;
         COMMRIG_TRY(rank.write(0, message));
         COMMRIG_TRY(rank.commit(0, 2));
         return rank.await(0, 2);
       },
       [](FaultRig& rig) {
         return rig.at(Code::kStrideTooSmall, 0, Part::kStride, "at least 64 x 2", "64");
       }},
      {"CommitAfterTheEnd", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.perform(0, rank.message()));
         COMMRIG_TRY(rank.commit(0, 2));
         return rank.await(0, 2);
       },
       word(Code::kCommitAboveRepeat, "commitTurnCnt.cnt", "at most 1", "2"), operations(2)},
      {"CommitGoesBack", On::kBoth,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.write(0, rank.turns()));
         COMMRIG_TRY(rank.commit(0, 2));
         COMMRIG_TRY(rank.await(0, 2));
         COMMRIG_TRY(rank.commit(0, 1));
         return rank.await(0, 3);
       },
       word(Code::kCommitAboveRepeat, "commitTurnCnt.cnt", "at least 2", "1", "went back"),
       three_turns},
      {"CommitWithoutAMessage", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.commit(0, 1));
         return rank.await(0, 1);
       },
       word(Code::kClientState, "sendMsgs.valid", "a message", "none", "without a message")},
      {"FlaggedCommitWithoutAMessage", On::kReadme,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.commit(0, 1));
         return rank.await(0, 1);
       },
       word(Code::kClientState, "msgValid", "0x5cdf123a", "0x0", "without a message")},
      {"CommitMissing", On::kBoth,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.write(0, rank.message()));
         return rank.await(0, 1);
       },
       word(Code::kStalled, "commitTurnCnt.cnt", "at least 1", "0",
            "rank 1 waits for a turn (finishedTurnCnt[0] >= 1, found 0)")},
      {"CommitNotFlagged", On::kReadme,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.write(0, rank.message()));
         COMMRIG_TRY(rank.workspace.set_commit_count(0, 1));
         COMMRIG_TRY(rank.workspace.set_commit_valid(0, rank.layout.commit_valid ^ 1U));
         return rank.await(0, 1);
       },
       word(Code::kStalled, "commitTurnCnt.valid", "0x3ade68b1", "0x3ade68b0")},
      {"SecondCommitNotFlagged", On::kReadme,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(first_turn(rank));
         COMMRIG_TRY(rank.workspace.set_commit_count(0, 2));
         return rank.await(0, 2);
       },
       word(Code::kStalled, "commitTurnCnt.valid", "0x3ade68b1", "0x0"), three_turns},
      {"CommitLeftBehind", On::kUpstream, &RawRank::right,
       word(Code::kCounter, "commitTurnCnt.cnt", "0", "1", "an earlier one has left this"),
       operations(1),
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.right());
         return rank.commit(0, 1);
       }},
  };
}

std::vector<FaultRow> finished_rows() {
  const auto writes = [](std::uint64_t count) {
    return after_first_turn(
        [count](RawRank& rank) { return rank.workspace.set_finished_count(0, count); });
  };
  return {
      {"FinishedAboveDone", On::kBoth, writes(5),
       word(Code::kCounter, "finishedTurnCnt.cnt", "1", "5", "the server alone"), three_turns},
      {"FinishedGoesBack", On::kBoth, writes(0),
       word(Code::kCounter, "finishedTurnCnt.cnt", "1", "0", "the server alone"), three_turns},
      {"FinishedBeforeTheFirstTurn", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.workspace.set_finished_count(0, 1));
         COMMRIG_TRY(rank.submit(0, rank.message()));
         return rank.await(0, 2);
       },
       word(Code::kCounter, "finishedTurnCnt.cnt", "0", "1", "the server alone")},
      {"FinishedLeftBehind", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.perform(0, rank.message()));  // Its wait is over too early.
         return rank.await(0, 2);
       },
       word(Code::kCounter, "finishedTurnCnt.cnt", "0", "1", "an earlier one has left this"),
       operations(1),
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.perform(0, rank.message()));
         return rank.send_finalize(1);
       }},
  };
}

class CounterFault : public FaultTest {};
TEST_P(CounterFault, IsNamed) {
  run();
}
INSTANTIATE_TEST_SUITE_P(Commits, CounterFault, testing::ValuesIn(fault_cases(commit_rows())),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Finished, CounterFault, testing::ValuesIn(fault_cases(finished_rows())),
                         fault_name);

}  // namespace
}  // namespace commrig::mc2
