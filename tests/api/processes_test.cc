// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Ranks of several processes, which find each other by an id or by what a launcher says.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <gmock/gmock.h>

#include "tests/api/ranks.h"

namespace {

using commrig::Communicator;
using commrig::Dtype;
using commrig::ReduceOp;
using commrig::Result;
using commrig::Runtime;
using commrig::Stream;
using commrig::UniqueId;
using testing::HasSubstr;

static_assert(std::is_trivially_copyable_v<UniqueId> && sizeof(UniqueId) == 128);

// A child that gets an id and says at its end whether all was good. Forked while this process has
// no threads.
class Child {
 public:
  template <class Body>
  explicit Child(const Body& body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    std::fflush(nullptr);  // or the child says it again at its end
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      UniqueId id;
      const bool got = ::read(ends[0], &id, sizeof(id)) == sizeof(id);
      std::exit(got && body(id) && !testing::Test::HasFailure() ? 0 : 1);  // NOLINT
    }
    ::close(ends[0]);
    pipe_ = ends[1];
  }
  ~Child() {
    ::close(pipe_);
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void start(const UniqueId& id) const { EXPECT_EQ(::write(pipe_, &id, sizeof(id)), 128); }
  // The child's exit code, or minus the signal that ended it.
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

// Whether the ranks' numbers add up.
bool sums(Runtime& runtime, Communicator& comm) {
  Stream stream = Stream::create(runtime).value();
  std::int32_t value = comm.rank();
  comm.all_reduce(stream, {&value, &value}, 1, Dtype::kInt32, ReduceOp::kSum).value();
  stream.synchronize().value();
  return value == comm.size() * (comm.size() - 1) / 2;
}

// Ranks [first, first + 2) of 4 as threads of this process.
bool join_two_threads(Runtime& runtime, const UniqueId& id, int first) {
  bool good[2] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      Result<Communicator> comm = Communicator::create(runtime, id, first + i, 4);
      EXPECT_TRUE(comm) << commrig::to_string(comm.error());
      good[i] = comm && comm->rank() == first + i && comm->size() == 4 && sums(runtime, *comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return good[0] && good[1];
}

TEST(ProcessesTest, ThreadsOfTwoProcessesSum) {
  Child child([](const UniqueId& id) {
    Runtime runtime = Runtime::create().value();
    return join_two_threads(runtime, id, 2);
  });
  Runtime runtime = Runtime::create().value();
  const UniqueId id = commrig::make_unique_id(runtime).value();
  child.start(id);
  EXPECT_TRUE(join_two_threads(runtime, id, 0));
  EXPECT_EQ(child.wait(), 0);
}

TEST(ProcessesTest, WorldIsWhatTheLauncherSays) {
  Child child([](const UniqueId& id) {
    ::setenv("COMMRIG_RANK", "1", 1);  // NOLINT(concurrency-mt-unsafe) there are no threads yet
    ::setenv("COMMRIG_RANKS", "2", 1);
    ::setenv("COMMRIG_ID", commrig::to_string(id).value().c_str(), 1);
    Runtime runtime = Runtime::create().value();
    Communicator world = Communicator::world(runtime).value();
    return world.rank() == 1 && world.size() == 2 && sums(runtime, world);
  });
  Runtime runtime = Runtime::create().value();
  const UniqueId id = commrig::make_unique_id(runtime).value();
  child.start(id);
  Communicator comm = Communicator::create(runtime, id, 0, 2).value();
  EXPECT_TRUE(sums(runtime, comm));
  EXPECT_EQ(child.wait(), 0);
}

TEST(ProcessesTest, WorldAloneIsOneRank) {
  Runtime runtime = Runtime::create().value();
  Communicator world = Communicator::world(runtime).value();
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  EXPECT_TRUE(sums(runtime, world));
}

TEST(ProcessesTest, DeadProcessIsNamed) {
  Child child([](const UniqueId& id) {
    Runtime runtime = Runtime::create().value();
    Communicator comm = Communicator::create(runtime, id, 1, 2).value();
    ::kill(::getpid(), SIGKILL);
    return false;
  });
  Runtime runtime = Runtime::create().value();
  const UniqueId id = commrig::make_unique_id(runtime).value();
  child.start(id);
  Communicator comm = Communicator::create(runtime, id, 0, 2).value();
  EXPECT_EQ(child.wait(), -SIGKILL);
  Stream stream = Stream::create(runtime).value();
  float value = 1;
  // Its end is seen at once: by the call, or by the operation.
  commrig::Status status =
      comm.all_reduce(stream, {&value, &value}, 1, Dtype::kFp32, ReduceOp::kSum);
  if (status) status = stream.synchronize();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, commrig::ErrorKind::kPeerLost);
  EXPECT_THAT(status.error().message, HasSubstr("rank 1"));
}

TEST(UniqueIdTest, TextAndBytesAreTheSameId) {
  Runtime runtime = Runtime::create().value();
  const UniqueId id = commrig::make_unique_id(runtime).value();
  const std::string text = commrig::to_string(id).value();
  EXPECT_THAT(text, testing::MatchesRegex("[0-9a-f]{16}@.+:[0-9]+"));
  EXPECT_EQ(commrig::parse_unique_id(text).value(), id);
  EXPECT_NE(commrig::make_unique_id(runtime).value(), id);
}

TEST(UniqueIdTest, WhatIsNoIdIsAnError) {
  Runtime runtime = Runtime::create().value();
  EXPECT_ERROR(commrig::to_string(UniqueId{}), "CR-BOOT01");
  EXPECT_ERROR(Communicator::create(runtime, UniqueId{}, 0, 1), "CR-BOOT01");
  for (const char* text : {"", "0", "x@127.0.0.1:1", "0123456789abcdef@nowhere:1"}) {
    EXPECT_ERROR(commrig::parse_unique_id(text), "CR-BOOT01");
  }
}

TEST(UniqueIdTest, MissingRanksAreNamedAtTheDeadline) {
  Runtime runtime = Runtime::create().value();
  const UniqueId id = commrig::make_unique_id(runtime, {std::chrono::milliseconds(1)}).value();
  const auto comm = Communicator::create(runtime, id, 1, 3);
  ASSERT_FALSE(comm);
  EXPECT_EQ(comm.error().id, "CR-BOOT07");
  EXPECT_THAT(comm.error().message, HasSubstr("missing: ranks 0, 2"));
}

TEST(UniqueIdTest, WrongArgumentsAreErrors) {
  Runtime runtime = Runtime::create().value();
  EXPECT_ERROR(commrig::make_unique_id(runtime, {std::chrono::milliseconds(-1)}), "CR-RUN04");
  const UniqueId id = commrig::make_unique_id(runtime).value();
  for (const auto& [rank, ranks] : {std::pair{-1, 2}, {2, 2}, {0, 0}, {0, -1}}) {
    EXPECT_ERROR(Communicator::create(runtime, id, rank, ranks), "CR-RUN04");
  }
  commrig::CommunicatorOptions options;
  options.algorithms = "all-reduce=circle";
  EXPECT_ERROR(Communicator::create(runtime, id, 0, 1, options), "CR-COL06");
  EXPECT_ERROR(Communicator::world(runtime, options), "CR-COL06");
  // None of them has used the id.
  EXPECT_TRUE(Communicator::create(runtime, id, 0, 1));
}

TEST(UniqueIdTest, RuntimeThatWasMovedFromIsAnError) {
  Runtime runtime = Runtime::create().value();
  const UniqueId id = commrig::make_unique_id(runtime).value();
  const Runtime other = std::move(runtime);
  EXPECT_ERROR(commrig::make_unique_id(runtime), "CR-RUN09");  // NOLINT(bugprone-use-after-move)
  EXPECT_ERROR(Communicator::create(runtime, id, 0, 1), "CR-RUN09");
  EXPECT_ERROR(Communicator::world(runtime), "CR-RUN09");
}

}  // namespace
