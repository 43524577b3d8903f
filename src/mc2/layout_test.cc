// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/layout.h"

#include <array>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace commrig::mc2 {
namespace {

const Layout& upstream() {
  return **find_layout("upstream-64");
}
const Layout& readme() {
  return **find_layout("readme-112");
}

// Name to {offset, width, signed} of a form, head included.
using Shape = std::map<std::string, std::array<std::uint32_t, 3>>;

Shape shape_of(const Layout& layout, const MessageForm& form) {
  Shape shape;
  for (const auto fields : {layout.head, form.tail}) {
    for (const MessageField& row : fields) {
      shape[std::string(row.field.name)] = {row.field.offset, row.field.width,
                                            row.field.is_signed ? 1U : 0U};
    }
  }
  return shape;
}

Shape with_head(Shape tail) {
  tail.merge(Shape{{"commType", {0, 4, 0}},
                   {"opType", {4, 4, 0}},
                   {"sendBuffer", {8, 8, 0}},
                   {"recvBuffer", {16, 8, 0}},
                   {"dataCnt", {24, 8, 0}},
                   {"strideCount", {32, 8, 0}}});
  return tail;
}

TEST(Layout, UpstreamRegionsLieWhereThePublicHeadersPutThem) {
  const Layout& l = upstream();
  EXPECT_EQ(l.message_bytes, 64U);
  EXPECT_EQ(l.send_messages, 0U);
  EXPECT_EQ(l.recv_messages, 0x1000U);
  EXPECT_EQ(l.commits, 0x4000U);
  EXPECT_EQ(l.finished, 0x5000U);
  EXPECT_EQ(l.side_messages, 0x106000U);
  EXPECT_EQ(l.side_message_at(l.slots), 0x187000U);
  EXPECT_EQ(l.end, 1605568U);
  EXPECT_EQ(l.message_at(3), 0xC0U);
  EXPECT_EQ(l.commit_at(3), 0x40C0U);
  EXPECT_EQ(l.finished_at(63), 0x5FC0U);
}

TEST(Layout, ReadmeRegionsLieWhereTheReadmePutsThem) {
  const Layout& l = readme();
  EXPECT_EQ(l.message_bytes, 112U);
  EXPECT_EQ(l.send_messages, 0U);
  EXPECT_EQ(l.recv_messages, 0x1C00U);
  EXPECT_EQ(l.commits, 0x5800U);
  EXPECT_EQ(l.finished, 0x6800U);
  EXPECT_FALSE(l.has_side_messages());
  EXPECT_EQ(l.end, l.finished_at(l.slots));
}

TEST(Layout, MasksAndLimitsAreThoseOfBothDocuments) {
  for (const Layout& l : all_layouts()) {
    EXPECT_EQ(l.valid, 0x5CDF123AU) << l.name;
    EXPECT_EQ(l.valid_taken, 0xA320EDC5U) << l.name;
    EXPECT_EQ(l.valid_taken, ~l.valid) << l.name;
    EXPECT_EQ(l.commit_valid, 0x3ADE68B1U) << l.name;
    EXPECT_EQ(l.finalize_finish, 0x112210F6CA9997FFU) << l.name;
    EXPECT_EQ(l.slots, 64U) << l.name;
    EXPECT_EQ(l.handles, 63U) << l.name;
    EXPECT_EQ(l.counter_bytes, 64U) << l.name;
    EXPECT_EQ(l.counter_valid.offset, 0U) << l.name;
    EXPECT_EQ(l.counter_count.offset, 8U) << l.name;
  }
}

TEST(Layout, UpstreamVersionZeroHasItsFields) {
  EXPECT_EQ(shape_of(upstream(), *find_form(upstream(), 0)),
            with_head({{"hcclDataType", {0x28, 4, 0}},
                       {"p2pSrcDestRankId", {0x2C, 4, 0}},
                       {"valid", {0x30, 4, 0}},
                       {"repeatCnt", {0x34, 1, 0}},
                       {"everyTurnRsp", {0x35, 1, 0}},
                       {"everyTurnWait", {0x36, 1, 0}},
                       {"commDepGroupID", {0x37, 1, 1}},
                       {"commDepHandleID", {0x38, 1, 1}},
                       {"selfHandleID", {0x39, 1, 1}},
                       {"seqNum", {0x3A, 1, 0}},
                       {"version", {0x3B, 1, 0}},
                       {"xorCheck", {0x3C, 4, 0}}}));
}

TEST(Layout, UpstreamVersionsOneToThreeShareAForm) {
  const Shape expected = with_head({{"ccOpTilingData", {0x28, 8, 0}},
                                    {"valid", {0x30, 4, 0}},
                                    {"hcclDataType", {0x34, 4, 0}},
                                    {"repeatCnt", {0x38, 1, 0}},
                                    {"selfHandleID", {0x39, 1, 1}},
                                    {"seqNum", {0x3A, 1, 0}},
                                    {"version", {0x3B, 1, 0}},
                                    {"xorCheck", {0x3C, 4, 0}}});
  for (std::uint8_t version = 1; version <= 3; ++version) {
    ASSERT_NE(find_form(upstream(), version), nullptr);
    EXPECT_EQ(shape_of(upstream(), *find_form(upstream(), version)), expected);
  }
  EXPECT_EQ(find_form(upstream(), 4), nullptr);
}

TEST(Layout, ReadmeHasOneFormAndInventsNothingBehindIt) {
  EXPECT_EQ(shape_of(readme(), *find_form(readme(), 0)),
            with_head({{"msgValid", {0x28, 4, 0}}, {"hcclDataType", {0x2C, 4, 0}}}));
  EXPECT_EQ(find_form(readme(), 1), nullptr);
}

TEST(Layout, FormsKeepTheSharedFieldsInOnePlaceAndOverlapNowhere) {
  for (const Layout& layout : all_layouts()) {
    for (const MessageForm& form : layout.forms) {
      ASSERT_NE(find_field(layout, form, Part::kValid), nullptr);
      EXPECT_EQ(find_field(layout, form, Part::kValid)->offset, layout.valid_offset);
      for (const Part part : {Part::kVersion, Part::kCheck}) {
        const Field* first = find_field(layout, layout.forms.front(), part);
        const Field* here = find_field(layout, form, part);
        ASSERT_EQ(first == nullptr, here == nullptr);
        if (here != nullptr) {
          EXPECT_EQ(here->offset, first->offset);
        }
      }
      EXPECT_EQ(find_field(layout, form, Part::kCheck) != nullptr, layout.has_check_word);
      EXPECT_EQ(find_field(layout, form, Part::kRepeat) != nullptr, layout.carries_repeat);
      std::set<std::uint32_t> taken;
      for (const auto fields : {layout.head, form.tail}) {
        for (const MessageField& row : fields) {
          for (std::uint32_t at = row.field.offset; at < row.field.end(); ++at) {
            EXPECT_TRUE(taken.insert(at).second) << layout.name << " " << row.field.name;
            EXPECT_LT(at, layout.message_bytes);
          }
        }
      }
    }
  }
}

TEST(Layout, CodesAreThoseOfTheDocuments) {
  using dtype::Dtype;
  using dtype::ReduceOp;
  EXPECT_EQ(code_of(upstream(), Command::kAllToAll), 10U);
  EXPECT_EQ(code_of(upstream(), Command::kHalfAllToAllV), 20U);
  EXPECT_EQ(code_of(upstream(), Command::kBarrier), 103U);
  EXPECT_EQ(code_of(upstream(), Dtype::kBf16), 11U);
  EXPECT_EQ(code_of(upstream(), Dtype::kFp8E8m0), 17U);
  EXPECT_EQ(code_of(readme(), Command::kAllToAll), 12U);
  EXPECT_EQ(code_of(readme(), Command::kAllGather), 6U);
  EXPECT_EQ(code_of(readme(), Command::kReduceScatter), 7U);
  EXPECT_EQ(code_of(readme(), Command::kAllReduce), 2U);
  EXPECT_EQ(code_of(readme(), Command::kAllToAllV), std::nullopt);
  const std::map<Dtype, std::uint32_t> dtypes{
      {Dtype::kFp32, 0}, {Dtype::kFp16, 1},       {Dtype::kInt8, 2},    {Dtype::kInt32, 3},
      {Dtype::kBf16, 5}, {Dtype::kFp8E4m3fn, 12}, {Dtype::kFp8E5m2, 13}};
  for (const auto& [dtype, code] : dtypes) EXPECT_EQ(code_of(readme(), dtype), code);
  EXPECT_EQ(readme().dtypes.size(), dtypes.size());
  for (const Layout& layout : all_layouts()) {
    EXPECT_EQ(code_of(layout, ReduceOp::kSum), 0U);
    EXPECT_EQ(code_of(layout, ReduceOp::kProd), 1U);
    EXPECT_EQ(code_of(layout, ReduceOp::kMax), 2U);
    EXPECT_EQ(code_of(layout, ReduceOp::kMin), 3U);
  }
}

TEST(Layout, EveryCodeIsUniqueAndReadsBack) {
  const auto check = [](const Layout& layout, auto rows, auto back) {
    std::set<std::uint32_t> codes;
    for (const auto& row : rows) {
      EXPECT_TRUE(codes.insert(row.code).second) << layout.name << " " << row.code;
      EXPECT_EQ(code_of(layout, row.value), row.code);
      EXPECT_EQ(back(layout, row.code), row.value);
    }
  };
  for (const Layout& layout : all_layouts()) {
    check(layout, layout.commands, command_of);
    check(layout, layout.dtypes, dtype_of);
    check(layout, layout.ops, op_of);
    EXPECT_EQ(code_of(layout, Command::kInvalid), std::nullopt);
  }
  for (const Command command : all_commands()) {
    EXPECT_TRUE(code_of(upstream(), command)) << name(command);
  }
}

TEST(Layout, CommandNamesAreUnique) {
  std::set<std::string_view> names;
  for (const Command command : all_commands()) EXPECT_TRUE(names.insert(name(command)).second);
  EXPECT_EQ(names.size(), 23U);
  EXPECT_EQ(name(Command::kAllGather), "all-gather");
  EXPECT_EQ(name(Command::kInvalid), "invalid");
  EXPECT_TRUE(is_reduction(Command::kReduceScatter));
  EXPECT_FALSE(is_reduction(Command::kAllGather));
  EXPECT_TRUE(is_control(Command::kGroupSync));
  EXPECT_FALSE(is_control(Command::kInvalid));
}

TEST(Layout, NumbersAreExplainedAcrossLayouts) {
  EXPECT_EQ(describe_command_code(upstream(), 12), "12 is SCATTER here, AlltoAll in readme-112");
  EXPECT_EQ(describe_command_code(readme(), 10), "10 is ALLTOALL in upstream-64");
  EXPECT_EQ(describe_command_code(upstream(), 21), "21 is ALL here");
  EXPECT_EQ(describe_command_code(upstream(), 19), "");
  EXPECT_EQ(describe_dtype_code(upstream(), 18), "18 is MXFP8 (kernel side only) here");
  EXPECT_EQ(describe_dtype_code(readme(), 11), "11 is BFP16 in upstream-64");
  EXPECT_EQ(describe_op_code(readme(), 4), "4 is RESERVED (no reduction) in upstream-64");
}

TEST(Layout, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const auto found = find_layout("upstream-128");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kUnknownLayout);
  EXPECT_NE(found.error().message.find("upstream-64, readme-112"), std::string::npos);
}

TEST(Layout, FieldsAreLittleEndianAndKeepTheirSign) {
  std::array<std::byte, 8> bytes{};
  const Field wide{.name = "wide", .offset = 0, .width = 8};
  const Field word{.name = "word", .offset = 4, .width = 4};
  const Field small{.name = "small", .offset = 0, .width = 1, .is_signed = true, .count = 2};
  store(bytes, wide, 0x0102030405060708);
  EXPECT_EQ(bytes[0], std::byte{8});
  EXPECT_EQ(load(bytes, word), 0x01020304U);
  store(bytes, small, static_cast<std::uint64_t>(-2), 1);
  EXPECT_EQ(load(bytes, wide), 0x010203040506FE08U);
  EXPECT_EQ(static_cast<std::int64_t>(load(bytes, small, 1)), -2);
}

}  // namespace
}  // namespace commrig::mc2
