// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/client.h"

#include <gtest/gtest.h>

#include "mc2/group_fixture_for_test.h"

namespace commrig::mc2 {
namespace {

using dtype::ReduceOp;

TEST(Client, WrongCallsAreErrorsAndNotHangs) {
  GroupRig rig("upstream-64", 1);
  auto* const memory = rig.allocate<float>(0, 16);
  rig.launch_raw(0, [&](device::KernelContext& context) -> Status {
    Client client(context, rig.group().layout());
    const Transfer transfer{.send = memory, .recv = memory, .count = 4};
    EXPECT_EQ(client.all_reduce(transfer, ReduceOp::kSum).error().code, Code::kClientState);
    EXPECT_EQ(client.finalize().error().code, Code::kClientState);
    EXPECT_EQ(client.init(memory).error().code, Code::kOutOfRange);
    COMMRIG_TRY(client.init(rig.group().context(0)));
    EXPECT_EQ(client.init(rig.group().context(0)).error().code, Code::kClientState);
    EXPECT_EQ(client.commit(0).error().code, Code::kBadHandle);
    const auto code = [&](Transfer wrong) {
      return client.all_reduce(wrong, ReduceOp::kSum).error().code;
    };
    EXPECT_EQ(code({.recv = memory, .count = 4}), Code::kNullBuffer);
    EXPECT_EQ(code({.send = memory, .count = 4}), Code::kNullBuffer);
    EXPECT_EQ(code({.send = memory, .recv = memory}), Code::kCountZero);
    EXPECT_EQ(code({.send = memory, .recv = memory, .count = 4, .repeat = 0}), Code::kZeroRepeat);
    EXPECT_EQ(code({.send = memory, .recv = memory, .count = 4, .repeat = 256}), Code::kZeroRepeat);
    COMMRIG_ASSIGN(const Handle handle, client.all_reduce(transfer, ReduceOp::kSum));
    EXPECT_EQ(client.wait(handle).error().code, Code::kWaitAboveCommit);
    EXPECT_EQ(client.finalize().error().code, Code::kClientState);
    COMMRIG_TRY(client.commit(handle));
    COMMRIG_TRY(client.wait(handle));
    EXPECT_EQ(client.wait(handle).error().code, Code::kWaitAboveCommit);
    COMMRIG_TRY(client.finalize());
    EXPECT_EQ(client.finalize().error().code, Code::kClientState);
    EXPECT_EQ(client.query(handle).error().code, Code::kClientState);
    return ok();
  });
  rig.expect_success();
}

}  // namespace
}  // namespace commrig::mc2
