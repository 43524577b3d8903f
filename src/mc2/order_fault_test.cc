// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/fault_fixture_for_test.h"
#include "mc2/side_message.h"

// Right words at the wrong time or in the wrong place, see docs/mc2-faults.md.
namespace commrig::mc2 {
namespace {

std::function<Finding(FaultRig&)> at(Code code, std::uint32_t slot, Part part, std::string expected,
                                     std::string found, std::string detail = {}) {
  return [=](FaultRig& rig) { return rig.at(code, slot, part, expected, found, detail); };
}
std::function<Finding(FaultRig&)> word(Code code, std::string field, std::string expected,
                                       std::string found, std::string detail = {}) {
  return [=](FaultRig& rig) { return rig.word(code, 0, field, expected, found, detail); };
}

Message reduce(const RawRank& rank, int number) {
  Message message = rank.message(number);
  message.command = Command::kAllReduce;
  message.op = dtype::ReduceOp::kSum;
  return message;
}

// The first operation is right, the second says this.
RawKernel second(std::function<void(Message&)> change) {
  return [change = std::move(change)](RawRank& rank) -> Status {
    COMMRIG_TRY(rank.perform(0, rank.message()));
    Message message = rank.message(1);
    change(message);
    return rank.perform(1, message);
  };
}

// Two operations in the order of their numbers, or the other way round.
RawKernel both(bool gather_first) {
  return [gather_first](RawRank& rank) -> Status {
    COMMRIG_TRY(rank.submit(0, gather_first ? rank.message(0) : reduce(rank, 0)));
    COMMRIG_TRY(rank.submit(1, gather_first ? reduce(rank, 1) : rank.message(1)));
    return rank.await(1, 1);
  };
}

std::vector<FaultRow> slot_rows() {
  return {
      {"MessageSkipsASlot", On::kBoth,
       [](RawRank& rank) { return rank.perform(1, rank.message()); },
       word(Code::kWrongSlot, "sendMsgs.valid", "a message", "none", "stands in slot 1")},
      {"SlotUsedTwice", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.perform(0, rank.message()));
         COMMRIG_TRY(rank.write(0, rank.message(1)));
         return rank.await(0, 2);
       },
       word(Code::kWrongSlot, "sendMsgs.valid", "0xa320edc5", "0x5cdf123a", "a second message"),
       operations(2)},
      {"SlotsInAnotherOrder", On::kBoth, both(false),
       at(Code::kGroupMismatch, 0, Part::kCommand, "all-gather", "all-reduce"), both(true)},
      {"SequenceRepeated", On::kUpstream, second([](Message& message) { message.sequence = 0; }),
       at(Code::kSequenceNumber, 1, Part::kSequence, "1", "0"), operations(2)},
      {"SequenceGoesOnInTheNextKernel", On::kUpstream,
       [](RawRank& rank) -> Status {
         Message message = rank.message();
         message.sequence = 1;
         return rank.perform(0, message);
       },
       at(Code::kSequenceNumber, 0, Part::kSequence, "0", "1"), operations(1), &RawRank::right},
      {"HandleRepeated", On::kUpstream, second([](Message& message) { message.handle = 0; }),
       at(Code::kBadHandle, 1, Part::kHandle, "1", "0"), operations(2)},
  };
}

std::vector<FaultRow> end_rows() {
  const std::string gather = "all-gather";
  return {
      {"FinalizeBeforeTheLastTurn", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.submit(0, rank.turns()));
         return rank.finalize(1);
       },
       word(Code::kClientState, "commitTurnCnt.cnt", "at least 2", "1", "the finalize message"),
       three_turns},
      {"FinalizeBeforeTheOthersLastTurn",
       On::kReadme,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.perform(0, rank.turns()));
         return rank.finalize(1);
       },
       at(Code::kGroupMismatch, 0, Part::kCommand, gather, "finalize", "for turn 2 of slot 0"),
       three_turns,
       {},
       {kGuilty}},
      {"FinalizeBeforeTheDoneTurns", On::kReadme,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.write(0, rank.turns()));
         COMMRIG_TRY(rank.commit(0, 2));
         return rank.finalize(1);
       },
       word(Code::kClientState, "finishedTurnCnt.cnt", "2", "0", "finalize message in slot 1"),
       [](RawRank& rank) -> Status {  // They commit nothing, so no turn is done.
         const auto number = static_cast<std::size_t>(rank.context.rank());
         COMMRIG_ASSIGN(const device::Window flag,
                        rank.context.window(rank.rig.recv[number], 8, 8));
         return rank.context.wait<std::uint64_t>(flag, 0, Compare::kEqual, 7, {.what = "a flag"});
       }},
      {"FinalizeWhileTheOthersGoOn",
       On::kBoth,
       [](RawRank& rank) { return rank.finalize(0); },
       at(Code::kGroupMismatch, 0, Part::kCommand, gather, "finalize", "for turn 1 of slot 0"),
       operations(1),
       {},
       {kGuilty}},
      {"SecondFinalize",
       On::kBoth,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.right());
         return rank.finalize(0);
       },
       at(Code::kClientState, 0, Part::kCommand, "the end of the kernel", "finalize",
          "has finalized before"),
       operations(1),
       {},
       {0, 2}},
      {"MessageAfterFinalize",
       On::kBoth,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.right());
         return rank.perform(0, rank.message());
       },
       at(Code::kClientState, 0, Part::kCommand, "the end of the kernel", gather,
          "has finalized before"),
       operations(1),
       {},
       {0, 2}},
  };
}

// Side messages come before their messages.
Message empty_all_to_all_v(const RawRank& rank) {
  Message message = rank.message();
  message.command = Command::kAllToAllV;
  message.count = 0;
  return message;
}
Status write_empty_side(const RawRank& rank) {
  std::vector<std::byte> bytes(kSideMessageBytes);
  const auto ranks = static_cast<std::uint32_t>(rank.rig.ranks());
  COMMRIG_TRY(encode_side(rank.layout, SideMessage{}, ranks, bytes));
  return rank.workspace.write_side_message(0, bytes);
}
Status exchange(RawRank& rank) {
  COMMRIG_TRY(write_empty_side(rank));
  COMMRIG_TRY(rank.perform(0, empty_all_to_all_v(rank)));
  return rank.finalize(1);
}

std::function<Finding(FaultRig&)> side_valid(std::string found) {
  return [=](FaultRig& rig) {
    const std::uint64_t offset = rig.layout().side_message_at(0) + side_valid_field().offset;
    return Finding{.code = Code::kSideMessage,
                   .rank = kGuilty,
                   .slot = 0,
                   .field = "valid",
                   .offset = static_cast<std::int64_t>(offset),
                   .expected = "0x5cdf123a",
                   .found = found,
                   .detail = "written before its message"};
  };
}

std::vector<FaultRow> side_rows() {
  return {
      {"SideMessageAfterItsMessage", On::kUpstream,
       [](RawRank& rank) -> Status {
         COMMRIG_TRY(rank.submit(0, empty_all_to_all_v(rank)));
         // Until the server has looked.
         const Status ended = rank.await(0, 1);
         COMMRIG_TRY(write_empty_side(rank));
         return ended;
       },
       side_valid("0x0"), exchange},
  };
}

class OrderFault : public FaultTest {};
TEST_P(OrderFault, IsNamed) {
  run();
}
INSTANTIATE_TEST_SUITE_P(Slots, OrderFault, testing::ValuesIn(fault_cases(slot_rows())),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Ends, OrderFault, testing::ValuesIn(fault_cases(end_rows())), fault_name);
INSTANTIATE_TEST_SUITE_P(Sides, OrderFault, testing::ValuesIn(fault_cases(side_rows())),
                         fault_name);

// The tables of an earlier kernel still stand in the side area; the server has marked them.
TEST(OrderFaultSide, SideMessageOfAnEarlierKernelDoesNotCount) {
  const CapturedLog log;
  FaultRig rig("upstream-64");
  for (int kernel = 0; kernel < 2; ++kernel) {
    for (int rank = 0; rank < rig.ranks(); ++rank) {
      rig.launch_raw(rank, [&rig, kernel](device::KernelContext& context) -> Status {
        RawRank raw(rig, context);
        if (kernel == 0 || context.rank() != kGuilty) return exchange(raw);
        return raw.perform(0, empty_all_to_all_v(raw));
      });
    }
  }
  expect_finding(rig, log, side_valid("0xa320edc5")(rig));
}

}  // namespace
}  // namespace commrig::mc2
