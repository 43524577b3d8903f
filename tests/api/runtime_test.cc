// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <gmock/gmock.h>

#include "tests/api/ranks.h"

namespace {

using commrig::Communicator;
using commrig::Dtype;
using commrig::Error;
using commrig::ErrorKind;
using commrig::ReduceOp;
using commrig::Result;
using commrig::Runtime;
using commrig::Stream;

TEST(ResultTest, HoldsAValueOrAnError) {
  const Result<int> seven = 7;
  EXPECT_TRUE(seven);
  EXPECT_EQ(*seven, 7);
  const Result<int> none = Error{"CR-X", ErrorKind::kState, "no number", "Ask again"};
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(commrig::to_string(none.error()), "CR-X: no number. Ask again");
  EXPECT_STREQ(commrig::name(none.error().kind), "state");
}

TEST(ResultDeathTest, AskingForWhatIsNotThereSaysWhatIsAndEndsTheProcess) {
  const Result<int> seven = 7;
  const Result<int> none = Error{"CR-X", ErrorKind::kState, "no number", "Ask again"};
  EXPECT_DEATH((void)none.value(), "CR-X: no number. Ask again");
  EXPECT_DEATH((void)seven.error(), "holds a value");
}

TEST(TypesTest, EveryTypeHasANameThatIsReadBackAndASize) {
  for (int i = 0; i <= static_cast<int>(Dtype::kInt128); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(commrig::parse_dtype(commrig::name(dtype)).value(), dtype);
    EXPECT_GT(commrig::size_of(dtype), 0U);
  }
  for (int i = 0; i <= static_cast<int>(ReduceOp::kMin); ++i) {
    const auto op = static_cast<ReduceOp>(i);
    EXPECT_EQ(commrig::parse_reduce_op(commrig::name(op)).value(), op);
  }
  EXPECT_EQ(commrig::name(Dtype::kBf16), "bf16");
  EXPECT_EQ(commrig::name(ReduceOp::kProd), "prod");
  EXPECT_EQ(commrig::size_of(static_cast<Dtype>(99)), 0U);
  EXPECT_EQ(commrig::name(static_cast<Dtype>(99)), "?");
  EXPECT_ERROR(commrig::parse_dtype("fp17"), "CR-DTY01");
  EXPECT_ERROR(commrig::parse_reduce_op("xor"), "CR-DTY03");
}

TEST(TypesTest, NumbersOfTheLanguageHaveTypes) {
  static_assert(commrig::dtype_of<float>() == Dtype::kFp32);
  static_assert(commrig::dtype_of<double>() == Dtype::kFp64);
  static_assert(commrig::dtype_of<signed char>() == Dtype::kInt8);
  static_assert(commrig::dtype_of<unsigned short>() == Dtype::kUint16);
  static_assert(commrig::dtype_of<long>() == Dtype::kInt64);
  static_assert(commrig::dtype_of<unsigned>() == Dtype::kUint32);
}

TEST(RuntimeTest, OptionsThatMakeNoSenseAreRefused) {
  commrig::RuntimeOptions options;
  options.devices = 0;
  EXPECT_ERROR(Runtime::create(options), "CR-RUN04");
  options.devices = 1;
  options.bytes_per_device = 0;
  EXPECT_ERROR(Runtime::create(options), "CR-RUN04");
}

TEST(RuntimeTest, DevicesAndStreamsAreChecked) {
  Runtime runtime = Runtime::create({/*devices=*/3}).value();
  EXPECT_EQ(runtime.devices(), 3);
  EXPECT_EQ(Stream::create(runtime, 2)->device(), 2);
  EXPECT_ERROR(Stream::create(runtime, 3), "CR-MEM09");
  EXPECT_ERROR(Stream::create(runtime, -1), "CR-MEM09");
  EXPECT_ERROR(runtime.synchronize_device(3), "CR-MEM09");
  EXPECT_OK(runtime.synchronize_device(2));
}

TEST(MemoryTest, IsFilledCopiedAndFreed) {
  Runtime runtime = Runtime::create().value();
  Stream stream = Stream::create(runtime).value();
  void* const memory = commrig::allocate(runtime, 0, 100).value();
  std::vector<unsigned char> host(100, 1);
  EXPECT_OK(commrig::fill(stream, memory, 9, 100));
  EXPECT_OK(commrig::copy(stream, host.data(), memory, 99));
  EXPECT_OK(stream.synchronize());
  EXPECT_EQ(host[98], 9);
  EXPECT_EQ(host[99], 1);
  EXPECT_OK(commrig::free(runtime, memory));
  EXPECT_OK(commrig::free(runtime, nullptr));
}

TEST(MemoryTest, MistakesWithPointersAreNamed) {
  Runtime runtime = Runtime::create().value();
  Stream stream = Stream::create(runtime).value();
  char* const memory = static_cast<char*>(commrig::allocate(runtime, 0, 100).value());
  char host[200] = {};
  EXPECT_ERROR(commrig::copy(stream, host, memory, 101), "CR-MEM03");
  EXPECT_ERROR(commrig::free(runtime, host), "CR-MEM01");
  EXPECT_ERROR(commrig::free(runtime, memory + 1), "CR-MEM07");
  EXPECT_OK(commrig::free(runtime, memory));
  EXPECT_ERROR(commrig::free(runtime, memory), "CR-MEM06");
  EXPECT_ERROR(commrig::copy(stream, host, memory, 10), "CR-MEM02");
  EXPECT_ERROR(commrig::allocate(runtime, 1, 10), "CR-MEM09");
  EXPECT_ERROR(commrig::allocate(runtime, 0, 0), "CR-MEM08");
  EXPECT_ERROR(commrig::allocate(runtime, 0, std::size_t{1} << 50U), "CR-MEM05");
}

// Everything that is moved from refuses its calls, by name.
// NOLINTBEGIN(bugprone-use-after-move)
TEST(MoveTest, EmptyObjectsAnswerWithAnError) {
  Runtime runtime = Runtime::create().value();
  auto comms = Communicator::create_all(runtime, 1).value();
  Stream stream = Stream::create(runtime).value();
  const Stream elsewhere = std::move(stream);
  int value = 0;
  EXPECT_EQ(stream.device(), -1);
  EXPECT_ERROR(stream.synchronize(), "CR-RUN09");
  EXPECT_ERROR(commrig::copy(stream, &value, &value, 4), "CR-RUN09");
  EXPECT_ERROR(comms[0].all_reduce(stream, {&value, &value}, 1, Dtype::kInt32, ReduceOp::kSum),
               "CR-RUN09");
  const Communicator comm = std::move(comms[0]);
  EXPECT_EQ(comms[0].rank(), -1);
  EXPECT_EQ(comms[0].size(), 0);
  comms[0].abort();
  EXPECT_OK(comm.error());
  EXPECT_ERROR(comms[0].barrier(), "CR-RUN09");
  const Runtime moved = std::move(runtime);
  EXPECT_ERROR(Stream::create(runtime), "CR-RUN09");
  EXPECT_ERROR(commrig::allocate(runtime, 0, 1), "CR-RUN09");
  commrig::Group group;
  const commrig::Group other = std::move(group);
  EXPECT_ERROR(group.submit(), "CR-RUN09");
}
// NOLINTEND(bugprone-use-after-move)

}  // namespace
