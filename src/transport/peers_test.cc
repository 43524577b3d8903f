// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/peers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/thread_executor.h"
#include "base/unix_socket.h"

namespace commrig::transport {
namespace {

using testing::HasSubstr;

// Children are forked before this process has threads of its own.
class PeersTest : public testing::Test {
 protected:
  // A child that ends by `end` once it is told to, by the end of a connection.
  struct Child {
    pid_t process = 0;
    Socket leash;
  };
  template <class End>
  static Child fork_child(End end) {
    auto sockets = *unix_pair();
    const pid_t process = ::fork();
    if (process == 0) {
      sockets.first.close();
      char byte = 0;
      ::fcntl(sockets.second.descriptor(), F_SETFL, 0);  // blocking
      while (::read(sockets.second.descriptor(), &byte, 1) > 0) {
      }
      end();
      ::_exit(99);
    }
    return {process, std::move(sockets.first)};
  }

  void start() { poller_ = *Poller::start(executor_); }
  Peers::OnLost note() {
    return [this](const WatchedPeer& peer, const Error& error) {
      *lost_.lock() = fmt::format("{}: {}", peer.rank, to_string(error));
      executor_.wake(this);
    };
  }
  std::string wait() {
    const auto lost = [this] { return lost_.lock()->has_value(); };
    EXPECT_TRUE(executor_.wait({.key = this, .ready = lost}));
    return **lost_.lock();
  }

  ThreadExecutor executor_;
  std::unique_ptr<Poller> poller_;
  Guarded<std::optional<std::string>> lost_;
};

TEST_F(PeersTest, AKilledChildIsNamedWithItsSignal) {
  Child child = fork_child([] { ::kill(::getpid(), SIGKILL); });
  start();
  Peers peers(*poller_);
  ASSERT_TRUE(peers.watch({.rank = 4, .process = child.process}, note()).has_value());
  EXPECT_FALSE(lost_.lock()->has_value());
  child.leash.close();
  EXPECT_THAT(wait(), HasSubstr(fmt::format("4: CR-NET01: rank 4 (process {}) was killed by signal "
                                            "9",
                                            child.process)));
  int status = 0;
  EXPECT_EQ(::waitpid(child.process, &status, 0), child.process);
  EXPECT_TRUE(WIFSIGNALED(status));  // It was left to whoever has started it.
}

TEST_F(PeersTest, AnEndWithAnExitCodeIsNamedWithIt) {
  Child child = fork_child([] { ::_exit(3); });
  start();
  Peers peers(*poller_);
  ASSERT_TRUE(peers.watch({.rank = 0, .process = child.process}, note()).has_value());
  child.leash.close();
  EXPECT_THAT(wait(), HasSubstr("ended with exit code 3"));
  ::waitpid(child.process, nullptr, 0);
}

TEST_F(PeersTest, AProcessThatHasEndedBeforeIsReportedAtOnce) {
  Child child = fork_child([] { ::_exit(0); });
  child.leash.close();
  ::waitpid(child.process, nullptr, 0);
  start();
  Peers peers(*poller_);
  ASSERT_TRUE(peers.watch({.rank = 2, .process = child.process}, note()).has_value());
  EXPECT_THAT(wait(), HasSubstr("has ended before"));
}

TEST_F(PeersTest, APeerWithoutANumberIsWatchedByItsConnection) {
  auto sockets = *unix_pair();
  start();
  Peers peers(*poller_);
  const WatchedPeer peer{.rank = 1, .socket = sockets.first.descriptor()};
  ASSERT_TRUE(peers.watch(peer, note()).has_value());
  // Bytes are no end.
  const std::byte byte{1};
  ASSERT_TRUE(sockets.second.write_some({&byte, 1}).has_value());
  sockets.second.close();
  EXPECT_THAT(wait(), HasSubstr("1: CR-NET01: rank 1 has closed its connection"));
  peers.forget(1);
}

TEST_F(PeersTest, NothingIsReportedOfAForgottenPeer) {
  auto one = *unix_pair();
  auto other = *unix_pair();
  start();
  Peers peers(*poller_);
  ASSERT_TRUE(peers.watch({.rank = 1, .socket = one.first.descriptor()}, note()).has_value());
  ASSERT_TRUE(peers.watch({.rank = 2, .socket = other.first.descriptor()}, note()).has_value());
  peers.forget(1);
  one.second.close();
  other.second.close();
  EXPECT_THAT(wait(), HasSubstr("2: CR-NET01"));
}

TEST_F(PeersTest, APeerThatCannotBeWatchedIsRefused) {
  start();
  Peers peers(*poller_);
  const Status status = peers.watch({.rank = 1}, note());
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(to_string(status.error()), HasSubstr("neither a process nor a connection"));
}

// Neither a child of this process nor reaped by it: the kernel's own files must tell.
TEST_F(PeersTest, AProcessOfSomebodyElseIsNamedWithItsSignalBeforeItWasReaped) {
  auto report = *unix_pair();
  Child parent = fork_child([&] {
    report.first.close();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      ::kill(::getpid(), SIGKILL);
    }
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(grandchild), &info, WEXITED | WNOWAIT);
    (void)report.second.write_some(std::as_bytes(std::span(&grandchild, 1)));
    char byte = 0;
    ::fcntl(report.second.descriptor(), F_SETFL, 0);
    while (::read(report.second.descriptor(), &byte, 1) > 0) {
    }
    ::_exit(0);
  });
  report.second.close();
  parent.leash.close();
  start();
  pid_t grandchild = 0;
  const Waiting waiting{.executor = executor_};
  ASSERT_TRUE(
      report.first
          .read_all(std::as_writable_bytes(std::span(&grandchild, 1)), "the number", waiting)
          .has_value());
  Peers peers(*poller_);
  ASSERT_TRUE(peers.watch({.rank = 7, .process = grandchild}, note()).has_value());
  EXPECT_THAT(wait(), HasSubstr("was killed by signal 9"));
  report.first.close();
  ::waitpid(parent.process, nullptr, 0);
}

}  // namespace
}  // namespace commrig::transport
