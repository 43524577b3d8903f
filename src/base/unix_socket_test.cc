// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/unix_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "base/thread_executor.h"

namespace commrig {
namespace {

using testing::HasSubstr;

constexpr std::array<std::byte, 5> kText{std::byte{'h'}, std::byte{'e'}, std::byte{'l'},
                                         std::byte{'l'}, std::byte{'o'}};

TEST(UnixSocket, ConnectsByANameThatTheSystemChose) {
  ThreadExecutor executor;
  const Listener listener = *Listener::open_unix();
  EXPECT_FALSE(listener.unix_name().empty());
  const Socket near = *connect_unix(listener.unix_name(), {executor});
  const Socket far = *listener.accept("a test", {executor});
  ASSERT_TRUE(near.write_all(kText, "text", {executor}));
  std::array<std::byte, 5> got{};
  ASSERT_TRUE(far.read_all(got, "text", {executor}));
  EXPECT_EQ(got, kText);
  EXPECT_EQ(*peer_process(far), ::getpid());
}

TEST(UnixSocket, NameIsTakenUntilItsListenerEnds) {
  ThreadExecutor executor;
  const std::string name = Listener::open_unix()->unix_name() + "-of-commrig";
  {
    const Listener first = *Listener::open_unix(name);
    const auto second = Listener::open_unix(name);
    EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
  }
  EXPECT_EQ(connect_unix(name, {executor}).error().code, Code::kConnection);
  EXPECT_TRUE(Listener::open_unix(name));
}

TEST(UnixSocket, NamesThatDoNotFitAreRefused) {
  ThreadExecutor executor;
  const std::string name(108, 'x');
  EXPECT_EQ(Listener::open_unix(name).error().code, Code::kBadAddress);
  EXPECT_EQ(connect_unix(name, {executor}).error().code, Code::kBadAddress);
  EXPECT_EQ(connect_unix("", {executor}).error().code, Code::kBadAddress);
  EXPECT_TRUE(Listener::open_unix(std::string(107, 'x')));
}

TEST(UnixSocket, MemoryOfAnotherProcessIsMappedByAPassedDescriptor) {
  auto [near, far] = *unix_pair();
  const pid_t child = ::fork();
  if (child == 0) {
    ThreadExecutor executor;
    const Descriptor memory(::memfd_create("commrig-test", MFD_CLOEXEC));
    const bool sent = ::write(memory.get(), kText.data(), kText.size()) == 5 &&
                      send_descriptors(near, kText, std::array{memory.get()}, {executor});
    ::_exit(sent ? 0 : 1);
  }
  ThreadExecutor executor;
  std::array<std::byte, 5> bytes{};
  const auto passed = recv_descriptors(far, bytes, 1, {executor});
  ASSERT_TRUE(passed);
  EXPECT_EQ(bytes, kText);
  EXPECT_NE(::fcntl(passed->front().get(), F_GETFD) & FD_CLOEXEC, 0);
  void* const mapped = ::mmap(nullptr, 5, PROT_READ, MAP_SHARED, passed->front().get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(std::string(static_cast<char*>(mapped), 5), "hello");
  ::munmap(mapped, 5);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(UnixSocket, AnotherNumberOfDescriptorsIsAnError) {
  ThreadExecutor executor;
  const auto [near, far] = *unix_pair();
  const Descriptor file(::memfd_create("commrig-test", MFD_CLOEXEC));
  ASSERT_TRUE(send_descriptors(near, kText, std::array{file.get(), file.get()}, {executor}));
  std::array<std::byte, 5> bytes{};
  EXPECT_THAT(recv_descriptors(far, bytes, 1, {executor}).error().message,
              HasSubstr("sent 2 descriptors, expected 1"));
}

TEST(UnixSocket, EndBeforeDescriptorsIsAnError) {
  ThreadExecutor executor;
  auto [near, far] = *unix_pair();
  near.close();
  std::array<std::byte, 5> bytes{};
  const auto passed = recv_descriptors(far, bytes, 1, {executor});
  ASSERT_FALSE(passed);
  EXPECT_EQ(passed.error().code, Code::kConnection);
}

TEST(Process, EndOfAProcessIsSeenThroughItsDescriptor) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ThreadExecutor executor;
  const Descriptor watched = *watch_process(child);
  constexpr Nanos kPast{1};
  EXPECT_EQ((Waiting{executor, nullptr, kPast}.until(watched.get(), POLLIN, "it").error().code),
            Code::kDeadline);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_TRUE(Waiting{executor}.until(watched.get(), POLLIN, "its end"));
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(watch_process(child).error().message, HasSubstr("No such process"));
}

TEST(Process, DescriptorLimitIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = before.rlim_max - 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(*raise_descriptor_limit(), before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace commrig
