// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/thread_executor.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace commrig {
namespace {

// Runs bodies on the executor and waits until all have ended.
void run_all(ThreadExecutor& executor, const std::vector<std::function<void()>>& bodies) {
  std::atomic<int> left{static_cast<int>(bodies.size())};
  for (const auto& body : bodies) {
    const Status spawned = executor.spawn(Role::kUserCode, "test", [&] {
      body();
      left.fetch_sub(1);
      executor.wake(&left);
    });
    ASSERT_TRUE(spawned.has_value());
  }
  const Status status = executor.wait({.key = &left, .ready = [&] { return left.load() == 0; }});
  ASSERT_TRUE(status.has_value());
}

// Two participants pass a token back and forth through one word.
void ping_pong(ThreadExecutor& executor, int rounds, bool in_user_code) {
  std::atomic<int> turn{0};
  const auto player = [&](int mine) {
    return [&, mine] {
      if (in_user_code) executor.enter_user_code();
      for (int round = 0; round < rounds; ++round) {
        const int wanted = 2 * round + mine;
        const Status status = executor.wait({.key = &turn,
                                             .ready = [&] { return turn.load() == wanted; },
                                             .in_user_code = in_user_code});
        ASSERT_TRUE(status.has_value());
        turn.store(wanted + 1);
        executor.wake(&turn);
      }
      if (in_user_code) executor.leave_user_code();
    };
  };
  run_all(executor, {player(0), player(1)});
  EXPECT_EQ(turn.load(), 2 * rounds);
}

TEST(ThreadExecutor, PassesATokenBackAndForthWhileRanksFitTheCores) {
  ThreadExecutor executor;
  ping_pong(executor, 20'000, false);
}

TEST(ThreadExecutor, PassesATokenBackAndForthOnOneCore) {
  ThreadExecutor executor(1);
  ping_pong(executor, 5'000, true);
}

TEST(ThreadExecutor, SleepingWaitersAreWokenWhileOthersCompute) {
  ThreadExecutor executor;
  executor.enter_user_code();  // Waiters must neither yield nor spin for long now.
  executor.enter_user_code();
  executor.enter_user_code();
  ping_pong(executor, 2'000, false);
  executor.leave_user_code();
  executor.leave_user_code();
  executor.leave_user_code();
}

TEST(ThreadExecutor, NobodySpinsWhileRanksOfTheHostHaveNoCore) {
  ThreadExecutor executor(2);
  EXPECT_TRUE(executor.spins());
  executor.know_of_host_ranks(2);
  EXPECT_TRUE(executor.spins());
  executor.know_of_host_ranks(3);
  EXPECT_FALSE(executor.spins());
  executor.know_of_host_ranks(1);  // another communicator; the ranks of the first are still there
  EXPECT_FALSE(executor.spins());
  ping_pong(executor, 100, false);
}

TEST(ThreadExecutor, SixtyFourRanksMeetManyTimes) {
  ThreadExecutor executor;
  constexpr int kRanks = 64;
  constexpr int kRounds = 50;
  std::atomic<int> arrived{0};
  std::vector<std::function<void()>> bodies;
  for (int rank = 0; rank < kRanks; ++rank) {
    bodies.emplace_back([&] {
      executor.enter_user_code();
      for (int round = 1; round <= kRounds; ++round) {
        if (arrived.fetch_add(1) + 1 == round * kRanks) executor.wake(&arrived);
        const Status status =
            executor.wait({.key = &arrived,
                           .ready = [&] { return arrived.load() >= round * kRanks; },
                           .in_user_code = true});
        ASSERT_TRUE(status.has_value());
      }
      executor.leave_user_code();
    });
  }
  run_all(executor, bodies);
  EXPECT_EQ(arrived.load(), kRanks * kRounds);
}

TEST(ThreadExecutor, RaisedFlagEndsTheWaitWithItsFirstError) {
  ThreadExecutor executor;
  const AbortFlag group;
  AbortFlag parent;
  const AbortFlag flag(&group, &parent);
  std::atomic<bool> waiting{false};
  std::atomic<int> word{0};
  run_all(executor, {[&] {
                       const Status status = executor.wait({.key = &word,
                                                            .ready =
                                                                [&] {
                                                                  waiting = true;
                                                                  return word.load() != 0;
                                                                },
                                                            .abort = &flag});
                       ASSERT_FALSE(status.has_value());
                       EXPECT_EQ(status.error().code, Code::kRankLeft);
                     },
                     [&] {
                       while (!waiting) {
                       }
                       parent.raise(Error::make(Code::kRankLeft, "rank 2 left"), executor);
                       parent.raise(Error::make(Code::kAborted, "too late"), executor);
                     }});
  EXPECT_TRUE(flag.raised());
}

TEST(ThreadExecutor, DeadlineThatHasPassedEndsTheWaitAndSaysForWhat) {
  ThreadExecutor executor;
  const int key = 0;
  const Status status = executor.wait({.key = &key,
                                       .ready = [] { return false; },
                                       .what = "nothing",
                                       .deadline = executor.now() + Nanos(100'000)});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kDeadline);
  EXPECT_EQ(status.error().message, "waited for nothing");
}

TEST(ThreadExecutor, SleeperPostsWhatItWaitsFor) {
  ThreadExecutor executor;
  alignas(8) std::uint64_t word = 0;
  const WordCondition condition{.address = &word, .value = 5};
  WaitPost post;
  struct Teller final : WaitObserver {
    std::atomic<bool> told{false};
    Executor* executor = nullptr;
    void on_blocked() override {
      told = true;
      executor->wake(&told);
    }
    void on_resumed() override { resumed = true; }
    std::atomic<bool> resumed{false};
  } teller;
  teller.executor = &executor;
  const std::atomic_ref<std::uint64_t> atomic_word(word);
  run_all(executor,
          {[&] {
             const Status status = executor.wait({.key = &word,
                                                  .ready = [&] { return condition.satisfied(); },
                                                  .what = "the fifth",
                                                  .condition = &condition,
                                                  .post = &post,
                                                  .observer = &teller});
             EXPECT_TRUE(status.has_value());
           },
           [&] {
             const Status told =
                 executor.wait({.key = &teller.told, .ready = [&] { return teller.told.load(); }});
             ASSERT_TRUE(told.has_value());
             const auto view = post.look();
             ASSERT_TRUE(view.has_value());
             EXPECT_EQ(view->what, "the fifth");
             EXPECT_EQ(view->condition.found(), 0U);
             EXPECT_FALSE(view->condition.satisfied());
             atomic_word.store(5);
             executor.wake(&word);
           }});
  EXPECT_FALSE(post.look().has_value());
  EXPECT_TRUE(teller.resumed);
}

TEST(ThreadExecutor, ThreadsOfEndedBodiesAreUsedAgain) {
  ThreadExecutor executor;
  std::atomic<int> ran{0};
  for (int i = 0; i < 200; ++i) run_all(executor, {[&] { ran.fetch_add(1); }});
  EXPECT_EQ(ran.load(), 200);
}

TEST(ThreadExecutor, ThreadsOfOthersAreCountedUnlessUserCodeRuns) {
  ThreadExecutor executor;
  const int before = executor.outsiders();
  EXPECT_GE(before, 1);
  std::atomic<bool> over{false};
  std::atomic<int> left{2};
  const auto stay = [&] {
    EXPECT_TRUE(executor.wait({.key = &over, .ready = [&] { return over.load(); }}).has_value());
    left.fetch_sub(1);
    executor.wake(&left);
  };
  ASSERT_TRUE(executor.spawn(Role::kService, "service", stay).has_value());
  EXPECT_EQ(executor.outsiders(), before);
  {
    const std::jthread other([&] { EXPECT_EQ(executor.outsiders(), before + 1); });
  }
  ASSERT_TRUE(executor.spawn(Role::kUserCode, "user code", stay).has_value());
  EXPECT_EQ(executor.outsiders(), -1);
  over.store(true);
  executor.wake(&over);
  EXPECT_TRUE(executor.wait({.key = &left, .ready = [&] { return left.load() == 0; }}).has_value());
  while (executor.outsiders() == -1) std::this_thread::yield();
}

TEST(Compare, HoldsAsItsNameSays) {
  EXPECT_TRUE(holds(Compare::kEqual, 3, 3));
  EXPECT_FALSE(holds(Compare::kEqual, 4, 3));
  EXPECT_TRUE(holds(Compare::kNotEqual, 4, 3));
  EXPECT_FALSE(holds(Compare::kNotEqual, 3, 3));
  EXPECT_TRUE(holds(Compare::kAtLeast, 4, 3));
  EXPECT_FALSE(holds(Compare::kAtLeast, 2, 3));
}

}  // namespace
}  // namespace commrig
