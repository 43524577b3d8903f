// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/identity.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/hash.h"

namespace commrig::bootstrap {
namespace {

using testing::HasSubstr;

constexpr auto kNoVariables = [](std::string_view) { return std::optional<std::string>(); };

TEST(Identity, IsTheHashOfNameAndBootAndOfProcessAndItsSpace) {
  const HostFacts facts{.host_name = "node7.example",
                        .boot_id = "b0",
                        .process_space = "pid:[4026531836]",
                        .process = 42,
                        .shared_memory = "/dev/shm on device 25"};
  EXPECT_EQ(identify(facts).host, djb2("node7.exampleb0"));
  EXPECT_EQ(identify(facts).process, djb2("42pid:[4026531836]"));
  HostFacts other = facts;
  other.shared_memory = "/dev/shm on device 26";
  EXPECT_EQ(identify(other).host, identify(facts).host);
  EXPECT_NE(identify(other).shared_memory, identify(facts).shared_memory);
  other = facts;
  other.host_name = "node7.other";
  EXPECT_NE(identify(other).host, identify(facts).host);
}

TEST(Identity, HostIdOfTheEnvironmentReplacesNameAndBoot) {
  const auto facts = gather_host_facts([](std::string_view name) -> std::optional<std::string> {
    if (name == "NCCL_HOSTID") return "rack1";
    return std::nullopt;
  });
  ASSERT_TRUE(facts);
  EXPECT_EQ(identify(*facts).host, djb2("rack1"));
  EXPECT_THAT(describe(*facts), HasSubstr("called rack1"));
  const auto ours = gather_host_facts([](std::string_view name) -> std::optional<std::string> {
    return name == "NCCL_HOSTID" ? "rack1" : "rack2";
  });
  EXPECT_EQ(identify(*ours).host, djb2("rack2"));
}

TEST(Identity, OtherProcessOfThisHostDiffersInTheProcessOnly) {
  const Identity own = identify(*gather_host_facts(kNoVariables));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Identity identity = identify(*gather_host_facts(kNoVariables));
    (void)!::write(ends[1], &identity, sizeof(identity));
    ::_exit(0);
  }
  Identity other;
  EXPECT_EQ(::read(ends[0], &other, sizeof(other)), static_cast<ssize_t>(sizeof(other)));
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(other.host, own.host);
  EXPECT_EQ(other.shared_memory, own.shared_memory);
  EXPECT_NE(other.process, own.process);
}

}  // namespace
}  // namespace commrig::bootstrap
