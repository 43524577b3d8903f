// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/guarded.h"
#include "base/log.h"
#include "mc2/group_fixture_for_test.h"

// Faults, one row each: what a rank does wrong, by writing the workspace itself, and what is said
// of it. All findings come from events: no wait here has a deadline, and nobody sleeps.
namespace commrig::mc2 {

inline constexpr std::uint64_t kFaultCount = 64;  // elements of the right operation
inline constexpr int kGuilty = 1;

// Log lines while it lives.
class CapturedLog {
 public:
  CapturedLog() {
    lines().lock()->clear();
    before_ =
        set_log_sink([](LogLevel, std::string_view line) { lines().lock()->emplace_back(line); });
  }
  ~CapturedLog() { set_log_sink(before_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  std::vector<std::string> all() const { return *lines().lock(); }

 private:
  static Guarded<std::vector<std::string>>& lines() {
    static Guarded<std::vector<std::string>> lines;
    return lines;
  }
  LogSink before_ = nullptr;
};

// A group with buffers for each rank.
class FaultRig : public GroupRig {
 public:
  explicit FaultRig(const std::string& layout, int ranks = 3) : GroupRig(layout, ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      send.push_back(allocate<float>(rank, kFaultCount * 4, 1));
      recv.push_back(allocate<float>(rank, kFaultCount * 16, 0));
    }
    small = allocate<float>(kGuilty, kFaultCount - 1);
    freed = allocate<float>(kGuilty, kFaultCount);
    EXPECT_TRUE(machine().memory().release(freed).has_value());
  }
  const Layout& layout() { return group().layout(); }
  // The field of a message of version 0, from the start of the workspace.
  Finding at(Code code, std::uint32_t slot, Part part, std::string expected, std::string found,
             std::string detail = {}) {
    return Finder(layout(), message_place(layout(), kGuilty, static_cast<int>(slot)), Message{})
        .at(code, part, std::move(expected), std::move(found), std::move(detail));
  }
  Finding word(Code code, std::uint32_t slot, std::string field, std::string expected,
               std::string found, std::string detail = {}) {
    std::uint64_t offset = layout().message_at(slot) + layout().valid_offset;
    if (field == "commitTurnCnt.cnt") offset = layout().commit_at(slot) + 8;
    if (field == "commitTurnCnt.valid") offset = layout().commit_at(slot);
    if (field == "finishedTurnCnt.cnt") offset = layout().finished_at(slot) + 8;
    return {.code = code,
            .rank = kGuilty,
            .slot = static_cast<int>(slot),
            .field = std::move(field),
            .offset = static_cast<std::int64_t>(offset),
            .expected = std::move(expected),
            .found = std::move(found),
            .detail = std::move(detail)};
  }

  std::vector<float*> send;
  std::vector<float*> recv;
  float* small = nullptr;  // one element short
  float* freed = nullptr;
};

// A kernel's side of the protocol with nothing of our client in it: it writes any word anywhere.
class RawRank {
 public:
  RawRank(FaultRig& the_rig, device::KernelContext& kernel)
      : RawRank(the_rig, kernel, kernel.rank()) {}
  // In the workspace of another rank.
  RawRank(FaultRig& the_rig, device::KernelContext& kernel, int home)
      : rig(the_rig),
        context(kernel),
        layout(the_rig.layout()),
        workspace(kernel, *kernel.window(the_rig.group().workspace(home), kWorkspaceBytesMin),
                  layout) {}

  // The right all-gather, as message number `number` of the kernel.
  Message message(int number = 0) const {
    const auto rank = static_cast<std::size_t>(context.rank());
    Message message;
    message.command = Command::kAllGather;
    message.send = reinterpret_cast<std::uintptr_t>(rig.send[rank]);
    message.recv = reinterpret_cast<std::uintptr_t>(rig.recv[rank]);
    message.count = kFaultCount;
    message.dtype = dtype::Dtype::kFp32;
    message.handle = static_cast<std::int8_t>(number);
    message.sequence = static_cast<std::uint8_t>(number);
    return message;
  }
  // The same in three turns.
  Message turns() const {
    Message message = this->message();
    message.count = kFaultCount / 4;
    message.stride = kFaultCount;
    message.repeat = 3;
    return message;
  }
  std::vector<std::byte> bytes(const Message& message) const {
    std::vector<std::byte> bytes(layout.message_bytes);
    const Status encoded = encode(layout, message, bytes);
    EXPECT_TRUE(encoded.has_value()) << to_string(encoded.error());
    return bytes;
  }
  // Changes a field and sums the message anew.
  void patch(std::vector<std::byte>& bytes, Part part, std::uint64_t value) const {
    store(bytes, *find_field(layout, layout.forms.front(), part), value);
    if (!layout.has_check_word) return;
    store(bytes, *find_field(layout, layout.forms.front(), Part::kCheck),
          check_word(layout, bytes));
  }
  // Everything but the valid word, then the valid word.
  Status write(std::uint32_t slot, const std::vector<std::byte>& bytes) const {
    const std::uint64_t start = layout.message_at(slot);
    const std::uint32_t valid = layout.valid_offset;
    COMMRIG_TRY(context.put(workspace.window(), start, bytes.data(), valid));
    COMMRIG_TRY(context.put(workspace.window(), start + valid + 4, bytes.data() + valid + 4,
                            bytes.size() - valid - 4));
    const Field word{.name = "valid", .offset = valid, .width = 4};
    COMMRIG_TRY(workspace.set_message_valid(slot, static_cast<std::uint32_t>(load(bytes, word))));
    rig.group().ring();
    return ok();
  }
  Status write(std::uint32_t slot, const Message& message) const {
    return write(slot, bytes(message));
  }
  Status commit(std::uint32_t slot, std::uint64_t total) const {
    COMMRIG_TRY(workspace.set_commit_count(slot, total));
    COMMRIG_TRY(workspace.set_commit_valid(slot, layout.commit_valid));
    rig.group().ring();
    return ok();
  }
  Status await(std::uint32_t slot, std::uint64_t turn) const {
    return context.wait<std::uint64_t>(workspace.window(), workspace.finished_count_at(slot),
                                       Compare::kAtLeast, turn, {.what = "a turn"});
  }
  Status submit(std::uint32_t slot, const Message& message) const {
    COMMRIG_TRY(write(slot, message));
    return commit(slot, 1);
  }
  Status perform(std::uint32_t slot, const Message& message) const {
    COMMRIG_TRY(submit(slot, message));
    return await(slot, 1);
  }
  // The message and the wait for its answer, without clearing the counters.
  Status send_finalize(std::uint32_t slot) const {
    COMMRIG_TRY(write(slot, finalize_message()));
    if (layout.finalize_has_commit) COMMRIG_TRY(commit(slot, 1));
    return await(slot, layout.finalize_finish);
  }
  Status finalize(std::uint32_t slot) const {
    COMMRIG_TRY(send_finalize(slot));
    for (std::uint32_t used = 0; used <= slot; ++used) {
      COMMRIG_TRY(workspace.set_finished_count(used, 0));
    }
    return ok();
  }
  // A whole kernel as it should be.
  Status right() const {
    COMMRIG_TRY(perform(0, message()));
    return finalize(1);
  }

  FaultRig& rig;
  device::KernelContext& context;
  const Layout& layout;
  Workspace workspace;
};

enum class On { kBoth, kUpstream, kReadme };
using RawKernel = std::function<Status(RawRank&)>;

// What the other ranks do: `operations` all-gathers, each awaited, and finalize.
inline RawKernel operations(int count) {
  return [count](RawRank& rank) -> Status {
    for (int i = 0; i < count; ++i) {
      COMMRIG_TRY(rank.perform(static_cast<std::uint32_t>(i), rank.message(i)));
    }
    return rank.finalize(static_cast<std::uint32_t>(count));
  };
}
// One all-gather in three turns, each committed when the one before is done.
inline Status three_turns(RawRank& rank) {
  COMMRIG_TRY(rank.write(0, rank.turns()));
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    COMMRIG_TRY(rank.commit(0, turn));
    COMMRIG_TRY(rank.await(0, turn));
  }
  return rank.finalize(1);
}

struct FaultRow {
  std::string name;
  On on;
  RawKernel wrong;                                // of rank kGuilty
  std::function<Finding(FaultRig&)> expectation;  // its detail: a part of what is said
  RawKernel others = operations(1);
  RawKernel before{};           // a kernel of rank kGuilty that comes before, beside a right one
  std::vector<int> unharmed{};  // ranks that may end well, or with an error of their own
};

struct FaultCase {
  FaultRow row;
  std::string layout;
  friend std::ostream& operator<<(std::ostream& out, const FaultCase& fault) {
    return out << fault.row.name << " in " << fault.layout;
  }
};

inline std::vector<FaultCase> fault_cases(const std::vector<FaultRow>& rows) {
  std::vector<FaultCase> cases;
  for (const FaultRow& row : rows) {
    if (row.on != On::kReadme) cases.push_back({row, "upstream-64"});
    if (row.on != On::kUpstream) cases.push_back({row, "readme-112"});
  }
  return cases;
}

inline std::string fault_name(const testing::TestParamInfo<FaultCase>& info) {
  std::string layout = info.param.layout;
  std::erase(layout, '-');
  return info.param.row.name + "_" + layout;
}

// "*" stands for any text but none.
MATCHER_P(HasAnyText, wildcard, "is some text") {
  return wildcard == "*" && !arg.empty();
}

// Waits for all ranks, and expects this finding of the group, in the log, and on every stream but
// those of the unharmed ranks.
inline void expect_finding(FaultRig& rig, const CapturedLog& log, const Finding& expected,
                           const std::vector<int>& unharmed = {}) {
  const std::vector<Status> streams = rig.synchronize();
  // Kernels may all have ended before the server looked.
  const Status told = rig.executor().wait(
      {.key = &rig, .ready = [&rig] { return rig.group().abort_flag().raised(); }});
  ASSERT_TRUE(told.has_value());
  const std::optional<Finding> found = rig.group().finding();
  ASSERT_TRUE(found.has_value());
  SCOPED_TRACE(std::string(code_info(found->code).id) + " " + sentence(*found));
  EXPECT_EQ(code_info(found->code).id, code_info(expected.code).id);
  EXPECT_EQ(found->rank, expected.rank);
  EXPECT_EQ(found->slot, expected.slot);
  EXPECT_EQ(found->field, expected.field);
  EXPECT_EQ(found->offset, expected.offset);
  EXPECT_THAT(found->expected, testing::AnyOf(expected.expected, HasAnyText(expected.expected)));
  EXPECT_THAT(found->found, testing::AnyOf(expected.found, HasAnyText(expected.found)));
  EXPECT_THAT(found->detail, testing::HasSubstr(expected.detail));
  EXPECT_THAT(log.all(),
              testing::ElementsAre(testing::AllOf(testing::HasSubstr(code_info(found->code).id),
                                                  testing::HasSubstr(sentence(*found)))));
  for (int rank = 0; rank < rig.ranks(); ++rank) {
    if (std::ranges::find(unharmed, rank) != unharmed.end()) continue;
    const Status& stream = streams[static_cast<std::size_t>(rank)];
    ASSERT_FALSE(stream.has_value()) << "rank " << rank << " ended well";
    EXPECT_EQ(to_string(stream.error()), to_string(to_error(*found))) << "rank " << rank;
  }
}

class FaultTest : public testing::TestWithParam<FaultCase> {
 protected:
  void run() {
    const FaultRow& row = GetParam().row;
    const CapturedLog log;
    FaultRig rig(GetParam().layout);
    const auto launch = [&rig](int rank, const RawKernel& kernel) {
      rig.launch_raw(rank, [&rig, kernel](device::KernelContext& context) -> Status {
        RawRank raw(rig, context);
        return kernel(raw);
      });
    };
    for (int rank = 0; rank < rig.ranks(); ++rank) {
      if (row.before) launch(rank, rank == kGuilty ? row.before : operations(1));
      if (rank == kGuilty && !row.wrong) continue;
      launch(rank, rank == kGuilty ? row.wrong : row.others);
    }
    expect_finding(rig, log, row.expectation(rig), row.unharmed);
  }
};

}  // namespace commrig::mc2
