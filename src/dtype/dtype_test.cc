// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/dtype.h"

#include <set>
#include <string>

#include <gmock/gmock.h>

#include "dtype/reduce.h"

namespace commrig::dtype {
namespace {

using testing::HasSubstr;

TEST(Dtype, EveryNameParsesToItsOwnType) {
  std::set<std::string_view> names;
  for (const DtypeInfo& row : all()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(parse(row.name).value(), row.dtype);
    EXPECT_EQ(info(row.dtype).name, row.name);
  }
  EXPECT_EQ(names.size(), 17U);
}

TEST(Dtype, SizesAndAlignmentsAreThoseOfTheTypes) {
  EXPECT_EQ(size_of(Dtype::kInt8), sizeof(std::int8_t));
  EXPECT_EQ(size_of(Dtype::kUint64), sizeof(std::uint64_t));
  EXPECT_EQ(size_of(Dtype::kBf16), 2U);
  EXPECT_EQ(size_of(Dtype::kFp8E8m0), 1U);
  EXPECT_EQ(size_of(Dtype::kInt128), 16U);
  for (const DtypeInfo& row : all()) EXPECT_EQ(row.alignment, row.bytes == 16 ? 8 : row.bytes);
}

TEST(Dtype, OnlyHif8E8m0AndInt128HaveNoArithmetic) {
  std::string without;
  for (const DtypeInfo& row : all()) {
    if (!row.has_arithmetic) without += std::string(row.name) + " ";
  }
  EXPECT_EQ(without, "hif8 fp8_e8m0 int128 ");
}

TEST(Dtype, AliasesParse) {
  EXPECT_EQ(parse("half").value(), Dtype::kFp16);
  EXPECT_EQ(parse("bfloat16").value(), Dtype::kBf16);
  EXPECT_EQ(parse("float").value(), Dtype::kFp32);
  EXPECT_EQ(parse("float8_e4m3fn").value(), Dtype::kFp8E4m3fn);
}

TEST(Dtype, AnUnknownNameIsRefusedWithTheKnownOnes) {
  for (const char* name : {"", "fp17", "FP16", "fp16 ", "int"}) {
    const Result<Dtype> parsed = parse(name);
    ASSERT_FALSE(parsed) << name;
    EXPECT_EQ(parsed.error().code, Code::kUnknownDtype);
    EXPECT_THAT(parsed.error().message, HasSubstr(std::string("'").append(name).append("'")));
    EXPECT_THAT(parsed.error().message, HasSubstr("int8 int16"));
  }
}

TEST(ReduceOp, NamesParseAndOthersAreRefused) {
  for (const ReduceOpInfo& row : kReduceOps) {
    EXPECT_EQ(parse_reduce_op(row.name).value(), row.op);
    EXPECT_EQ(name(row.op), row.name);
  }
  const auto parsed = parse_reduce_op("avg");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::kUnknownReduceOp);
  EXPECT_THAT(parsed.error().message, HasSubstr("'avg'"));
}

}  // namespace
}  // namespace commrig::dtype
