// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
// Ranks as processes, some of which are killed.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unix_socket.h"
#include "bootstrap/fixture_for_test.h"
#include "bootstrap/memory_exchange.h"
#include "bootstrap/ring.h"
#include "bootstrap/root.h"

namespace commrig::bootstrap {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A child process that says one text at its end. Forked while this process has no threads, so it
// waits for the unique id.
class Child {
 public:
  using Body = std::function<std::string(ThreadExecutor&, const UniqueId&)>;

  explicit Child(const Body& body) {
    auto [near, far] = *unix_pair();
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Nobody is left behind by a test that crashed.
      near.close();
      run(far, body);
      ::_exit(0);
    }
    line_ = std::move(near);
  }
  ~Child() {
    if (process_ <= 0) return;  // Moved from.
    kill();
    ::waitpid(process_, nullptr, 0);
  }
  Child(Child&& other) noexcept
      : process_(std::exchange(other.process_, -1)), line_(std::move(other.line_)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child& operator=(Child&&) = delete;

  void start(ThreadExecutor& executor, const UniqueId& id) const {
    EXPECT_TRUE(line_.write_all(id.bytes(), "an id", {executor}));
  }
  std::string text(ThreadExecutor& executor) const {
    std::string text;
    std::byte byte{};
    while (line_.read_all({&byte, 1}, "a text", {executor})) {
      text.push_back(static_cast<char>(byte));
    }
    return text;
  }
  pid_t process() const { return process_; }
  void kill() const { ::kill(process_, SIGKILL); }

 private:
  static void run(const Socket& line, const Body& body) {
    ThreadExecutor executor;
    UniqueId::Bytes bytes{};
    if (!line.read_all(bytes, "an id", {executor})) return;
    const std::string text = body(executor, *UniqueId::from_bytes(bytes));
    (void)line.write_all(std::as_bytes(std::span(text)), "a text", {executor});
  }
  pid_t process_ = -1;
  Socket line_;
};

std::string join_and_gather(ThreadExecutor& executor, const UniqueId& id, int rank, int ranks) {
  const auto ring = join_ring(executor, id, rank, ranks);
  if (!ring) return ring.error().message;
  const std::string wrong = gather_and_compare(**ring, 64, 0);
  const Status barrier = (*ring)->barrier();
  return !wrong.empty() ? wrong : barrier ? "good" : barrier.error().message;
}

TEST(RingOfProcesses, SixtyFourProcessesFindEachOther) {
  constexpr int kRanks = 64;
  std::vector<Child> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.emplace_back([rank](ThreadExecutor& executor, const UniqueId& id) {
      return join_and_gather(executor, id, rank, kRanks);
    });
  }
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  for (const Child& child : children) child.start(executor, root->id());
  for (const Child& child : children) EXPECT_EQ(child.text(executor), "good");
  EXPECT_TRUE(root->wait_served());
}

TEST(RingOfProcesses, ProcessesWithSeveralRanksGetTheSameAsRanksThroughMemory) {
  constexpr std::array kRanksOf{1, 3, 2};
  constexpr int kRanks = 6;
  std::vector<Child> children;
  int first = 0;
  for (const int count : kRanksOf) {
    children.emplace_back([first, count](ThreadExecutor& executor, const UniqueId& id) {
      std::atomic<int> good{0};
      run_ranks(executor, count, [&](int local) {
        if (join_and_gather(executor, id, first + local, kRanks) == "good") good.fetch_add(1);
      });
      return std::to_string(good.load());
    });
    first += count;
  }
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  for (const Child& child : children) child.start(executor, root->id());
  for (std::size_t i = 0; i < children.size(); ++i) {
    EXPECT_EQ(children[i].text(executor), std::to_string(kRanksOf.at(i)));
  }
  MemoryRendezvous memory(executor);
  run_ranks(executor, kRanks, [&](int rank) {
    const auto exchange = memory.join(root->id(), rank, kRanks);
    ASSERT_TRUE(exchange);
    EXPECT_EQ(gather_and_compare(**exchange, 64, 0), "");
  });
}

TEST(RingOfProcesses, KilledRankIsNamedByAllOthers) {
  constexpr int kRanks = 5;
  constexpr int kVictim = 2;
  std::vector<Child> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.emplace_back([rank](ThreadExecutor& executor, const UniqueId& id) -> std::string {
      const auto ring = join_ring(executor, id, rank, kRanks);
      if (!ring) return to_string(ring.error());
      // A slow rank may learn of the end within the first barrier.
      if (const Status first = (*ring)->barrier(); !first) return to_string(first.error());
      if (rank == kVictim) ::raise(SIGKILL);
      const Status second = (*ring)->barrier();
      return second ? "nothing" : to_string(second.error());
    });
  }
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  for (const Child& child : children) child.start(executor, root->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim) continue;
    EXPECT_THAT(children[static_cast<std::size_t>(rank)].text(executor),
                AllOf(HasSubstr("CR-BOOT08"), HasSubstr("rank 2 at 127.0.0.1:")))
        << rank;
  }
}

TEST(RingOfProcesses, RankKilledWhileOthersAreMissingIsNamedWithItsProcess) {
  std::vector<Child> children;
  for (const int rank : {0, 2}) {
    children.emplace_back([rank](ThreadExecutor& executor, const UniqueId& id) -> std::string {
      const auto ring = join_ring(executor, id, rank, 5);
      return ring ? "joined" : to_string(ring.error());
    });
  }
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  children[1].start(executor, root->id());
  ASSERT_TRUE(root->wait_present(1));
  children[0].start(executor, root->id());
  ASSERT_TRUE(root->wait_present(2));
  ASSERT_TRUE(root->wait_attached(2));
  children[1].kill();
  EXPECT_THAT(children[0].text(executor),
              AllOf(HasSubstr("rank 2 at 127.0.0.1:"), HasSubstr("ended while ranks were"),
                    HasSubstr("process " + std::to_string(children[1].process())),
                    HasSubstr("missing: ranks 1, 3-4")));
}

TEST(RingOfProcesses, KilledRootEndsEveryRankThatWaits) {
  std::vector<Child> ranks;
  for (const int rank : {0, 2}) {
    ranks.emplace_back([rank](ThreadExecutor& executor, const UniqueId& id) -> std::string {
      const auto ring = join_ring(executor, id, rank, 5);
      return ring ? "joined" : to_string(ring.error());
    });
  }
  auto [near, far] = *unix_pair();
  const Child keeper([&far](ThreadExecutor& executor, const UniqueId&) -> std::string {
    const auto root = *Root::open(executor);
    (void)far.write_all(root->id().bytes(), "an id", {executor});
    (void)root->wait_attached(2);
    ::raise(SIGKILL);
    return "";
  });
  ThreadExecutor executor;
  keeper.start(executor, UniqueId(1, Address::loopback(AF_INET, 1)));
  UniqueId::Bytes id{};
  ASSERT_TRUE(near.read_all(id, "an id", {executor}));
  for (const Child& rank : ranks) rank.start(executor, *UniqueId::from_bytes(id));
  for (const Child& rank : ranks) {
    EXPECT_THAT(rank.text(executor),
                AllOf(HasSubstr("CR-BOOT09"), HasSubstr("ended before it answered")));
  }
}

}  // namespace
}  // namespace commrig::bootstrap
