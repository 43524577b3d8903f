// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mc2/group_fixture_for_test.h"

// Whatever one rank does wrong is named, with rank, slot, field, expected and found; and everybody
// who waits ends with that error, found from events: no wait here has a deadline.
namespace commrig::mc2 {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;
using testing::HasSubstr;

constexpr std::size_t kCount = 64;

class FaultTest : public testing::TestWithParam<std::string> {
 protected:
  FaultTest() : rig_(GetParam(), 4) {
    for (int rank = 0; rank < rig_.ranks(); ++rank) {
      send_.push_back(rig_.allocate<float>(rank, kCount, 1));
      recv_.push_back(rig_.allocate<float>(rank, kCount * 4, 0));
    }
  }

  Transfer transfer(const device::KernelContext& context) const {
    const auto rank = static_cast<std::size_t>(context.rank());
    return {.send = send_[rank], .recv = recv_[rank], .count = kCount};
  }
  // What a rank that does everything right does.
  Status all_gather(device::KernelContext& context, Client& client) const {
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(transfer(context)));
    COMMRIG_TRY(client.commit(handle));
    COMMRIG_TRY(client.wait(handle));
    return client.finalize();
  }
  // Everybody is right but `guilty`, who does `wrong`.
  void run(int guilty, const GroupRig::Kernel& wrong) {
    rig_.launch_all(
        [this, guilty, wrong](device::KernelContext& context, Client& client) -> Status {
          return context.rank() == guilty ? wrong(context, client) : all_gather(context, client);
        });
  }
  // A message that the client would not write: the right one, changed, through a workspace of its
  // own.
  Status submit(device::KernelContext& context, const std::function<void(Message&)>& change,
                const std::function<void(std::vector<std::byte>&)>& damage = {}) {
    const Layout& layout = rig_.group().layout();
    Message message;
    message.command = Command::kAllGather;
    message.send =
        reinterpret_cast<std::uintptr_t>(send_[static_cast<std::size_t>(context.rank())]);
    message.recv =
        reinterpret_cast<std::uintptr_t>(recv_[static_cast<std::size_t>(context.rank())]);
    message.count = kCount;
    message.dtype = Dtype::kFp32;
    change(message);
    std::vector<std::byte> bytes(layout.message_bytes);
    COMMRIG_TRY(encode(layout, message, bytes));
    if (damage) damage(bytes);
    COMMRIG_ASSIGN(const Workspace workspace, workspace_of(context));
    COMMRIG_TRY(workspace.write_message(0, bytes));
    return commit(context, 1);
  }
  Status commit(device::KernelContext& context, std::uint64_t total) {
    COMMRIG_ASSIGN(const Workspace workspace, workspace_of(context));
    COMMRIG_TRY(workspace.set_commit_count(0, total));
    COMMRIG_TRY(workspace.set_commit_valid(0, rig_.group().layout().commit_valid));
    rig_.group().ring();
    return ok();
  }
  Status await_turn(device::KernelContext& context, std::uint64_t turn) {
    COMMRIG_ASSIGN(const Workspace workspace, workspace_of(context));
    return context.wait<std::uint64_t>(workspace.window(), workspace.finished_count_at(0),
                                       Compare::kAtLeast, turn, {.what = "a turn"});
  }
  Result<Workspace> workspace_of(device::KernelContext& context) {
    COMMRIG_ASSIGN(device::Window window,
                   context.window(rig_.group().workspace(context.rank()), kWorkspaceBytesMin));
    return Workspace(context, std::move(window), rig_.group().layout());
  }

  // Waits for all ranks, expects the finding's code on every stream that failed, and gives it.
  Finding finding(Code code) {
    int failed = 0;
    for (const Status& status : rig_.synchronize()) {
      if (status.has_value()) continue;
      ++failed;
      EXPECT_NE(status.error().code, Code::kDeadline);
    }
    EXPECT_GT(failed, 0);
    const std::optional<Finding> found = rig_.group().finding();
    if (!found.has_value()) {
      ADD_FAILURE() << "nothing was found";
      return {};
    }
    EXPECT_EQ(code_info(found->code).id, code_info(code).id) << sentence(*found);
    EXPECT_TRUE(rig_.group().abort_flag().raised());
    return *found;
  }

  GroupRig rig_;
  std::vector<float*> send_;
  std::vector<float*> recv_;
};

TEST_P(FaultTest, AnotherOperationIsNamedWithTheRanksOnEachSide) {
  run(2, [this](device::KernelContext& context, Client& client) -> Status {
    COMMRIG_ASSIGN(const Handle handle, client.all_reduce(transfer(context), ReduceOp::kSum));
    COMMRIG_TRY(client.commit(handle));
    return client.wait(handle);
  });
  const Finding found = finding(Code::kGroupMismatch);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.slot, 0);
  EXPECT_EQ(found.field, "commType");
  EXPECT_EQ(found.expected, "all-gather");
  EXPECT_EQ(found.found, "all-reduce");
  EXPECT_THAT(found.detail, HasSubstr("ranks 0,1,3: all-gather; rank 2: all-reduce"));
}

TEST_P(FaultTest, AnotherCountIsNamed) {
  run(1, [this](device::KernelContext& context, Client& client) -> Status {
    Transfer other = transfer(context);
    other.count = kCount - 1;
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(other));
    COMMRIG_TRY(client.commit(handle));
    return client.wait(handle);
  });
  const Finding found = finding(Code::kGroupMismatch);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.field, "dataCnt");
  EXPECT_EQ(found.expected, "64");
  EXPECT_EQ(found.found, "63");
  EXPECT_EQ(found.offset, 0x18);
}

TEST_P(FaultTest, AnotherElementTypeOfTheSameSizeIsNamed) {
  run(3, [this](device::KernelContext& context, Client& client) -> Status {
    Transfer other = transfer(context);
    other.dtype = Dtype::kInt32;
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(other));
    COMMRIG_TRY(client.commit(handle));
    return client.wait(handle);
  });
  const Finding found = finding(Code::kGroupMismatch);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.expected, "fp32");
  EXPECT_EQ(found.found, "int32");
}

TEST_P(FaultTest, WrongCheckWordIsNamedWhereTheLayoutHasOne) {
  if (!rig_.group().layout().has_check_word) {
    // Without one, a changed bit is found where it makes the ranks disagree.
    run(1, [this](device::KernelContext& context, Client&) -> Status {
      COMMRIG_TRY(
          submit(context, [](Message&) {}, [](auto& bytes) { bytes[0x18] ^= std::byte{0x60}; }));
      return await_turn(context, 1);
    });
    const Finding found = finding(Code::kGroupMismatch);
    EXPECT_EQ(found.rank, 1);
    EXPECT_EQ(found.field, "dataCnt");
    return;
  }
  run(1, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(
        submit(context, [](Message&) {}, [](auto& bytes) { bytes[0x18] ^= std::byte{0x60}; }));
    return await_turn(context, 1);
  });
  const Finding found = finding(Code::kCheckWord);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.slot, 0);
  EXPECT_EQ(found.field, "xorCheck");
  EXPECT_EQ(found.offset, 0x3C);
  EXPECT_NE(found.expected, found.found);
}

TEST_P(FaultTest, NullBufferIsNamed) {
  run(2, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(context, [](Message& message) { message.recv = 0; }));
    return await_turn(context, 1);
  });
  const Finding found = finding(Code::kNullBuffer);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.field, "recvBuffer");
  EXPECT_EQ(found.offset, 0x10);
  EXPECT_EQ(found.found, "0");
}

TEST_P(FaultTest, ShortBufferIsNamedWithItsAllocation) {
  float* const small = rig_.allocate<float>(3, kCount - 1);
  run(3, [this, small](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(context, [small](Message& message) {
      message.send = reinterpret_cast<std::uintptr_t>(small);
    }));
    return await_turn(context, 1);
  });
  const Finding found = finding(Code::kShortBuffer);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.field, "sendBuffer");
  EXPECT_EQ(found.expected, "256 bytes of live device memory");
  EXPECT_THAT(found.detail, HasSubstr("CR-MEM03"));
  EXPECT_THAT(found.detail, HasSubstr("(252 bytes on device 3"));
}

TEST_P(FaultTest, FreedBufferIsNamed) {
  ASSERT_TRUE(rig_.machine().memory().release(send_[1]).has_value());
  rig_.launch_all([this](device::KernelContext& context, Client& client) {
    return all_gather(context, client);
  });
  const Finding found = finding(Code::kShortBuffer);
  EXPECT_EQ(found.rank, 1);
  EXPECT_THAT(found.detail, HasSubstr("CR-MEM02"));
}

TEST_P(FaultTest, TargetThatOverlapsTheSourceIsNamed) {
  run(2, [this](device::KernelContext& context, Client& client) -> Status {
    Transfer in_place = transfer(context);
    in_place.send = recv_[2];  // Right for rank 0 only.
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(in_place));
    COMMRIG_TRY(client.commit(handle));
    return client.wait(handle);
  });
  const Finding found = finding(Code::kBuffersOverlap);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.field, "recvBuffer");
}

TEST_P(FaultTest, TargetThatAnotherRankUsesIsNamed) {
  run(2, [this](device::KernelContext& context, Client& client) -> Status {
    Transfer foreign = transfer(context);
    foreign.recv = recv_[1];
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(foreign));
    COMMRIG_TRY(client.commit(handle));
    return client.wait(handle);
  });
  const Finding found = finding(Code::kBuffersOverlap);
  EXPECT_THAT(found.detail, HasSubstr("rank"));
}

TEST_P(FaultTest, KernelThatReturnsBeforeItSubmitsIsNamed) {
  run(3, [](device::KernelContext&, Client&) { return ok(); });
  const Finding found = finding(Code::kRankLeft);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.slot, 0);
  EXPECT_EQ(found.field, "sendMsgs.valid");
  EXPECT_EQ(found.expected, "a message");
  EXPECT_EQ(found.found, "none");
  EXPECT_THAT(found.detail, HasSubstr("wait"));
}

TEST_P(FaultTest, KernelThatReturnsBeforeItsLastCommitIsNamedWithTheTurn) {
  rig_.launch_all([this](device::KernelContext& context, Client& client) -> Status {
    Transfer turns = transfer(context);
    turns.count = 8;
    turns.stride = kCount;
    turns.repeat = 3;
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(turns));
    for (int turn = 0; turn < 3; ++turn) {
      if (context.rank() == 1 && turn == 2) return ok();
      COMMRIG_TRY(client.commit(handle));
      COMMRIG_TRY(client.wait(handle));
    }
    return client.finalize();
  });
  // Where messages carry no repeat, the two turns that rank 1 did are all that it ever announced.
  const Finding found = finding(Code::kRankLeft);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.field, "commitTurnCnt.cnt");
  EXPECT_EQ(found.expected, "at least 3");
  EXPECT_EQ(found.found, "2");
  EXPECT_THAT(found.detail, HasSubstr("for turn 3 of slot 0"));
}

TEST_P(FaultTest, KernelThatThrowsIsNamedWithWhatItThrew) {
  run(0, [](device::KernelContext&, Client&) -> Status { throw std::runtime_error("bad tile"); });
  const Finding found = finding(Code::kRankThrew);
  EXPECT_EQ(found.rank, 0);
  EXPECT_THAT(found.detail, HasSubstr("bad tile"));
}

TEST_P(FaultTest, KernelThatReturnsAnErrorIsNamed) {
  run(2, [](device::KernelContext&, Client&) -> Status {
    return Error::make(Code::kBadArgument, "shape does not fit");
  });
  const Finding found = finding(Code::kRankThrew);
  EXPECT_EQ(found.rank, 2);
  EXPECT_THAT(found.detail, HasSubstr("shape does not fit"));
}

TEST_P(FaultTest, KernelThatForgetsToFinalizeIsNamed) {
  rig_.launch_all([this](device::KernelContext& context, Client& client) -> Status {
    COMMRIG_ASSIGN(const Handle handle, client.all_gather(transfer(context)));
    COMMRIG_TRY(client.commit(handle));
    COMMRIG_TRY(client.wait(handle));
    if (context.rank() == 1) return ok();
    return client.finalize();
  });
  (void)rig_.synchronize();
  // The kernels may all have ended before the server looked; the abort that it raises wakes us.
  const Status told = rig_.executor().wait(
      {.key = this, .ready = [this] { return rig_.group().finding().has_value(); }});
  ASSERT_TRUE(told.has_value());
  const std::optional<Finding> found = rig_.group().finding();
  EXPECT_EQ(found->code, Code::kNoFinalize);
  EXPECT_EQ(found->rank, 1);
}

TEST_P(FaultTest, RankThatFinalizesWhileTheOthersGoOnIsNamed) {
  run(2, [](device::KernelContext&, Client& client) { return client.finalize(); });
  const Finding found = finding(Code::kGroupMismatch);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.expected, "all-gather");
  EXPECT_EQ(found.found, "finalize");
}

TEST_P(FaultTest, CommitThatNeverComesIsNamedOnceNobodyCanGoOn) {
  run(1, [this](device::KernelContext& context, Client& client) -> Status {
    COMMRIG_TRY(client.all_gather(transfer(context)));
    return await_turn(context, 1);  // The commit was forgotten.
  });
  const Finding found = finding(Code::kStalled);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.slot, 0);
  EXPECT_THAT(found.detail,
              HasSubstr("rank 1 waits for a turn (finishedTurnCnt[0] >= 1, found 0)"));
}

TEST_P(FaultTest, MoreCommitsThanTurnsAreNamedWhereTheMessageSaysHowMany) {
  if (!rig_.group().layout().carries_repeat) {
    // More turns than the buffers hold is what can be seen there.
    run(1, [this](device::KernelContext& context, Client&) -> Status {
      COMMRIG_TRY(submit(context, [](Message& message) { message.stride = kCount; }));
      COMMRIG_TRY(commit(context, 2));
      return await_turn(context, 2);
    });
    const Finding found = finding(Code::kStrideTooSmall);
    EXPECT_EQ(found.rank, 1);
    return;
  }
  run(1, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(context, [](Message&) {}));
    COMMRIG_TRY(commit(context, 2));
    return await_turn(context, 2);
  });
  const Finding found = finding(Code::kCommitAboveRepeat);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.expected, "at most 1");
  EXPECT_EQ(found.found, "2");
}

TEST_P(FaultTest, CommitAfterTheEndOfAnOperationIsNamedWhereTheMessageSaysHowMany) {
  if (!rig_.group().layout().carries_repeat) return;  // A further commit is a further turn there.
  run(1, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(context, [](Message&) {}));
    COMMRIG_TRY(await_turn(context, 1));
    COMMRIG_TRY(commit(context, 2));
    return await_turn(context, 2);
  });
  const Finding found = finding(Code::kCommitAboveRepeat);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.slot, 0);
  EXPECT_EQ(found.found, "2");
}

TEST_P(FaultTest, UnknownCommandIsNamedWithItsMeaningElsewhere) {
  run(2, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(
        context, [](Message&) {},
        [this](std::vector<std::byte>& bytes) {
          const std::uint32_t code = 77;
          std::memcpy(bytes.data(), &code, sizeof(code));
          const Layout& layout = rig_.group().layout();
          if (!layout.has_check_word) return;
          const std::uint32_t check = check_word(layout, bytes);
          std::memcpy(bytes.data() + layout.message_bytes - 4, &check, sizeof(check));
        }));
    return await_turn(context, 1);
  });
  const Finding found = finding(Code::kUnknownCommand);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.field, "commType");
  EXPECT_THAT(found.found, HasSubstr("77"));
}

TEST_P(FaultTest, ReductionOfATypeKnownBySizeOnlyIsNamed) {
  if (code_of(rig_.group().layout(), Dtype::kHif8) == std::nullopt)
    return;  // It can't be written there.
  run(2, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(context, [](Message& message) {
      message.command = Command::kAllReduce;
      message.op = ReduceOp::kSum;
      message.dtype = Dtype::kHif8;
    }));
    return await_turn(context, 1);
  });
  const Finding found = finding(Code::kNoArithmetic);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.found, "hif8");
}

TEST_P(FaultTest, HugeCountsDoNotWrapAround) {
  run(2, [this](device::KernelContext& context, Client&) -> Status {
    COMMRIG_TRY(submit(context, [](Message& message) { message.count = UINT64_MAX / 4; }));
    return await_turn(context, 1);
  });
  EXPECT_EQ(finding(Code::kCountZero).rank, 2);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FaultTest, testing::Values("upstream-64", "readme-112"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace commrig::mc2
