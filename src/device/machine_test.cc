// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/machine.h"

#include <array>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "device/event.h"
#include "device/kernel.h"

namespace commrig::device {
namespace {

using testing::HasSubstr;

class MachineTest : public testing::Test {
 protected:
  static constexpr int kDevices = 8;

  std::unique_ptr<Stream> stream(int device = 0) {
    Result<std::unique_ptr<Stream>> made = machine_.create_stream(device);
    EXPECT_TRUE(made.has_value());
    return std::move(made).value();
  }
  void* allocate(std::size_t bytes) { return *machine_.memory().allocate(0, bytes); }

  ThreadExecutor executor_;
  EventStream events_;
  Machine machine_{executor_, events_, {.devices = kDevices}};
};

TEST_F(MachineTest, CopiesAndFillsInTheOrderOfTheStream) {
  const auto s = stream();
  void* const memory = allocate(256);
  std::array<unsigned char, 256> out{};
  ASSERT_TRUE(fill(*s, memory, 7, 256).has_value());
  ASSERT_TRUE(copy(*s, out.data(), memory, 256).has_value());
  ASSERT_TRUE(fill(*s, memory, 9, 256).has_value());
  ASSERT_TRUE(machine_.synchronize(*s).has_value());
  EXPECT_THAT(out, testing::Each(7));
}

TEST_F(MachineTest, CopyWithABadDeviceRangeIsRefusedAtTheCall) {
  const auto s = stream();
  auto* const memory = static_cast<std::byte*>(allocate(256));
  std::array<std::byte, 512> host{};
  EXPECT_EQ(copy(*s, memory, host.data(), 257).error().code, Code::kOutOfRange);
  EXPECT_EQ(copy(*s, memory + 8, memory, 64).error().code, Code::kBadArgument);
  EXPECT_EQ(copy(*s, nullptr, memory, 64).error().code, Code::kUnknownPointer);
  EXPECT_EQ(fill(*s, host.data(), 0, 8).error().code, Code::kUnknownPointer);
  EXPECT_TRUE(machine_.synchronize(*s).has_value());
}

TEST_F(MachineTest, MemoryFreedBeforeTheCopyRanFailsTheStream) {
  const auto s = stream();
  void* const memory = allocate(64);
  std::array<std::byte, 64> host{};
  ASSERT_TRUE(call(*s, [&] { return machine_.memory().release(memory); }).has_value());
  const Status enqueued = copy(*s, host.data(), memory, 64);
  const Status status = machine_.synchronize(*s);
  // The callback may have run before the copy was enqueued; one of the two must have seen it.
  const Error& error = enqueued.has_value() ? status.error() : enqueued.error();
  EXPECT_EQ(error.code, Code::kFreedPointer);
}

TEST_F(MachineTest, WorkThatNobodyWaitsForIsDoneAllTheSame) {
  const auto s = stream();
  std::atomic<bool> ran{false};
  ASSERT_TRUE(call(*s, [&] {
                ran = true;
                executor_.wake(&ran);
                return ok();
              }).has_value());
  EXPECT_TRUE(executor_.wait({.key = &ran, .ready = [&] { return ran.load(); }}).has_value());
}

TEST_F(MachineTest, KernelErrorIsStickyAndCancelsWhatIsBehindIt) {
  const auto s = stream();
  bool ran = false;
  Event behind;
  ASSERT_TRUE(launch(*s, {.name = "bad"}, [](KernelContext&) -> Status {
                return Error::make(Code::kBadArgument, "as asked");
              }).has_value());
  const Status second = call(*s, [&] {
    ran = true;
    return ok();
  });
  const Status third = behind.record(*s);
  EXPECT_EQ(machine_.synchronize(*s).error().code, Code::kBadArgument);
  EXPECT_EQ(machine_.synchronize(*s).error().code, Code::kBadArgument);
  EXPECT_FALSE(ran);
  EXPECT_EQ(call(*s, [] { return ok(); }).error().code, Code::kStreamFailed);
}

TEST_F(MachineTest, ExceptionsOfKernelsAndCallbacksBecomeErrors) {
  const auto s = stream(1);
  ASSERT_TRUE(launch(*s, {.name = "thrower", .rank = 5}, [](KernelContext&) -> Status {
                throw std::runtime_error("out of beans");
              }).has_value());
  const Error error = machine_.synchronize(*s).error();
  EXPECT_EQ(error.code, Code::kKernelThrew);
  EXPECT_THAT(error.message, HasSubstr("thrower of rank 5 threw: out of beans"));
  const auto other = stream(1);
  ASSERT_TRUE(call(*other, []() -> Status { throw 3; }).has_value());
  EXPECT_EQ(machine_.synchronize(*other).error().code, Code::kKernelThrew);
}

TEST_F(MachineTest, StreamWaitingForAnEventOfAFailedStreamFailsToo) {
  const auto first = stream(0);
  const auto second = stream(1);
  std::atomic<bool> go{false};
  Event event;
  ASSERT_TRUE(call(*first, [&]() -> Status {
                COMMRIG_TRY(executor_.wait({.key = &go, .ready = [&] { return go.load(); }}));
                return Error::make(Code::kBadArgument, "first");
              }).has_value());
  ASSERT_TRUE(event.record(*first).has_value());
  ASSERT_TRUE(event.make_wait(*second).has_value());
  go = true;
  executor_.wake(&go);
  EXPECT_EQ(machine_.synchronize(*second).error().code, Code::kBadArgument);
}

TEST_F(MachineTest, EventsOrderStreamsAndMeasureTime) {
  const auto first = stream(0);
  const auto second = stream(1);
  void* const memory = allocate(8);
  Event start;
  Event end;
  std::uint64_t seen = 0;
  EXPECT_EQ(start.query().error().code, Code::kEventState);
  ASSERT_TRUE(start.record(*first).has_value());
  ASSERT_TRUE(fill(*first, memory, 0xFF, 8).has_value());
  ASSERT_TRUE(end.record(*first).has_value());
  ASSERT_TRUE(end.make_wait(*second).has_value());
  ASSERT_TRUE(copy(*second, &seen, memory, 8).has_value());
  ASSERT_TRUE(machine_.synchronize(*second).has_value());
  EXPECT_EQ(seen, ~std::uint64_t{0});
  EXPECT_TRUE(end.synchronize(machine_).has_value());
  EXPECT_TRUE(*end.query());
  EXPECT_GE(Event::elapsed(start, end)->count(), 0);
}

TEST_F(MachineTest, BlocksOfAKernelRunAtTheSameTimeAndMeetThroughAWindow) {
  const auto s = stream(2);
  void* const memory = allocate(64);
  ASSERT_TRUE(fill(*s, memory, 0, 64).has_value());
  const auto barrier = [](KernelContext& context, void* flags) -> Status {
    COMMRIG_ASSIGN(const Window window, context.window(flags, 64, 8));
    COMMRIG_TRY(context.add<std::uint64_t>(window, 0, 1));
    return context.wait<std::uint64_t>(window, 0, Compare::kEqual,
                                       static_cast<std::uint64_t>(context.blocks()),
                                       {.what = "barrier"});
  };
  ASSERT_TRUE(launch(*s, {.blocks = 16}, barrier, memory).has_value());
  EXPECT_TRUE(machine_.synchronize(*s).has_value());
}

TEST_F(MachineTest, BlockThatFailsEndsTheWaitsOfItsSiblings) {
  const auto s = stream();
  void* const memory = allocate(64);
  ASSERT_TRUE(fill(*s, memory, 0, 64).has_value());
  ASSERT_TRUE(launch(
                  *s, {.blocks = 4},
                  [](KernelContext& context, void* flags) -> Status {
                    COMMRIG_ASSIGN(const Window window, context.window(flags, 64, 8));
                    if (context.block() == 2) return Error::make(Code::kBadArgument, "block 2");
                    return context.wait<std::uint64_t>(window, 0, Compare::kEqual, 1, {});
                  },
                  memory)
                  .has_value());
  EXPECT_THAT(machine_.synchronize(*s).error().message, HasSubstr("block 2"));
}

TEST_F(MachineTest, AccessOutsideAWindowIsAnErrorWithTheNumbers) {
  const auto s = stream();
  void* const memory = allocate(64);
  ASSERT_TRUE(
      launch(
          *s, {},
          [](KernelContext& context, void* base) -> Status {
            COMMRIG_ASSIGN(const Window window, context.window(base, 64));
            EXPECT_EQ(context.load<std::uint32_t>(window, 62).error().code, Code::kOutOfRange);
            EXPECT_EQ(context.load<std::uint32_t>(window, 2).error().code, Code::kMisaligned);
            EXPECT_EQ(context.store<std::uint64_t>(window, SIZE_MAX - 3, 1).error().code,
                      Code::kOutOfRange);
            EXPECT_EQ(context.put(window, 60, &base, 8).error().code, Code::kOutOfRange);
            std::uint64_t out = 0;
            EXPECT_EQ(context.get(window, 64, &out, 1).error().code, Code::kOutOfRange);
            EXPECT_TRUE(context.get(window, 64, &out, 0).has_value());
            return context.wait<std::uint32_t>(window, 64, Compare::kEqual, 0, {});
          },
          memory)
          .has_value());
  EXPECT_EQ(machine_.synchronize(*s).error().code, Code::kOutOfRange);
}

TEST_F(MachineTest, SynchroniseWithADeadlineReturnsWhileTheKernelStillWaits) {
  const auto s = stream();
  void* const memory = allocate(8);
  ASSERT_TRUE(fill(*s, memory, 0, 8).has_value());
  ASSERT_TRUE(launch(
                  *s, {},
                  [](KernelContext& context, void* base) -> Status {
                    COMMRIG_ASSIGN(const Window window, context.window(base, 8));
                    return context.wait<std::uint64_t>(window, 0, Compare::kEqual, 1, {});
                  },
                  memory)
                  .has_value());
  EXPECT_EQ(machine_.synchronize(*s, executor_.now() + Nanos(1'000'000)).error().code,
            Code::kDeadline);
  machine_.abort(Error::make(Code::kAborted, "the test is over"));
  EXPECT_EQ(machine_.synchronize(*s).error().code, Code::kAborted);
}

// One hop of a ring: may go on once its left neighbour has done the step before.
class RingHop final : public Work {
 public:
  RingHop(std::vector<std::atomic<int>>& done, std::size_t mine, int step)
      : done_(done), mine_(mine), step_(step) {}
  Result<Progress> step() override {
    const std::size_t left = (mine_ + done_.size() - 1) % done_.size();
    if (done_[left].load() < step_) return Progress::kPending;
    done_[mine_].store(step_ + 1);
    return Progress::kDone;
  }

 private:
  std::vector<std::atomic<int>>& done_;
  std::size_t mine_;
  int step_;
};

class RingTest : public MachineTest, public testing::WithParamInterface<bool> {};

TEST_P(RingTest, OneThreadDrivesEightDevicesWithoutDeadlock) {
  std::vector<std::atomic<int>> done(kDevices);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int device = 0; device < kDevices; ++device) streams.push_back(stream(device));
  for (std::size_t i = 0; i < kDevices; ++i) {
    for (int step = 0; step < 2; ++step) {
      ASSERT_TRUE(streams[i]->enqueue(std::make_unique<RingHop>(done, i, step)).has_value());
    }
  }
  std::vector<int> order(kDevices);
  std::iota(order.begin(), order.end(), 0);
  if (GetParam()) std::ranges::reverse(order);
  for (const int device : order) ASSERT_TRUE(machine_.synchronize_device(device).has_value());
  for (const std::atomic<int>& each : done) EXPECT_EQ(each.load(), 2);
}

INSTANTIATE_TEST_SUITE_P(BothOrders, RingTest, testing::Bool());

// Goes on when it is let, or given up.
class StuckWork final : public Work {
 public:
  StuckWork(Machine& machine, std::atomic<bool>& let) : machine_(machine), let_(let) {}
  Result<Progress> step() override {
    if (given_up_) return *given_up_;
    return let_.load() ? Progress::kDone : Progress::kPending;
  }
  bool may_go_on() const override { return given_up_.has_value() || let_.load(); }
  bool waits_for_works() const override { return true; }
  std::string describe_wait() const override { return "rank 0 waits"; }
  void give_up(const Error& error) override {
    given_up_ = error;
    machine_.poke();
  }

 private:
  Machine& machine_;
  std::atomic<bool>& let_;
  std::optional<Error> given_up_;
};

TEST_F(MachineTest, AWorkForWhichNobodyIsLeftIsGivenUp) {
  std::atomic<bool> never{false};
  machine_.end_stalls([] { return 1; });
  const auto first = stream(0);
  const auto second = stream(1);
  ASSERT_TRUE(first->enqueue(std::make_unique<StuckWork>(machine_, never)).has_value());
  Event event;
  ASSERT_TRUE(event.record(*first).has_value());
  ASSERT_TRUE(event.make_wait(*second).has_value());
  const Status status = machine_.synchronize(*second);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kCallMissing);
  EXPECT_EQ(status.error().message, "rank 0 waits");
  EXPECT_FALSE(machine_.synchronize(*first).has_value());
}

TEST_F(MachineTest, NothingIsGivenUpWhileSomebodyCouldStillCall) {
  std::atomic<bool> let{false};
  machine_.end_stalls([&] {
    let.store(true);  // as a thread does that is about to
    machine_.poke();
    return 2;
  });
  const auto one = stream(0);
  ASSERT_TRUE(one->enqueue(std::make_unique<StuckWork>(machine_, let)).has_value());
  EXPECT_TRUE(machine_.synchronize(*one).has_value());
  EXPECT_TRUE(let.load());
}

TEST_F(MachineTest, DevicesThatDoNotExistAreNamed) {
  for (const int device : {-1, kDevices, 1 << 30}) {
    const Status status = machine_.synchronize_device(device);
    ASSERT_FALSE(status.has_value()) << device;
    EXPECT_EQ(status.error().code, Code::kBadDevice);
    EXPECT_EQ(machine_.create_stream(device).error().code, Code::kBadDevice);
  }
}

TEST_F(MachineTest, KernelsOfEightDevicesPassATokenRoundTheRingTwice) {
  auto* const flags = static_cast<std::byte*>(allocate(kDevices * 64));
  {
    const auto s = stream();
    ASSERT_TRUE(fill(*s, flags, 0, kDevices * 64).has_value());
    ASSERT_TRUE(machine_.synchronize(*s).has_value());
  }
  const auto hop = [](KernelContext& context, std::byte* base, int step) -> Status {
    COMMRIG_ASSIGN(const Window window, context.window(base, kDevices * 64, 8));
    const auto mine = static_cast<std::size_t>(context.rank());
    const std::size_t left = (mine + kDevices - 1) % kDevices;
    COMMRIG_TRY(context.wait<std::uint64_t>(window, left * 64, Compare::kAtLeast,
                                            static_cast<std::uint64_t>(step),
                                            {.what = "left neighbour"}));
    return context.notify<std::uint64_t>(window, mine * 64, static_cast<std::uint64_t>(step) + 1);
  };
  std::vector<std::unique_ptr<Stream>> streams;
  for (int device = 0; device < kDevices; ++device) streams.push_back(stream(device));
  for (int step = 0; step < 2; ++step) {
    for (const auto& s : streams) ASSERT_TRUE(launch(*s, {}, hop, flags, step).has_value());
  }
  for (const auto& s : streams) EXPECT_TRUE(machine_.synchronize(*s).has_value());
}

TEST_F(MachineTest, ManyThreadsEnqueueAndSynchroniseAtOnce) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 100;
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto s = stream(t % kDevices);
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_TRUE(call(*s, [&] {
                      ran.fetch_add(1);
                      return ok();
                    }).has_value());
        if (round % 3 == 0) {
          ASSERT_TRUE(machine_.synchronize(*s).has_value());
        }
      }
      ASSERT_TRUE(machine_.synchronize(*s).has_value());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran.load(), kThreads * kRounds);
}

TEST_F(MachineTest, UnknownDeviceIsRefused) {
  EXPECT_EQ(machine_.create_stream(kDevices).error().code, Code::kBadDevice);
  EXPECT_EQ(machine_.create_stream(-1).error().code, Code::kBadDevice);
  const auto s = stream();
  EXPECT_EQ(launch(*s, {.blocks = 0}, [](KernelContext&) { return ok(); }).error().code,
            Code::kBadArgument);
}

}  // namespace
}  // namespace commrig::device
