// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/context.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace commrig::mc2 {
namespace {

using Bytes = std::vector<std::byte>;

const Layout& upstream() {
  return **find_layout("upstream-64");
}
const Layout& readme() {
  return **find_layout("readme-112");
}

struct Sample {
  std::vector<std::uint64_t> in;
  std::vector<std::uint64_t> out;
  ContextSpec spec;
};

Sample sample(std::uint32_t ranks, std::uint32_t rank) {
  Sample s;
  for (std::uint64_t i = 0; i < ranks; ++i) {
    s.in.push_back(0x7000'0000'0000 + i * 0x1000);
    s.out.push_back(0x7100'0000'0000 + i * 0x1000);
  }
  s.spec = ContextSpec{.workspace = 0x10'0010,
                       .workspace_bytes = kWorkspaceBytesMin,
                       .rank = rank,
                       .ranks = ranks,
                       .window_bytes = 200ULL << 20,
                       .windows_in = s.in,
                       .windows_out = s.out,
                       .multi_flag = 1,
                       .data = 0x11,
                       .data_bytes = 0x12,
                       .rma_info_bytes = 0x13,
                       .rma_info = 0x14,
                       .capability = 0x15,
                       .capability_bytes = 0x16,
                       .doorbell = 0xD00B};
  return s;
}

Bytes built(const ContextSpec& spec) {
  Bytes bytes(kContextBytes, std::byte{0xEE});
  const Status status = build_context(spec, bytes);
  EXPECT_TRUE(status) << (status ? "" : to_string(status.error()));
  return bytes;
}

std::uint64_t word(const Bytes& bytes, std::uint32_t offset, std::uint8_t width = 8) {
  return load(bytes, Field{.name = "word", .offset = offset, .width = width});
}

TEST(Context, FieldsLieWhereThePublicHeadersPutThem) {
  const std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> expected{
      {"workSpace", {0, 8}},       {"workSpaceSize", {8, 16}},   {"rankId", {16, 20}},
      {"rankNum", {20, 24}},       {"winSize", {24, 32}},        {"windowsIn", {32, 288}},
      {"windowsOut", {288, 544}},  {"res", {544, 8872}},         {"multiFlag", {8872, 8873}},
      {"data", {8880, 8888}},      {"dataSize", {8888, 8896}},   {"sizeOfAiRMAInfo", {8896, 8904}},
      {"aiRMAInfo", {8904, 8912}}, {"capability", {8912, 8920}}, {"capabilitySize", {8920, 8928}}};
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> found;
  for (const Field& field : context_fields()) {
    found[std::string(field.name)] = {field.offset, field.end()};
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(kContextBytes, 8928U);
}

TEST(Context, IsByteExact) {
  const Sample s = sample(3, 2);
  const Bytes bytes = built(s.spec);
  EXPECT_EQ(word(bytes, 0), 0x10'0010U);
  EXPECT_EQ(word(bytes, 8), 2U << 20);
  EXPECT_EQ(word(bytes, 16, 4), 2U);
  EXPECT_EQ(word(bytes, 20, 4), 3U);
  EXPECT_EQ(word(bytes, 24), 200U << 20);
  EXPECT_EQ(word(bytes, 32 + 8), 0x7000'0000'1000U);
  EXPECT_EQ(word(bytes, 32 + 24), 0U);
  EXPECT_EQ(word(bytes, 288 + 16), 0x7100'0000'2000U);
  EXPECT_EQ(word(bytes, 8872), 1U);
  EXPECT_EQ(word(bytes, 8880), 0x11U);
  EXPECT_EQ(word(bytes, 8888), 0x12U);
  EXPECT_EQ(word(bytes, 8896), 0x13U);
  EXPECT_EQ(word(bytes, 8904), 0x14U);
  EXPECT_EQ(word(bytes, 8912), 0x15U);
  EXPECT_EQ(word(bytes, 8920), 0x16U);
}

TEST(Context, OnlyTheDoorbellsPaddingIsUsedInsideRes) {
  Bytes bytes = built(sample(32, 0).spec);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&bytes[8592]), 8), "commrig1");
  EXPECT_EQ(word(bytes, 8600), 0xD00BU);
  std::fill(bytes.begin() + 8592, bytes.begin() + 8608, std::byte{0});
  EXPECT_TRUE(std::all_of(bytes.begin() + 544, bytes.begin() + 8872,
                          [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Context, AForeignContextHasNoDoorbell) {
  Sample s = sample(2, 0);
  s.spec.doorbell = 0;
  Bytes bytes = built(s.spec);
  EXPECT_EQ(word(bytes, 8592), 0U);
  store(bytes, Field{.name = "padding", .offset = 8600, .width = 8}, 0x1234);
  EXPECT_EQ(read_context(bytes, upstream())->doorbell, 0U);
}

TEST(Context, ReadsBackForEveryRankOfEveryCount) {
  for (const std::uint32_t ranks : {1U, 2U, 31U, 32U, 33U, 255U, 256U}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Sample s = sample(ranks, rank);
      const auto view = read_context(built(s.spec), upstream());
      ASSERT_TRUE(view) << to_string(view.error());
      EXPECT_EQ(view->workspace, 0x10'0010U);
      EXPECT_EQ(view->base, 0x10'0200U);
      EXPECT_EQ(view->rank, rank);
      EXPECT_EQ(view->ranks, ranks);
      EXPECT_EQ(view->window_bytes, 200U << 20);
      const auto direct = std::min(ranks, kContextRanks);
      EXPECT_TRUE(std::equal(s.in.begin(), s.in.begin() + direct, view->windows_in.begin()));
      EXPECT_TRUE(std::equal(s.out.begin(), s.out.begin() + direct, view->windows_out.begin()));
      EXPECT_EQ(view->multi_flag, 1U);
      EXPECT_EQ(view->data, 0x11U);
      EXPECT_EQ(view->data_bytes, 0x12U);
      EXPECT_EQ(view->rma_info_bytes, 0x13U);
      EXPECT_EQ(view->rma_info, 0x14U);
      EXPECT_EQ(view->capability, 0x15U);
      EXPECT_EQ(view->capability_bytes, 0x16U);
      EXPECT_EQ(view->doorbell, 0xD00BU);
    }
  }
}

TEST(Context, ShorterFormsReadAsIfTheRestWereZero) {
  const Bytes bytes = built(sample(2, 1).spec);
  for (const std::size_t size : {8888U, 8912U}) {
    const auto view = read_context(std::span(bytes).first(size), upstream());
    ASSERT_TRUE(view);
    EXPECT_EQ(view->data, 0x11U);
    EXPECT_EQ(view->rma_info, size == 8912 ? 0x14U : 0U);
    EXPECT_EQ(view->capability, 0U);
  }
  EXPECT_EQ(read_context(std::span(bytes).first(8887), upstream()).error().code, Code::kBadContext);
}

Code build_code(const ContextSpec& spec) {
  Bytes bytes(kContextBytes);
  return build_context(spec, bytes).error().code;
}

TEST(Context, WhatDoesNotFitIsNotBuilt) {
  const Sample good = sample(32, 31);
  ContextSpec spec = good.spec;
  spec.multi_flag = 0;
  spec.ranks = 33;
  EXPECT_EQ(build_code(spec), Code::kRankCount);
  spec.multi_flag = 1;
  spec.ranks = 257;
  EXPECT_EQ(build_code(spec), Code::kRankCount);
  spec.ranks = 0;
  EXPECT_EQ(build_code(spec), Code::kRankCount);
  spec = good.spec;
  spec.rank = 32;
  EXPECT_EQ(build_code(spec), Code::kBadContext);
  spec = good.spec;
  spec.windows_out = spec.windows_out.first(31);
  EXPECT_EQ(build_code(spec), Code::kBadContext);
  spec = good.spec;
  spec.windows_in = {};
  EXPECT_EQ(build_code(spec), Code::kBadContext);
  spec = good.spec;
  spec.workspace_bytes = kWorkspaceBytesMin - 1;
  EXPECT_EQ(build_code(spec), Code::kWorkspaceTooSmall);
  spec = good.spec;
  spec.workspace = 0;
  EXPECT_EQ(build_code(spec), Code::kBadContext);
  Bytes small(kContextBytes - 1);
  EXPECT_EQ(build_context(good.spec, small).error().code, Code::kBadContext);
}

Code read_code(Bytes bytes, const Layout& layout, std::string_view field, std::uint64_t value) {
  for (const Field& row : context_fields()) {
    if (row.name == field) store(bytes, row, value);
  }
  const auto view = read_context(bytes, layout);
  return view ? Code::kWrongResult : view.error().code;
}

TEST(Context, WhatDoesNotFitIsNotRead) {
  const Bytes good = built(sample(4, 3).spec);
  EXPECT_EQ(read_code(good, upstream(), "rankNum", 33), Code::kWrongResult);
  EXPECT_EQ(read_code(good, upstream(), "rankNum", 257), Code::kRankCount);
  Sample direct = sample(4, 3);
  direct.spec.multi_flag = 0;
  EXPECT_EQ(read_code(built(direct.spec), upstream(), "rankNum", 32), Code::kWrongResult);
  EXPECT_EQ(read_code(built(direct.spec), upstream(), "rankNum", 33), Code::kRankCount);
  EXPECT_EQ(read_code(good, upstream(), "rankNum", 0), Code::kRankCount);
  EXPECT_EQ(read_code(good, upstream(), "rankId", 4), Code::kBadContext);
  EXPECT_EQ(read_code(good, upstream(), "workSpace", 0), Code::kBadContext);
  EXPECT_EQ(read_code(good, upstream(), "workSpace", ~0ULL - 100), Code::kBadContext);
  EXPECT_EQ(read_code(good, upstream(), "workSpaceSize", ~0ULL), Code::kBadContext);
}

// The base moves up by 0x1F0 in the sample; a layout must fit what is left.
TEST(Context, AWorkspaceMustHoldItsLayoutAfterRounding) {
  const Bytes good = built(sample(4, 3).spec);
  for (const Layout* layout : {&upstream(), &readme()}) {
    EXPECT_EQ(read_code(good, *layout, "workSpaceSize", layout->end + 0x1EF),
              Code::kWorkspaceTooSmall);
    EXPECT_EQ(read_code(good, *layout, "workSpaceSize", layout->end + 0x1F0), Code::kWrongResult);
  }
  EXPECT_EQ(read_code(good, readme(), "workSpaceSize", 0), Code::kWorkspaceTooSmall);
}

TEST(Context, AlignmentRoundsUpAndNeverWraps) {
  EXPECT_EQ(align_workspace(0), 0U);
  EXPECT_EQ(align_workspace(1), 512U);
  EXPECT_EQ(align_workspace(512), 512U);
  EXPECT_EQ(align_workspace(513), 1024U);
  EXPECT_EQ(align_workspace(~0ULL), 0U);
  EXPECT_EQ(align_workspace(~0ULL - 511), ~0ULL - 511);
}

}  // namespace
}  // namespace commrig::mc2
