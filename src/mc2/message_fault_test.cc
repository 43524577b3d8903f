// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <limits>
#include <utility>

#include "mc2/fault_fixture_for_test.h"
#include "mc2/side_message.h"

// What can be wrong in a message, see docs/mc2-faults.md.
namespace commrig::mc2 {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;

constexpr std::uint32_t kValid = 0x5CDF123A;

std::string hex(const void* address) {
  return "0x" + [&] {
    std::string digits;
    for (auto value = reinterpret_cast<std::uintptr_t>(address); value != 0; value /= 16) {
      digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
    }
    return digits;
  }();
}

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

Message all_reduce(const RawRank& rank) {
  Message message = rank.message();
  message.command = Command::kAllReduce;
  message.op = ReduceOp::kSum;
  return message;
}

// The right message with one field changed, committed and waited for.
RawKernel with(Part part, std::function<std::uint64_t(const RawRank&)> value,
               std::function<Message(const RawRank&)> base = {}) {
  return [=](RawRank& rank) -> Status {
    std::vector<std::byte> bytes = rank.bytes(base ? base(rank) : rank.message());
    rank.patch(bytes, part, value(rank));
    COMMRIG_TRY(rank.write(0, bytes));
    COMMRIG_TRY(rank.commit(0, 1));
    return rank.await(0, 1);
  };
}
RawKernel with(Part part, std::uint64_t value, std::function<Message(const RawRank&)> base = {}) {
  return with(part, [value](const RawRank&) { return value; }, std::move(base));
}
RawKernel reduces(Part part, std::uint64_t value) {
  return with(part, value, all_reduce);
}
Status all_reduces(RawRank& rank) {
  COMMRIG_TRY(rank.perform(0, all_reduce(rank)));
  return rank.finalize(1);
}
Message strided(const RawRank& rank) {
  Message message = rank.message();
  message.stride = 2 * kFaultCount;
  return message;
}
Status strides(RawRank& rank) {
  COMMRIG_TRY(rank.perform(0, strided(rank)));
  return rank.finalize(1);
}

// "...of upstream-64"
std::string of(const std::string& text, FaultRig& rig) {
  return text + " of " + std::string(rig.layout().name);
}
std::function<Finding(FaultRig&)> at(Code code, Part part, std::string expected, std::string found,
                                     std::string detail = {}) {
  return [=](FaultRig& rig) { return rig.at(code, 0, part, expected, found, detail); };
}

const std::string kServed = "all-reduce, all-gather, reduce-scatter, all-to-all or all-to-all-v";
const std::string kBytes = "256 bytes of live device memory";

std::vector<FaultRow> code_rows() {
  const auto unserved = [](std::string name, std::uint64_t code, std::string command) {
    return FaultRow{std::move(name), On::kUpstream, with(Part::kCommand, code),
                    at(Code::kUnsupportedCommand, Part::kCommand, kServed, std::move(command))};
  };
  const auto unknown = [](const char* found) {
    return [found](FaultRig& rig) {
      return rig.at(Code::kUnknownCommand, 0, Part::kCommand, of("a command code", rig), found);
    };
  };
  const auto bad_op = [](const char* found) {
    return [found](FaultRig& rig) {
      return rig.at(Code::kBadOpCode, 0, Part::kOp, of("a reduction", rig), found);
    };
  };
  return {
      {"UnknownCommand", On::kBoth, with(Part::kCommand, 77), unknown("77")},
      {"InvalidCommand", On::kBoth, with(Part::kCommand, 0), unknown("0")},
      unserved("CommandNotServed", 1, "broadcast"),
      unserved("AllToAllByTheCodeOfReadme", 12, "scatter"),
      {"AllToAllByTheCodeOfUpstream", On::kReadme, with(Part::kCommand, 10), unknown("10")},
      unserved("GroupSync", 101, "group-sync"),
      unserved("Init", 102, "init"),
      unserved("Barrier", 103, "barrier"),
      {"ControlCodeThatReadmeLacks", On::kReadme, with(Part::kCommand, 101), unknown("101")},
      {"UnknownDtype", On::kBoth, with(Part::kDtype, 99),
       [](FaultRig& rig) {
         return rig.at(Code::kBadDtypeCode, 0, Part::kDtype, of("an element type code", rig), "99");
       }},
      {"DtypeWithoutArithmetic", On::kUpstream, reduces(Part::kDtype, 14),
       at(Code::kNoArithmetic, Part::kDtype, "a type with arithmetic", "hif8"), all_reduces},
      {"UnknownOp", On::kBoth, reduces(Part::kOp, 9), bad_op("9"), all_reduces},
      {"NoOpInAReduction", On::kBoth, reduces(Part::kOp, 4), bad_op("4"), all_reduces},
      {"OpWithoutAReduction", On::kUpstream, with(Part::kOp, 0),
       at(Code::kBadOpCode, Part::kOp, "4", "0", "reduces nothing")},
      {"UnknownVersion", On::kUpstream, with(Part::kVersion, 4),
       [](FaultRig& rig) {
         return rig.at(Code::kBadVersion, 0, Part::kVersion, of("a version", rig), "4");
       }},
      {"VersionOfAControlMessage", On::kUpstream,
       with(Part::kVersion, 1, [](const RawRank&) { return finalize_message(); }),
       at(Code::kBadVersion, Part::kVersion, "0, as in every control message", "1")},
      {"WrongCheckWord", On::kUpstream,
       [](RawRank& rank) -> Status {
         std::vector<std::byte> bytes = rank.bytes(rank.message());
         bytes[0x3C] ^= std::byte{0x10};
         COMMRIG_TRY(rank.write(0, bytes));
         return rank.await(0, 1);
       },
       at(Code::kCheckWord, Part::kCheck, "*", "*")},
  };
}

std::vector<FaultRow> buffer_rows() {
  const auto buffer = [](std::string name, Part part, auto address, std::string expected,
                         std::string detail) {
    return FaultRow{std::move(name), On::kBoth,
                    with(part, [=](const RawRank& rank) { return number(address(rank.rig)); }),
                    [=](FaultRig& rig) {
                      return rig.at(Code::kShortBuffer, 0, part, expected, hex(address(rig)),
                                    detail);
                    }};
  };
  static const float host = 0;
  const auto small = [](FaultRig& rig) { return static_cast<const void*>(rig.small); };
  return {
      {"NullSource", On::kBoth, with(Part::kSend, 0),
       at(Code::kNullBuffer, Part::kSend, "a device address", "0")},
      {"NullTarget", On::kBoth, with(Part::kRecv, 0),
       at(Code::kNullBuffer, Part::kRecv, "a device address", "0")},
      buffer("ShortSource", Part::kSend, small, kBytes, "CR-MEM03"),
      buffer("ShortTarget", Part::kRecv, small, "768 bytes of live device memory", "CR-MEM03"),
      buffer(
          "FreedSource", Part::kSend,
          [](FaultRig& rig) { return static_cast<const void*>(rig.freed); }, kBytes, "CR-MEM02"),
      buffer(
          "HostSource", Part::kSend, [](FaultRig&) { return static_cast<const void*>(&host); },
          kBytes, "CR-MEM01"),
      buffer(
          "MisalignedSource", Part::kSend,
          [](FaultRig& rig) {
            return static_cast<const void*>(reinterpret_cast<const char*>(rig.send[1]) + 2);
          },
          kBytes, "CR-MEM04"),
      {"SourceInsideTheTarget", On::kBoth,
       with(Part::kSend, [](const RawRank& rank) { return number(rank.rig.recv[1]); }),
       [](FaultRig& rig) {
         return rig.at(Code::kBuffersOverlap, 0, Part::kRecv,
                       hex(rig.recv[1] - kFaultCount) + " or separate memory", hex(rig.recv[1]));
       }},
      {"TargetOfAnotherRank", On::kBoth,
       with(Part::kRecv, [](const RawRank& rank) { return number(rank.rig.recv[0]); }),
       [](FaultRig& rig) {  // Of the two that share it, the lower rank is named first.
         Finding finding = rig.at(Code::kBuffersOverlap, 0, Part::kRecv,
                                  "memory that no other rank uses", hex(rig.recv[0]), "of rank 1");
         finding.rank = 0;
         return finding;
       }},
  };
}

std::vector<FaultRow> number_rows() {
  return {
      {"CountZero", On::kBoth, with(Part::kCount, 0),
       at(Code::kCountZero, Part::kCount, "at least 1", "0")},
      {"CountBeyondTheAddressSpace", On::kBoth,
       with(Part::kCount, std::numeric_limits<std::uint64_t>::max() / 4),
       at(Code::kCountZero, Part::kCount, "a size that fits 64 bits", "4611686018427387903"),
       operations(1)},
      {"CountBeyondTheBuffer", On::kBoth, with(Part::kCount, 257),
       [](FaultRig& rig) {
         return rig.at(Code::kShortBuffer, 0, Part::kSend, "1028 bytes of live device memory",
                       hex(rig.send[1]), "CR-MEM03");
       }},
      {"RepeatZero", On::kUpstream, with(Part::kRepeat, 0),
       at(Code::kZeroRepeat, Part::kRepeat, "1 to 255", "0")},
      {"StrideTooSmall", On::kBoth, with(Part::kStride, 63),
       at(Code::kStrideTooSmall, Part::kStride, "at least 64 x 1", "63")},
      {"HandleAhead", On::kUpstream, with(Part::kHandle, 1),
       at(Code::kBadHandle, Part::kHandle, "0", "1")},
      {"HandleNegative", On::kUpstream, with(Part::kHandle, 255),
       at(Code::kBadHandle, Part::kHandle, "0", "-1")},
      {"SequenceAhead", On::kUpstream, with(Part::kSequence, 1),
       at(Code::kSequenceNumber, Part::kSequence, "0", "1")},
      {"OtherCommand", On::kBoth, with(Part::kCommand, 2, all_reduce),
       at(Code::kGroupMismatch, Part::kCommand, "all-gather", "all-reduce",
          "ranks 0,2: all-gather; rank 1: all-reduce")},
      {"OtherCount", On::kBoth, with(Part::kCount, 63),
       at(Code::kGroupMismatch, Part::kCount, "64", "63")},
      {"OtherDtype", On::kBoth,
       with(Part::kDtype, [](const RawRank& rank) { return *code_of(rank.layout, Dtype::kInt32); }),
       at(Code::kGroupMismatch, Part::kDtype, "fp32", "int32")},
      {"OtherOp", On::kBoth, reduces(Part::kOp, 2),
       at(Code::kGroupMismatch, Part::kOp, "sum", "max"), all_reduces},
      {"OtherStride", On::kBoth, with(Part::kStride, 80),
       at(Code::kGroupMismatch, Part::kStride, "128", "80"), strides},
      {"OtherRepeat", On::kUpstream, with(Part::kRepeat, 2, strided),
       at(Code::kGroupMismatch, Part::kRepeat, "1", "2"), strides},
  };
}

// Side messages: rank r sends one element to each rank.
Message all_to_all_v(const RawRank& rank) {
  Message message = rank.message();
  message.command = Command::kAllToAllV;
  message.count = 0;
  return message;
}
RawKernel side(
    const std::function<void(const RawRank&, SideMessage&, std::vector<std::byte>&)>& change) {
  return [change](RawRank& rank) -> Status {
    SideMessage table;
    const auto ranks = static_cast<std::size_t>(rank.rig.ranks());
    for (std::size_t other = 0; other < ranks; ++other) {
      table.send_counts[other] = table.recv_counts[other] = 1;
      table.send_offsets[other] = table.recv_offsets[other] = other;
    }
    std::vector<std::byte> bytes(kSideMessageBytes);
    change(rank, table, bytes);
    if (load(bytes, side_valid_field()) == 0) {
      COMMRIG_TRY(encode_side(rank.layout, table, static_cast<std::uint32_t>(ranks), bytes));
      change(rank, table, bytes);
    }
    COMMRIG_TRY(rank.workspace.write_side_message(0, bytes));
    COMMRIG_TRY(rank.perform(0, all_to_all_v(rank)));
    return rank.finalize(1);
  };
}
RawKernel right_side() {
  return side([](const RawRank&, SideMessage&, std::vector<std::byte>&) {});
}
std::function<Finding(FaultRig&)> side_field(std::string field, std::int64_t offset,
                                             std::string expected, std::string found,
                                             std::string detail = {}) {
  return [=](FaultRig& rig) {
    return Finding{.code = Code::kSideMessage,
                   .rank = kGuilty,
                   .slot = 0,
                   .field = field,
                   .offset = static_cast<std::int64_t>(rig.layout().side_messages) + offset,
                   .expected = expected,
                   .found = found,
                   .detail = detail};
  };
}

std::vector<FaultRow> side_rows() {
  const auto only_message = [](RawRank& rank) { return rank.perform(0, all_to_all_v(rank)); };
  return {
      {"SideMessageMissing", On::kUpstream, only_message,
       side_field("valid", 0x2030, "0x5cdf123a", "0x0", "before its message"), right_side()},
      {"SideMessageNotValid", On::kUpstream,
       side([](const RawRank&, SideMessage&, std::vector<std::byte>& bytes) {
         store(bytes, side_valid_field(), 7);
       }),
       side_field("valid", 0x2030, "0x5cdf123a", "0x7"), right_side()},
      {"SideMessageWithWrongCheckWord", On::kUpstream,
       side([](const RawRank&, SideMessage&, std::vector<std::byte>& bytes) {
         bytes[0x1008] ^= std::byte{2};
       }),
       side_field("xorCheck", 0x2038, "*", "*"), right_side()},
      {"TablesDisagree", On::kUpstream,
       side([](const RawRank&, SideMessage& table, std::vector<std::byte>&) {
         table.recv_counts[2] = 0;
       }),
       side_field("recvCounts[2]", 0x1010, "1", "0", "rank 2 sends 1 elements to rank 1"),
       right_side()},
  };
}

class MessageFault : public FaultTest {};
TEST_P(MessageFault, IsNamed) {
  run();
}
INSTANTIATE_TEST_SUITE_P(Codes, MessageFault, testing::ValuesIn(fault_cases(code_rows())),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Buffers, MessageFault, testing::ValuesIn(fault_cases(buffer_rows())),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Numbers, MessageFault, testing::ValuesIn(fault_cases(number_rows())),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Tables, MessageFault, testing::ValuesIn(fault_cases(side_rows())),
                         fault_name);

// Both ranks submit the same all-gather or all-reduce; one bit of rank 1's has changed.
void run_flipped(FaultRig& rig, std::uint32_t bit, bool reduce) {
  for (int rank = 0; rank < 2; ++rank) {
    rig.launch_raw(rank, [&rig, bit, reduce](device::KernelContext& context) -> Status {
      RawRank raw(rig, context);
      std::vector<std::byte> bytes = raw.bytes(reduce ? all_reduce(raw) : strided(raw));
      if (context.rank() == kGuilty) bytes[bit / 8] ^= std::byte{1} << bit % 8;
      COMMRIG_TRY(raw.write(0, bytes));
      COMMRIG_TRY(raw.commit(0, 1));
      COMMRIG_TRY(raw.await(0, 1));
      return raw.finalize(1);
    });
  }
}

TEST(MessageFaultBits, EveryFlippedBitOfAnUpstreamMessageIsNamed) {
  const std::uint32_t valid_bit = 0x30 * 8;
  for (std::uint32_t bit = 0; bit < 512; ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit));
    const CapturedLog log;
    FaultRig rig("upstream-64", 2);
    run_flipped(rig, bit, bit % 2 == 0);
    if (bit >= valid_bit && bit < valid_bit + 32) {
      const std::uint32_t word = kValid ^ (1U << (bit - valid_bit));
      expect_finding(rig, log,
                     rig.word(Code::kStalled, 0, "sendMsgs.valid", "a message",
                              hex(reinterpret_cast<const void*>(std::uintptr_t{word}))));
    } else {
      expect_finding(rig, log, rig.at(Code::kCheckWord, 0, Part::kCheck, "*", "*"));
    }
  }
}

// Without a check word, a bit is found where it changes what the message says. Of an address, only
// bits are tried that can't lead to other live memory; a wrong address inside it is not seen.
TEST(MessageFaultBits, FlippedBitsOfAReadmeMessageAreNamedByTheChecksThatRemain) {
  const Layout& layout = **find_layout("readme-112");
  const auto flip = [&](Part part, std::uint32_t bit, bool reduce) {
    const Field& field = *find_field(layout, layout.forms.front(), part);
    SCOPED_TRACE(std::string(field.name) + " bit " + std::to_string(bit));
    const CapturedLog log;
    FaultRig rig("readme-112", 2);
    run_flipped(rig, field.offset * 8 + bit, reduce);
    for (const Status& stream : rig.synchronize()) EXPECT_FALSE(stream.has_value());
    const std::optional<Finding> found = rig.group().finding();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->rank, kGuilty) << sentence(*found);
    EXPECT_EQ(found->slot, 0);
    // More elements than a buffer holds are the buffer's fault.
    if (part != Part::kCount && part != Part::kStride) {
      EXPECT_EQ(found->field, field.name);
    }
    EXPECT_EQ(log.all().size(), 1U);
  };
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    for (const Part part : {Part::kCommand, Part::kDtype, Part::kValid}) flip(part, bit, false);
    flip(Part::kOp, bit, true);
  }
  for (std::uint32_t bit = 0; bit < 64; ++bit) {
    flip(Part::kCount, bit, true);
    flip(Part::kStride, bit, false);
    if (bit < 2 || bit >= 48) flip(Part::kSend, bit, true);
    if (bit < 2 || bit >= 48) flip(Part::kRecv, bit, true);
  }
}

TEST(MessageFaultBits, BitsThatReadmeGivesNoMeaningChangeNothing) {
  for (std::uint32_t bit = 0x30 * 8; bit < 112 * 8; bit += 13) {
    FaultRig rig("readme-112", 2);
    run_flipped(rig, bit, false);
    rig.expect_success();
  }
}

}  // namespace
}  // namespace commrig::mc2
