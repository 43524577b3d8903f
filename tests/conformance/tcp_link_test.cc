// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/tcp_link.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <gmock/gmock.h>

#include "base/unix_socket.h"
#include "tests/conformance/link_suite.h"

namespace commrig::transport {
namespace {

using testing::HasSubstr;

using Sockets = std::pair<Socket, Socket>;

// Two ends of a connection through the loopback interface.
Result<Sockets> connect_loopback(const char* host) {
  ThreadExecutor executor;
  const Waiting waiting{.executor = executor};
  COMMRIG_ASSIGN(const Address any, Address::parse(host));
  COMMRIG_ASSIGN(const Listener listener, Listener::open(any));
  COMMRIG_ASSIGN(Socket one, connect(listener.address(), waiting));
  COMMRIG_ASSIGN(Socket other, listener.accept("the test", waiting));
  return Sockets(std::move(one), std::move(other));
}

class TcpWorld final : public LinkWorld {
 public:
  TcpWorld(Waker& a, Waker& b, Sockets sockets) : poller_(*Poller::start(executor_)) {
    a_ = *TcpLink::create({.ends = {.rank = 0, .peer = 1},
                           .socket = std::move(sockets.first),
                           .poller = *poller_,
                           .waker = a});
    b_ = *TcpLink::create({.ends = {.rank = 1, .peer = 0},
                           .socket = std::move(sockets.second),
                           .poller = *poller_,
                           .waker = b});
  }
  Link& a() override { return *a_; }
  Link& b() override { return *b_; }
  void close_b() override { b_.reset(); }

 private:
  ThreadExecutor executor_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<Link> a_;
  std::unique_ptr<Link> b_;
};

LinkCase tcp_case(const char* name, const char* host) {
  return {.name = name, .make = [host](Waker& a, Waker& b) {
            return std::make_unique<TcpWorld>(a, b, *connect_loopback(host));
          }};
}

std::vector<LinkCase> cases() {
  std::vector<LinkCase> cases{tcp_case("IPv4", "127.0.0.1:0")};
  // Not every container has the other one.
  if (connect_loopback("[::1]:0")) cases.push_back(tcp_case("IPv6", "[::1]:0"));
  cases.push_back({.name = "Unix", .make = [](Waker& a, Waker& b) {
                     return std::make_unique<TcpWorld>(a, b, *unix_pair());
                   }});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Tcp, LinkTest, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Tcp, PairLinkTest, testing::ValuesIn(cases()), name_of);

// A link whose other end is a bare socket.
class TcpLinkTest : public testing::Test {
 protected:
  TcpLinkTest() {
    auto sockets = *connect_loopback("127.0.0.1:0");
    bare_ = std::move(sockets.second);
    link_ = *TcpLink::create({.ends = {.rank = 0, .peer = 1},
                              .socket = std::move(sockets.first),
                              .poller = *poller_,
                              .waker = waker_});
  }
  void write(std::span<const std::byte> bytes) {
    const auto moved = bare_.write_some(bytes);
    ASSERT_TRUE(moved.has_value());
    ASSERT_EQ(moved->bytes, bytes.size());
  }
  std::string receive(std::size_t bytes) {
    Bytes target(bytes);
    const Status status = driver_.recv(*link_, target);
    return status ? "ok" : to_string(status.error());
  }

  ThreadExecutor executor_;
  std::unique_ptr<Poller> poller_ = *Poller::start(executor_);
  Door door_;
  DoorWaker waker_{door_};
  Driver driver_{door_};
  Socket bare_;
  std::unique_ptr<Link> link_;
};

TEST_F(TcpLinkTest, GarbageIsNamedWithThePeer) {
  const char text[] = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
  write(std::as_bytes(std::span(text)));
  EXPECT_THAT(receive(10), HasSubstr("CR-NET03: rank 1 (tcp 127.0.0.1:"));
  EXPECT_THAT(receive(10), HasSubstr("magic of a header: expected 0x314c5243, found 0x20544547"));
}

TEST_F(TcpLinkTest, AHeaderThatWasRepeatedOrDamagedIsNamed) {
  FrameHeader header = make_header(FrameKind::kMessage, 1, 10);
  write(std::as_bytes(std::span(&header, 1)));
  EXPECT_THAT(receive(10), HasSubstr("sequence of a header: expected 0x0, found 0x1"));
}

TEST_F(TcpLinkTest, APeerThatEndsInTheMiddleOfAMessageIsNamed) {
  const FrameHeader header = make_header(FrameKind::kMessage, 0, 1000);
  write(std::as_bytes(std::span(&header, 1)));
  write(Bytes(500));
  bare_.close();
  EXPECT_THAT(receive(1000), HasSubstr("has closed its link to rank 0, in the middle of a message "
                                       "of 1000 bytes"));
}

TEST_F(TcpLinkTest, AResetIsNamedWithWhatTheSystemSays) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(::setsockopt(bare_.descriptor(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
  bare_.close();
  EXPECT_THAT(receive(1), HasSubstr("CR-NET01: rank 1 (tcp 127.0.0.1:"));
  EXPECT_THAT(receive(1), HasSubstr("Connection reset by peer"));
}

TEST_F(TcpLinkTest, AnAbortInTheMiddleOfAPieceVoidsItAndSaysSo) {
  Bytes large(std::size_t{16} << 20U, std::byte{1});
  Outgoing out{.data = large.data(), .bytes = large.size()};
  ASSERT_EQ(*link_->send(out), Progress::kPending);
  link_->abort();
  EXPECT_EQ(link_->send(out).error().code, Code::kAborted);
  large = Bytes();  // Its bytes are not needed any more.
  // The bare end reads all that is said and finds the last words.
  FrameReader reader;
  Bytes target(out.bytes);
  Incoming in{.data = target.data(), .bytes = target.size()};
  ThreadExecutor executor;
  const Waiting waiting{.executor = executor};
  const auto source = [&](std::span<std::byte> bytes) -> Result<std::size_t> {
    COMMRIG_TRY(waiting.until(bare_.descriptor(), 1, "the aborted link"));
    COMMRIG_ASSIGN(const Moved moved, bare_.read_some(bytes));
    return moved.bytes;
  };
  const auto event = reader.read(in, source);
  ASSERT_TRUE(event.has_value()) << to_string(event.error());
  EXPECT_EQ(*event, FrameReader::Event::kLastWords);
  EXPECT_EQ(reader.header().kind, FrameKind::kAbort);
  EXPECT_LT(in.moved, in.bytes);
  EXPECT_EQ(target[0], std::byte{1});
  EXPECT_EQ(target[in.moved - 1], std::byte{0});
}

TEST_F(TcpLinkTest, ASocketThatNobodyWaitsForWakesNobody) {
  const FrameHeader header = make_header(FrameKind::kMessage, 0, 0);
  write(std::as_bytes(std::span(&header, 1)));
  ASSERT_EQ(receive(0), "ok");
  const std::uint64_t rung = door_.rung.load();
  for (std::uint32_t i = 1; i <= 100; ++i) {
    const FrameHeader next = make_header(FrameKind::kMessage, i, 0);
    write(std::as_bytes(std::span(&next, 1)));
  }
  // One message is waited for and found; the others are there without a wait.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(receive(0), "ok");
  EXPECT_LE(door_.rung.load(), rung + 1);
}

TEST_F(TcpLinkTest, AKilledProcessIsNoticedByItsConnection) {
  auto sockets = *connect_loopback("127.0.0.1:0");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sockets.first.close();
    const FrameHeader header = make_header(FrameKind::kMessage, 0, 8);
    (void)sockets.second.write_some(std::as_bytes(std::span(&header, 1)));
    ::kill(::getpid(), SIGKILL);
  }
  sockets.second.close();
  const auto link = *TcpLink::create({.ends = {.rank = 0, .peer = 1},
                                      .socket = std::move(sockets.first),
                                      .poller = *poller_,
                                      .waker = waker_});
  Bytes target(8);
  const Status status = driver_.recv(*link, target);
  EXPECT_THAT(to_string(status.error()), HasSubstr("in the middle of a message of 8 bytes"));
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace commrig::transport
