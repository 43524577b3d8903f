// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/shm_link.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/rng.h"
#include "base/unix_socket.h"
#include "tests/conformance/link_suite.h"
#include "transport/link_memory.h"
#include "transport/peers.h"

namespace commrig::transport {
namespace {

using testing::HasSubstr;

struct Reading {
  bool arenas;
  bool host;
};

// What one process has beside the link: device memory, a door, and its view of the other.
struct Side {
  device::Memory memory{device::MemoryOptions{}};
  Segment door_segment;
  Door* door = nullptr;
  std::unique_ptr<PeerMemory> peer;
  std::unique_ptr<Link> link;

  // `rank` is this side's; the door may be one that stands elsewhere.
  void connect(int rank, Socket socket, const Reading& reading) {
    door_segment = std::move(*Segment::create("door", sizeof(Door)));
    door = new (door_segment.base()) Door;
    peer = std::move(*PeerMemory::create({.rank = 1 - rank,
                                          .socket = std::move(socket),
                                          .memory = &memory,
                                          .door = &door_segment,
                                          .maps_arenas = reading.arenas,
                                          .reads_host = reading.host}));
  }
  void make_link(int rank, Segment segment, Waker& waker) {
    link = std::move(*make_shm_link(
        std::move(segment),
        {.ends = {.rank = rank, .peer = 1 - rank}, .side = rank, .peer = *peer, .waker = waker}));
  }
};

// Both processes are this one, with two mappings of everything. Doors are the suite's: a thread of
// each side waits at the one in shared memory and passes the ring on.
class ShmWorld final : public LinkWorld {
 public:
  ShmWorld(Waker& a, Waker& b, const Reading& reading, bool in_arena)
      : wakers_{&a, &b}, in_arena_(in_arena) {
    auto sockets = *unix_pair();
    sides_[0].connect(0, std::move(sockets.first), reading);
    sides_[1].connect(1, std::move(sockets.second), reading);
    for (Side& side : sides_) EXPECT_TRUE(*side.peer->meet());
    const Segment segment = std::move(*make_shm_segment());
    EXPECT_TRUE(sides_[0].peer->give({7, 1}, segment));
    EXPECT_TRUE(sides_[1].peer->give({7, 0}, segment));
    for (int rank : {0, 1}) {
      Side& side = sides_[rank];
      const Tag tag{7, static_cast<std::uint64_t>(rank)};
      side.make_link(rank, std::move(**side.peer->take(tag)), *wakers_[rank]);
      pass_rings_on(rank);
    }
  }
  ~ShmWorld() override {
    closing_ = true;
    for (Side& side : sides_) ring(*side.door);
    const auto ended = [this] { return passers_.load() == 0; };
    EXPECT_TRUE(main_.wait({.key = &passers_, .ready = ended}));
    sides_[0].link.reset();
    sides_[1].link.reset();
  }
  ShmWorld(const ShmWorld&) = delete;
  ShmWorld& operator=(const ShmWorld&) = delete;

  Link& a() override { return *sides_[0].link; }
  Link& b() override { return *sides_[1].link; }
  void close_b() override { sides_[1].link.reset(); }
  std::span<const std::byte> place(int rank, std::span<const std::byte> bytes) override {
    if (!in_arena_ || bytes.empty()) return bytes;
    device::Memory& memory = sides_[rank].memory;
    if (placed_[rank] != nullptr) {
      EXPECT_TRUE(memory.release(placed_[rank]));
    }
    placed_[rank] = static_cast<std::byte*>(*memory.allocate(0, bytes.size()));
    std::ranges::copy(bytes, placed_[rank]);
    return {placed_[rank], bytes.size()};
  }

 private:
  void pass_rings_on(int rank) {
    executors_[rank].use_door(sides_[rank].door, *sides_[rank].door);
    passers_.fetch_add(1);
    EXPECT_TRUE(main_.spawn(Role::kService, "door", [this, rank] {
      Door& door = *sides_[rank].door;
      std::uint64_t seen = 0;
      while (!closing_) {
        const auto rung = [&] { return door.rung.load(std::memory_order_acquire) != seen; };
        EXPECT_TRUE(executors_[rank].wait({.key = &door, .ready = rung}));
        seen = door.rung.load(std::memory_order_acquire);
        wakers_[rank]->wake();
      }
      passers_.fetch_sub(1);
      main_.wake(&passers_);
    }));
  }

  Waker* wakers_[2];
  bool in_arena_;
  std::byte* placed_[2] = {nullptr, nullptr};
  Side sides_[2];
  std::atomic<bool> closing_{false};
  std::atomic<int> passers_{0};
  ThreadExecutor executors_[2];
  ThreadExecutor main_;
};

LinkCase shm_case(const char* name, Reading reading, bool in_arena) {
  return {.name = name, .make = [=](Waker& a, Waker& b) {
            return std::make_unique<ShmWorld>(a, b, reading, in_arena);
          }};
}

const LinkCase kCases[] = {
    shm_case("Arena", {.arenas = true, .host = false}, true),
    shm_case("HostRead", {.arenas = false, .host = true}, false),
    shm_case("HostReadOfDeviceMemory", {.arenas = false, .host = true}, true),
    shm_case("Staged", {.arenas = false, .host = false}, false),
    shm_case("HostStaged", {.arenas = true, .host = false}, false),
};

INSTANTIATE_TEST_SUITE_P(Shm, LinkTest, testing::ValuesIn(kCases), name_of);
INSTANTIATE_TEST_SUITE_P(Shm, PairLinkTest, testing::ValuesIn(kCases), name_of);

// How many bytes of a message of 1 MB pass through the ring.
std::uint64_t staged_bytes(const Reading& reading, bool in_arena) {
  Side sides[2];
  auto sockets = *unix_pair();
  sides[0].connect(0, std::move(sockets.first), reading);
  sides[1].connect(1, std::move(sockets.second), reading);
  for (Side& side : sides) EXPECT_TRUE(*side.peer->meet());
  Segment segment = std::move(*make_shm_segment());
  LinkMemory* const memory = *LinkMemory::find(segment.memory());
  EXPECT_TRUE(sides[0].peer->give({}, segment));
  DoorWaker wakers[2] = {DoorWaker(*sides[0].door), DoorWaker(*sides[1].door)};
  sides[1].make_link(1, std::move(**sides[1].peer->take({})), wakers[1]);
  sides[0].make_link(0, std::move(segment), wakers[0]);

  Bytes source = pattern(1, 1'000'000);
  if (in_arena) {
    auto* const place = static_cast<std::byte*>(*sides[0].memory.allocate(0, source.size()));
    std::ranges::copy(source, place);
    Bytes target(source.size());
    Outgoing out{.data = place, .bytes = source.size()};
    Incoming in{.data = target.data(), .bytes = target.size()};
    while (*sides[1].link->recv(in) == Progress::kPending) EXPECT_TRUE(sides[0].link->send(out));
    EXPECT_EQ(target, source);
    EXPECT_EQ(*sides[0].link->send(out), Progress::kDone);
  } else {
    Bytes target(source.size());
    Outgoing out{.data = source.data(), .bytes = source.size()};
    Incoming in{.data = target.data(), .bytes = target.size()};
    bool sent = false;
    while (*sides[1].link->recv(in) == Progress::kPending) {
      if (!sent) sent = *sides[0].link->send(out) == Progress::kDone;
    }
    EXPECT_EQ(target, source);
    if (!sent) {
      EXPECT_EQ(*sides[0].link->send(out), Progress::kDone);
    }
  }
  return memory->lanes[0].tail.load();
}

TEST(ShmLink, LargeMessagesPassThroughTheRingOnlyWhereTheyCannotBeRead) {
  EXPECT_EQ(staged_bytes({.arenas = true, .host = false}, true), sizeof(RingHeader));
  EXPECT_EQ(staged_bytes({.arenas = false, .host = true}, false), sizeof(RingHeader));
  EXPECT_EQ(staged_bytes({.arenas = true, .host = false}, false), sizeof(RingHeader) + 1'000'000);
  EXPECT_EQ(staged_bytes({.arenas = false, .host = false}, true), sizeof(RingHeader) + 1'000'000);
}

// What the forked process does; its exit code is 0 when the result is ok.
using Part = std::function<Status(Side& side, Driver& driver)>;

// Rank 1 is a process of its own.
class ForkedLink : public testing::TestWithParam<Reading> {
 protected:
  // Forks, runs `child` there, and meets it here.
  void start(const Part& child, const Reading& reading) {
    auto sockets = *unix_pair();
    allow_readers();
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      sockets.first.close();
      const Status status = run(1, std::move(sockets.second), reading, child);
      if (!status) fmt::print(stderr, "rank 1: {}\n", to_string(status.error()));
      ::_exit(status ? 0 : 1);
    }
    sockets.second.close();
    socket_ = std::move(sockets.first);
  }
  static Status run(int rank, Socket socket, const Reading& reading, const Part& part) {
    Side side;
    allow_readers();
    side.connect(rank, std::move(socket), reading);
    Driver driver(*side.door);
    DoorWaker waker(*side.door);
    COMMRIG_TRY(driver.until_done([&]() -> Result<Progress> {
      COMMRIG_ASSIGN(const bool met, side.peer->meet());
      if (!met) ring(*side.door);
      return met ? Progress::kDone : Progress::kPending;
    }));
    const Tag tag{1, 2};
    std::optional<Segment> segment;
    if (rank == 0) {
      COMMRIG_ASSIGN(segment, make_shm_segment());
      COMMRIG_TRY(side.peer->give(tag, *segment));
    }
    COMMRIG_TRY(driver.until_done([&]() -> Result<Progress> {
      if (!segment.has_value()) {
        COMMRIG_ASSIGN(segment, side.peer->take(tag));
      }
      if (!segment.has_value()) ring(*side.door);
      return segment.has_value() ? Progress::kDone : Progress::kPending;
    }));
    side.make_link(rank, std::move(*segment), waker);
    return part(side, driver);
  }
  // Takes the child's end; its wait status.
  int reap() {
    int status = 0;
    if (child_ > 0) {
      EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    }
    child_ = -1;
    return status;
  }
  void TearDown() override { reap(); }

  pid_t child_ = -1;
  Socket socket_;
};

TEST_P(ForkedLink, RandomTrafficBetweenProcessesArrivesAsTheModelSays) {
  const std::uint64_t seed = seed_from_environment(20'251'202);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  const auto traffic = [seed](int rank) {
    return [seed, rank](Side& side, Driver& driver) {
      // Every other message lies in device memory.
      std::byte* placed = nullptr;
      bool inside = false;
      const auto place = [&](std::span<const std::byte> bytes) -> std::span<const std::byte> {
        inside = !inside;
        if (!inside || bytes.empty()) return bytes;
        if (placed != nullptr) {
          EXPECT_TRUE(side.memory.release(placed));
        }
        placed = static_cast<std::byte*>(*side.memory.allocate(0, bytes.size()));
        std::ranges::copy(bytes, placed);
        return {placed, bytes.size()};
      };
      return random_traffic(driver, *side.link, rank, seed, place);
    };
  };
  start(traffic(1), GetParam());
  const Status status = run(0, std::move(socket_), GetParam(), traffic(0));
  EXPECT_TRUE(status.has_value()) << to_string(status.error());
  EXPECT_EQ(reap(), 0);
}

std::string name_of_reading(const testing::TestParamInfo<Reading>& info) {
  return std::string(info.param.arenas ? "Arenas" : "NoArenas") +
         (info.param.host ? "Host" : "NoHost");
}
INSTANTIATE_TEST_SUITE_P(Shm, ForkedLink,
                         testing::Values(Reading{true, true}, Reading{true, false},
                                         Reading{false, true}, Reading{false, false}),
                         name_of_reading);

class KilledPeer : public ForkedLink {};

// Names of files that processes of ours may have left.
std::vector<std::string> shared_files() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

TEST_P(KilledPeer, IsNamedWithItsSignalInTheMiddleOfAMessageAndLeavesNothing) {
  const std::vector<std::string> before = shared_files();
  start(
      [](Side& side, Driver& driver) -> Status {
        std::byte go{};
        COMMRIG_TRY(driver.recv(*side.link, {&go, 1}));
        const Bytes whole = pattern(1, 1000);
        COMMRIG_TRY(driver.send(*side.link, whole));
        const Bytes half = pattern(2, 1'000'000);
        Outgoing message{.data = half.data(), .bytes = half.size()};
        COMMRIG_TRY(side.link->send(message));
        ::kill(::getpid(), SIGKILL);
        return ok();
      },
      GetParam());
  const Part parent = [&](Side& side, Driver& driver) -> Status {
    ThreadExecutor executor;
    const auto poller = std::move(*Poller::start(executor));
    Peers peers(*poller);
    EXPECT_EQ(side.peer->process(), child_);
    COMMRIG_TRY(peers.watch({.rank = 1, .process = child_},
                            [&](const WatchedPeer& peer, const Error& error) {
                              EXPECT_EQ(peer.rank, 1);
                              side.link->lose(error);
                            }));
    const std::byte go{1};
    COMMRIG_TRY(driver.send(*side.link, {&go, 1}));
    Bytes target(1000);
    COMMRIG_TRY(driver.recv(*side.link, target));
    EXPECT_EQ(target, pattern(1, 1000));
    target.resize(1'000'000);
    Status status = driver.recv(*side.link, target);
    if (status) {
      // It was read in whole before the signal came.
      EXPECT_EQ(target, pattern(2, 1'000'000));
      status = driver.recv(*side.link, target);
    }
    return status;
  };
  const Status status = run(0, std::move(socket_), GetParam(), parent);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kPeerLost);
  // A reader may find the memory gone before the kernel says how its owner has ended.
  const char* const how =
      GetParam().host ? "(was killed by signal 9|ended)" : "was killed by signal 9";
  EXPECT_THAT(to_string(status.error()),
              testing::ContainsRegex(
                  fmt::format("rank 1 \\(process {}( of this host\\):|\\)) {}", child_, how)));
  EXPECT_TRUE(WIFSIGNALED(reap()));
  EXPECT_EQ(shared_files(), before);
}

INSTANTIATE_TEST_SUITE_P(Shm, KilledPeer,
                         testing::Values(Reading{true, false}, Reading{true, true},
                                         Reading{false, false}),
                         name_of_reading);

}  // namespace
}  // namespace commrig::transport
