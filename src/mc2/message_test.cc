// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/message.h"

#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "mc2/layout.h"

namespace commrig::mc2 {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;
using Bytes = std::vector<std::byte>;

const Layout& upstream() {
  return **find_layout("upstream-64");
}
const Layout& readme() {
  return **find_layout("readme-112");
}

Message all_reduce() {
  return Message{.command = Command::kAllReduce,
                 .op = ReduceOp::kSum,
                 .send = 0x1000,
                 .recv = 0x2000,
                 .count = 7,
                 .dtype = Dtype::kFp16};
}

Bytes written(const Layout& layout, const Message& message) {
  Bytes bytes(layout.message_bytes, std::byte{0xEE});
  const Status status = encode(layout, message, bytes);
  EXPECT_TRUE(status) << (status ? "" : to_string(status.error()));
  return bytes;
}

// Changes one field and makes the check word right again.
void poke(const Layout& layout, Bytes& bytes, const Field& field, std::uint64_t value) {
  store(bytes, field, value);
  if (!layout.has_check_word) return;
  store(bytes, *find_field(layout, layout.forms.front(), Part::kCheck), check_word(layout, bytes));
}

const Field& field_of(const Layout& layout, std::uint8_t version, Part part) {
  return *find_field(layout, *find_form(layout, version), part);
}

// The finding about all_reduce() in slot 4 of rank 3, after one field was changed.
Finding finding_about(const Layout& layout, Part part, std::uint64_t value) {
  Bytes bytes = written(layout, all_reduce());
  poke(layout, bytes, field_of(layout, 0, part), value);
  Message message;
  const auto wrong = decode(layout, bytes, message_place(layout, 3, 4), message);
  return wrong.value_or(Finding{});
}

void expect_round_trip(const Layout& layout, const Message& message) {
  const Bytes bytes = written(layout, message);
  Message back;
  const auto wrong = decode(layout, bytes, Place{}, back);
  ASSERT_FALSE(wrong) << sentence(*wrong);
  EXPECT_EQ(back, message) << layout.name << " " << name(message.command);
}

Message with_command(Command command, std::optional<ReduceOp> op = std::nullopt) {
  if (is_control(command)) return Message{.command = command, .repeat = 0};
  Message message = all_reduce();
  message.command = command;
  message.op = is_reduction(command) ? op : std::nullopt;
  if (command == Command::kBatchWrite) message.dtype = Dtype::kInt8;
  return message;
}

TEST(Message, EveryCombinationOfCodesComesBack) {
  for (const Layout& layout : all_layouts()) {
    for (const auto& command : layout.commands) {
      for (const auto& op : layout.ops) {
        Message message = with_command(command.value, op.value);
        expect_round_trip(layout, message);
        if (is_control(command.value) || command.value == Command::kBatchWrite) continue;
        for (const auto& dtype : layout.dtypes) {
          message.dtype = dtype.value;
          expect_round_trip(layout, message);
        }
      }
    }
  }
}

TEST(Message, WhatALayoutHasNoCodeForIsRefusedByName) {
  Bytes bytes(112);
  const Status all_to_all_v = encode(readme(), with_command(Command::kAllToAllV), bytes);
  ASSERT_FALSE(all_to_all_v);
  EXPECT_EQ(all_to_all_v.error().code, Code::kUnsupportedCommand);
  EXPECT_NE(all_to_all_v.error().message.find("all-to-all-v"), std::string::npos);
  for (const Command command : all_commands()) {
    const Status status = encode(readme(), with_command(command, ReduceOp::kSum), bytes);
    EXPECT_EQ(status.has_value(), code_of(readme(), command).has_value()) << name(command);
  }
  for (const Layout& layout : all_layouts()) {
    EXPECT_EQ(encode(layout, Message{}, bytes).error().code, Code::kUnsupportedCommand);
    EXPECT_EQ(encode(layout, with_command(Command::kAllReduce), bytes).error().code,
              Code::kBadOpCode);
  }
  Message wide = all_reduce();
  wide.dtype = Dtype::kFp64;
  EXPECT_EQ(encode(readme(), wide, bytes).error().code, Code::kBadDtypeCode);
}

TEST(Message, EveryUnknownCommandCodeIsNamed) {
  for (const Layout& layout : all_layouts()) {
    for (std::uint32_t code = 0; code < 300; ++code) {
      if (command_of(layout, code)) continue;
      const Finding finding = finding_about(layout, Part::kCommand, code);
      EXPECT_EQ(finding.code, Code::kUnknownCommand) << layout.name << " " << code;
      EXPECT_EQ(finding.found, std::to_string(code));
      EXPECT_EQ(finding.detail, describe_command_code(layout, code));
      EXPECT_EQ(finding.field, "commType");
      EXPECT_EQ(finding.rank, 3);
      EXPECT_EQ(finding.slot, 4);
      EXPECT_EQ(finding.offset, static_cast<std::int64_t>(layout.message_at(4)));
    }
  }
  EXPECT_EQ(finding_about(readme(), Part::kCommand, 10).detail, "10 is ALLTOALL in upstream-64");
}

TEST(Message, EveryUnknownTypeCodeIsNamed) {
  for (const Layout& layout : all_layouts()) {
    const Field& field = field_of(layout, 0, Part::kDtype);
    for (std::uint32_t code = 0; code < 300; ++code) {
      if (dtype_of(layout, code)) continue;
      const Finding finding = finding_about(layout, Part::kDtype, code);
      EXPECT_EQ(finding.code, Code::kBadDtypeCode) << layout.name << " " << code;
      EXPECT_EQ(finding.found, std::to_string(code));
      EXPECT_EQ(finding.field, "hcclDataType");
      EXPECT_EQ(finding.offset, static_cast<std::int64_t>(layout.message_at(4) + field.offset));
    }
  }
  EXPECT_NE(finding_about(upstream(), Part::kDtype, 18).detail.find("MXFP8"), std::string::npos);
  EXPECT_NE(finding_about(upstream(), Part::kDtype, 13).detail.find("E5M2 in readme-112"),
            std::string::npos);
}

TEST(Message, EveryUnknownReductionIsNamedWhereOneIsNeeded) {
  for (const Layout& layout : all_layouts()) {
    for (const std::uint32_t code : {4U, 5U, 255U, 0xFFFFFFFFU}) {
      const Finding finding = finding_about(layout, Part::kOp, code);
      EXPECT_EQ(finding.code, Code::kBadOpCode);
      EXPECT_EQ(finding.field, "opType");
      EXPECT_EQ(finding.found, std::to_string(code));
    }
    Bytes bytes = written(layout, with_command(Command::kAllGather));
    poke(layout, bytes, field_of(layout, 0, Part::kOp), 99);
    Message message;
    EXPECT_FALSE(decode(layout, bytes, Place{}, message));
    EXPECT_EQ(message.op, std::nullopt);
    EXPECT_EQ(message.wire.op, 99U);
  }
}

TEST(Message, VersionsOneToThreeKeepTheTypeBehindTheValidWord) {
  for (std::uint8_t version = 1; version <= 3; ++version) {
    Message message = all_reduce();
    message.version = version;
    message.tiling = 0x1122334455667788;
    message.handle = -1;
    expect_round_trip(upstream(), message);
    const Bytes bytes = written(upstream(), message);
    EXPECT_EQ(bytes[0x28], std::byte{0x88});
    EXPECT_EQ(bytes[0x34], std::byte{3});
    EXPECT_EQ(bytes[0x39], std::byte{0xFF});
    EXPECT_EQ(bytes[0x3B], std::byte{version});
  }
}

TEST(Message, UnknownVersionsAreNamed) {
  for (const std::uint64_t version : {4ULL, 77ULL, 255ULL}) {
    const Finding finding = finding_about(upstream(), Part::kVersion, version);
    EXPECT_EQ(finding.code, Code::kBadVersion);
    EXPECT_EQ(finding.field, "version");
    EXPECT_EQ(finding.found, std::to_string(version));
    EXPECT_EQ(finding.offset, 4 * 64 + 0x3B);
  }
  Bytes bytes = written(upstream(), finalize_message());
  poke(upstream(), bytes, field_of(upstream(), 0, Part::kVersion), 2);
  Message message;
  EXPECT_EQ(decode(upstream(), bytes, Place{}, message)->code, Code::kBadVersion);
  message = all_reduce();
  message.version = 1;
  Bytes readme_bytes(112);
  EXPECT_EQ(encode(readme(), message, readme_bytes).error().code, Code::kBadVersion);
}

TEST(Message, ReadmeCarriesNoRepeatAndLeavesTheRestZero) {
  Message message = all_reduce();
  message.repeat = 9;
  message.handle = 3;
  message.sequence = 3;
  const Bytes bytes = written(readme(), message);
  EXPECT_EQ(Bytes(bytes.begin() + 0x30, bytes.end()), Bytes(64));
  EXPECT_EQ(load(bytes, Field{.name = "msgValid", .offset = 0x28, .width = 4}), 0x5CDF123AU);
  EXPECT_EQ(bytes[0x2C], std::byte{1});
  Message back;
  ASSERT_FALSE(decode(readme(), bytes, Place{}, back));
  EXPECT_EQ(back, all_reduce());
}

TEST(Message, BatchWriteKeepsQueuesInTheWordsOfTypeAndReduction) {
  Message message = with_command(Command::kBatchWrite);
  message.queue = 40;  // no element type has this number
  message.queue_row = 17;
  expect_round_trip(upstream(), message);
  EXPECT_EQ(written(upstream(), message)[0x28], std::byte{40});
}

TEST(Message, TooFewBytesAreAFinding) {
  for (const Layout& layout : all_layouts()) {
    Bytes bytes = written(layout, all_reduce());
    bytes.pop_back();
    Message message;
    EXPECT_EQ(decode(layout, bytes, Place{}, message)->code, Code::kWorkspaceTooSmall);
    EXPECT_EQ(encode(layout, all_reduce(), bytes).error().code, Code::kWorkspaceTooSmall);
    EXPECT_EQ(decode(layout, {}, Place{}, message)->offset, -1);
  }
}

template <class Rows>
auto pick(Rng& rng, const Rows& rows) {
  return rows[rng.below(rows.size())].value;
}

Message random_message(Rng& rng, const Layout& layout) {
  Message m = with_command(pick(rng, layout.commands), pick(rng, layout.ops));
  m.send = rng.next();
  m.recv = rng.next();
  m.count = rng.next();
  m.stride = rng.next();
  if (m.command == Command::kBatchWrite) {
    m.queue = static_cast<std::uint32_t>(rng.next());
    m.queue_row = static_cast<std::uint32_t>(rng.next());
  } else if (!is_control(m.command)) {
    m.dtype = pick(rng, layout.dtypes);
  }
  if (!layout.carries_repeat) return m;
  m.repeat = static_cast<std::uint8_t>(rng.next());
  m.handle = static_cast<std::int8_t>(rng.next());
  m.sequence = static_cast<std::uint8_t>(rng.next());
  m.version = is_control(m.command) ? std::uint8_t{0} : static_cast<std::uint8_t>(rng.below(4));
  if (m.version != 0) {
    m.tiling = rng.next();
    return m;
  }
  m.peer = static_cast<std::uint32_t>(rng.next());
  m.every_turn_response = static_cast<std::uint8_t>(rng.next());
  m.every_turn_wait = static_cast<std::uint8_t>(rng.next());
  m.dep_group = static_cast<std::int8_t>(rng.next());
  m.dep_handle = static_cast<std::int8_t>(rng.next());
  return m;
}

TEST(Message, RandomMessagesComeBack) {
  const std::uint64_t seed = seed_from_environment(20260107);
  std::cout << "COMMRIG_SEED=" << seed << "\n";
  Rng rng(seed);
  for (int i = 0; i < 5000; ++i) {
    for (const Layout& layout : all_layouts()) {
      expect_round_trip(layout, random_message(rng, layout));
      if (HasFailure()) FAIL() << "message " << i << " of seed " << seed;
    }
  }
}

}  // namespace
}  // namespace commrig::mc2
