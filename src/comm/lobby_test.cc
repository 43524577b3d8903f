// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/lobby.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/events.h"
#include "base/reserved_port.h"
#include "base/socket.h"
#include "base/thread_executor.h"
#include "bootstrap/known_root.h"

namespace commrig::comm {
namespace {

using bootstrap::Launch;
using bootstrap::Meeting;
using bootstrap::UniqueId;
using testing::HasSubstr;

// A host of its own, as far as the ranks of others can tell.
class Host {
 public:
  using Variables = std::map<std::string, std::string, std::less<>>;
  explicit Host(const std::string& name, const Variables& variables = {})
      : lobby_(executor_, machine_,
               [name, variables](std::string_view variable) -> std::optional<std::string> {
                 if (variable == "COMMRIG_HOSTID") return name;
                 const auto found = variables.find(variable);
                 if (found == variables.end()) return std::nullopt;
                 return found->second;
               }) {}
  Lobby& lobby() { return lobby_; }

  // Every rank gives its number plus 1.
  Status sum(Communicator& communicator) {
    COMMRIG_ASSIGN(const auto stream, machine_.create_stream(0));
    const std::int32_t input = communicator.rank() + 1;
    std::int32_t output = 0;
    COMMRIG_TRY(communicator.enqueue(
        *stream, {.input = &input, .output = &output, .count = 1, .dtype = dtype::Dtype::kInt32}));
    COMMRIG_TRY(machine_.synchronize(*stream));
    EXPECT_EQ(output, communicator.ranks() * (communicator.ranks() + 1) / 2);
    return ok();
  }

 private:
  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_{executor_, events_, {.devices = 1}};
  Lobby lobby_;
};

template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
}

Launch launch_of(int rank, int ranks, std::uint16_t port) {
  Launch launch;
  launch.launcher = "a test";
  launch.rank = rank;
  launch.ranks = ranks;
  launch.meeting = Meeting{.host = "127.0.0.1", .port = port, .magic = 0x123456789};
  return launch;
}

TEST(Lobby, ThreadsOfTwoHostsJoinById) {
  Host left("left");
  Host right("right");
  const Result<UniqueId> id = left.lobby().make_id();
  ASSERT_TRUE(id) << to_string(id.error());
  on_threads(4, [&](int rank) {
    Host& host = rank < 2 ? left : right;
    auto joined = host.lobby().join(*id, rank, 4);
    ASSERT_TRUE(joined) << to_string(joined.error());
    EXPECT_EQ((*joined)->rank(), rank);
    EXPECT_EQ((*joined)->ranks(), 4);
    const Status sum = host.sum(**joined);
    EXPECT_TRUE(sum) << to_string(sum.error());
  });
}

TEST(Lobby, IdServesOneCommunicator) {
  Host host("one");
  const UniqueId id = *host.lobby().make_id();
  ASSERT_TRUE(host.lobby().join(id, 0, 1));
  const auto again = host.lobby().join(id, 0, 1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kRootLost);
}

TEST(Lobby, ProcessIsMadeOnce) {
  Host host("one");
  const Result<Process*> first = host.lobby().process();
  ASSERT_TRUE(first);
  EXPECT_EQ(*host.lobby().process(), *first);
}

TEST(Lobby, MissingRankIsNamedAtTheDeadline) {
  Host host("one");
  const UniqueId id = *host.lobby().make_id({.ranks_within = std::chrono::milliseconds(1)});
  const auto joined = host.lobby().join(id, 1, 3);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Code::kRankAbsent);
  EXPECT_THAT(joined.error().message, HasSubstr("missing: ranks 0, 2"));
}

TEST(Lobby, InterfaceThatIsNotThereIsAnError) {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  Lobby lobby(executor, machine, [](std::string_view name) {
    return name == "NCCL_SOCKET_IFNAME" ? std::optional<std::string>("=none") : std::nullopt;
  });
  EXPECT_EQ(lobby.make_id().error().code, Code::kNoInterface);
  EXPECT_EQ(lobby.process().error().code, Code::kNoInterface);
}

TEST(Lobby, AbortEndsTheWaitForOtherRanks) {
  Host host("one");
  const UniqueId id = *host.lobby().make_id();
  ThreadExecutor executor;
  AbortFlag abort;
  abort.raise(Error::make(Code::kAborted, "enough"), executor);
  const auto joined = host.lobby().join(id, 0, 2, {.abort = &abort});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().message, "enough");
}

UniqueId id_of_known_root(std::uint16_t port) {
  return *bootstrap::known_root("127.0.0.1:" + std::to_string(port));
}

TEST(Lobby, RanksMeetWhereTheyWereToldToOneAfterTheOther) {
  Host hosts[] = {Host("a"), Host("a"), Host("b")};
  const ReservedPort reserved = *ReservedPort::take();
  on_threads(3, [&](int rank) {
    for (int time = 0; time < 3; ++time) {
      auto joined = hosts[rank].lobby().join(id_of_known_root(reserved.number()), rank, 3);
      ASSERT_TRUE(joined) << to_string(joined.error());
      const Status sum = hosts[rank].sum(**joined);
      EXPECT_TRUE(sum) << to_string(sum.error());
    }
  });
}

// What each of two ranks gets that say they are on these devices.
void expect_joined(Host& first, Host& second, const DevicePlace& one, const DevicePlace& other,
                   bool expected) {
  const UniqueId id = *first.lobby().make_id();
  on_threads(2, [&](int rank) {
    JoinOptions options;
    options.communicator.team.device = rank == 0 ? one : other;
    const auto joined = (rank == 0 ? first : second).lobby().join(id, rank, 2, options);
    ASSERT_EQ(joined.has_value(), expected);
    if (joined) return;
    EXPECT_EQ(joined.error().code, Code::kSameDevice);
    EXPECT_THAT(joined.error().message, HasSubstr("ranks 0 and 1 are both on device 3"));
  });
}

TEST(Lobby, RanksThatMustNotShareADeviceAreNamed) {
  Host here("a");
  Host also_here("a");
  Host elsewhere("b");
  const DevicePlace place{.number = 3};
  const DevicePlace own{.number = 3, .is_own = true};
  expect_joined(here, here, place, place, false);
  expect_joined(here, also_here, place, place, false);
  expect_joined(here, elsewhere, place, place, true);
  expect_joined(here, also_here, place, {.number = 2}, true);
  expect_joined(here, also_here, place, {}, true);
  // Devices of its own are nobody else's, and still two threads may not share one.
  expect_joined(here, also_here, own, own, true);
  expect_joined(here, here, own, own, false);
}

TEST(LobbyLaunch, WorldsComeOneAfterTheOther) {
  Host hosts[] = {Host("a"), Host("b"), Host("c")};
  const ReservedPort reserved = *ReservedPort::take();
  const std::uint16_t port = reserved.number();
  on_threads(3, [&](int rank) {
    for (int world = 0; world < 3; ++world) {
      auto joined = hosts[rank].lobby().join(launch_of(rank, 3, port));
      ASSERT_TRUE(joined) << to_string(joined.error());
      const Status sum = hosts[rank].sum(**joined);
      EXPECT_TRUE(sum) << to_string(sum.error());
    }
  });
}

TEST(LobbyLaunch, WorldAfterOneThatFailedIsGood) {
  Host first("a");
  Host second("b");
  const ReservedPort reserved = *ReservedPort::take();
  const std::uint16_t port = reserved.number();
  const JoinOptions soon{.root_within = std::chrono::milliseconds(1)};
  const auto alone = first.lobby().join(launch_of(0, 2, port), soon);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Code::kRankAbsent);
  EXPECT_THAT(alone.error().message, HasSubstr("missing: rank 1"));
  // The other rank counts its worlds alike.
  ASSERT_FALSE(second.lobby().join(launch_of(1, 2, port), soon));
  on_threads(2, [&](int rank) {
    const auto joined = (rank == 0 ? first : second).lobby().join(launch_of(rank, 2, port));
    EXPECT_TRUE(joined) << to_string(joined.error());
  });
}

TEST(LobbyLaunch, RootThatNeverComesIsNamed) {
  Host host("one");
  const ReservedPort reserved = *ReservedPort::take();
  const std::uint16_t port = reserved.number();
  const auto joined =
      host.lobby().join(launch_of(1, 2, port), {.root_within = std::chrono::milliseconds(1)});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Code::kRootLost);
  EXPECT_THAT(joined.error().message, HasSubstr("rank 1 can't reach the root"));
  EXPECT_THAT(joined.error().message, HasSubstr("127.0.0.1:" + std::to_string(port)));
}

TEST(LobbyLaunch, PortThatIsTakenIsAnError) {
  Host host("one");
  const Listener taken = *Listener::open(Address::loopback(AF_INET));
  const auto joined = host.lobby().join(launch_of(0, 2, taken.address().port()));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Code::kSystemCall);
  EXPECT_THAT(joined.error().message, HasSubstr("COMMRIG_PORT"));
}

TEST(LobbyLaunch, NoPlaceToMeetIsAnError) {
  Host host("one");
  Launch launch = launch_of(1, 2, 1);
  launch.meeting.reset();
  const auto joined = host.lobby().join(launch);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Code::kLaunchEnvironment);
  EXPECT_THAT(joined.error().message, HasSubstr("a test has started 2 ranks"));
}

TEST(LobbyLaunch, OneRankNeedsNoPlaceToMeet) {
  Host host("one");
  Launch launch = launch_of(0, 1, 1);
  launch.meeting.reset();
  EXPECT_TRUE(host.lobby().join(launch));
}

TEST(LobbyLaunch, WorldWithoutALauncherIsOneRank) {
  Host host("one");
  const auto joined = host.lobby().join_world();
  ASSERT_TRUE(joined) << to_string(joined.error());
  EXPECT_EQ((*joined)->ranks(), 1);
}

TEST(LobbyLaunch, WorldIsReadFromTheEnvironment) {
  Host host("one", {{"RANK", "1"}});
  const auto joined = host.lobby().join_world();
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Code::kLaunchEnvironment);
  EXPECT_THAT(joined.error().message, HasSubstr("WORLD_SIZE is not set"));
}

TEST(LobbyLaunch, IdOfTheLauncherIsTaken) {
  Host first("a");
  Host second("b");
  const UniqueId id = *first.lobby().make_id();
  on_threads(2, [&](int rank) {
    Launch launch = launch_of(rank, 2, 1);
    launch.id = id;
    const auto joined = (rank == 0 ? first : second).lobby().join(launch);
    EXPECT_TRUE(joined) << to_string(joined.error());
  });
}

}  // namespace
}  // namespace commrig::comm
