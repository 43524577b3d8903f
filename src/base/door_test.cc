// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/door.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include <gtest/gtest.h>

#include "base/thread_executor.h"

namespace commrig {
namespace {

// Two doors in memory that a forked child shares.
class Doors {
 public:
  Doors()
      : memory_(::mmap(nullptr, 2 * sizeof(Door), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    first = new (memory_) Door;
    second = new (static_cast<std::byte*>(memory_) + sizeof(Door)) Door;
  }
  ~Doors() { ::munmap(memory_, 2 * sizeof(Door)); }
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  Door* first;
  Door* second;

 private:
  void* memory_;
};

// Answers each ring at `mine` with one at `other`, `rounds` times.
Status play(Door& mine, Door& other, std::uint64_t rounds, bool starts) {
  ThreadExecutor executor(1);
  executor.use_door(&mine, mine);
  executor.enter_user_code();
  executor.enter_user_code();  // More ranks than cores: don't spin, sleep soon.
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (starts) ring(other);
    const auto rung = [&] { return mine.rung.load(std::memory_order_acquire) >= round; };
    COMMRIG_TRY(executor.wait({.key = &mine, .ready = rung}));
    if (!starts) ring(other);
  }
  return ok();
}

TEST(Door, ThreadsOfOneProcessRingEachOther) {
  const Doors doors;
  ThreadExecutor executor;
  std::atomic<bool> ended{false};
  ASSERT_TRUE(executor.spawn(Role::kUserCode, "peer", [&] {
    EXPECT_TRUE(play(*doors.second, *doors.first, 5000, false).has_value());
    ended = true;
    executor.wake(&ended);
  }));
  EXPECT_TRUE(play(*doors.first, *doors.second, 5000, true).has_value());
  EXPECT_TRUE(executor.wait({.key = &ended, .ready = [&] { return ended.load(); }}));
}

TEST(Door, WakesAThreadThatSleepsInAnotherProcess) {
  const Doors doors;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::_exit(play(*doors.second, *doors.first, 2000, false).has_value() ? 0 : 1);
  }
  EXPECT_TRUE(play(*doors.first, *doors.second, 2000, true).has_value());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(doors.second->rung.load(), 2000U);
}

TEST(Door, ThreadsThatSleepMoveToADoorThatIsHungLater) {
  const Doors doors;
  ThreadExecutor executor;
  for (int round = 0; round < 200; ++round) {
    ThreadExecutor sleeping(1);
    sleeping.enter_user_code();
    sleeping.enter_user_code();  // Don't spin, sleep soon.
    std::atomic<int> step{0};
    std::atomic<bool> ended{false};
    ASSERT_TRUE(executor.spawn(Role::kUserCode, "sleeper", [&] {
      step = 1;
      EXPECT_TRUE(sleeping.wait({.key = &step, .ready = [&] { return step.load() == 2; }}));
      ended = true;
      executor.wake(&ended);
    }));
    while (step.load() == 0) ::sched_yield();
    for (int i = 0; i < round; ++i) ::sched_yield();  // asleep in some rounds, not yet in others
    sleeping.use_door(&step, *doors.first);
    step = 2;
    ring(*doors.first);
    ASSERT_TRUE(executor.wait({.key = &ended, .ready = [&] { return ended.load(); }}));
  }
}

TEST(Door, WakeOfTheKeyAndOfAllReachSleepersAtTheDoor) {
  Door door;
  ThreadExecutor executor(1);
  executor.use_door(&door, door);
  std::atomic<int> word{0};
  std::atomic<bool> ended{false};
  ASSERT_TRUE(executor.spawn(Role::kUserCode, "sleeper", [&] {
    EXPECT_TRUE(executor.wait({.key = &door, .ready = [&] { return word.load() >= 1; }}));
    word = 2;
    executor.wake_all();
    EXPECT_TRUE(executor.wait({.key = &door, .ready = [&] { return word.load() >= 3; }}));
    ended = true;
    executor.wake(&ended);
  }));
  word = 1;
  executor.wake(&door);
  EXPECT_TRUE(executor.wait({.key = &door, .ready = [&] { return word.load() >= 2; }}));
  word = 3;
  executor.wake_all();
  EXPECT_TRUE(executor.wait({.key = &ended, .ready = [&] { return ended.load(); }}));
}

}  // namespace
}  // namespace commrig
