// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/interface_choice.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::bootstrap {
namespace {

using testing::HasSubstr;

Interface at(const char* name, const char* address, bool running = true) {
  return Interface{name, *Address::parse(address), running};
}

const std::vector<Interface> kPresent{at("lo", "127.0.0.1:0"),
                                      at("docker0", "172.17.0.1:0"),
                                      at("eth1", "192.0.2.1:0"),
                                      at("eth10", "192.0.2.10:0"),
                                      at("down0", "192.0.2.66:0", false),
                                      at("six0", "[2001:db8::1]:0"),
                                      Interface{"bare0", Address(), true}};

std::string chosen(const std::string& pattern, int family = AF_UNSPEC) {
  const auto choice = choose_interface(kPresent, {pattern, family});
  return choice ? choice->chosen.name : "none";
}

TEST(InterfaceChoice, PatternsWorkAsInTheLibraries) {
  struct Case {
    const char* pattern;
    const char* chosen;
  };
  for (const Case& each : {Case{"", "eth1"},
                           Case{"eth10", "eth10"},
                           Case{"eth", "eth1"},
                           Case{"eth10,eth1", "eth1"},
                           Case{"=eth10", "eth10"},
                           Case{"=eth", "none"},
                           Case{"lo,eth", "lo"},
                           Case{"^lo", "docker0"},
                           Case{"^lo,docker", "eth1"},
                           Case{"^=lo,docker", "docker0"},
                           Case{"^=eth1,lo,docker0", "eth10"},
                           Case{"eth1:4711", "eth1"},
                           Case{"l", "eth1"},
                           Case{"^", "eth1"},
                           Case{",,", "lo"},
                           Case{"=,", "lo"},
                           Case{"^,", "none"},
                           Case{"^=", "none"},
                           Case{"=^eth1", "none"},
                           Case{"==eth1", "none"},
                           Case{"^^lo", "lo"},
                           Case{"ETH1", "none"},
                           Case{" eth1", "none"},
                           Case{"nosuch0", "none"},
                           Case{"down0", "none"},
                           Case{"bare0", "none"}}) {
    EXPECT_EQ(chosen(each.pattern), each.chosen) << each.pattern;
  }
}

TEST(InterfaceChoice, NothingThatFitsIsExplainedForEveryInterface) {
  const auto choice = choose_interface(kPresent, {"=eth", AF_UNSPEC});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::kNoInterface);
  EXPECT_EQ(choice.error().message,
            "NCCL_SOCKET_IFNAME=\"=eth\" fits no network interface; present: lo (no name in "
            "\"=eth\" is it), docker0 (no name in \"=eth\" is it), eth1 (\"=eth\" asks for whole "
            "names, and this one only begins with eth), eth10 (\"=eth\" asks for whole names, and "
            "this one only begins with eth), down0 (no name in \"=eth\" is it), six0 (no name in "
            "\"=eth\" is it), bare0 (no name in \"=eth\" is it)");
  EXPECT_THAT(choose_interface(kPresent, {"nosuch0", AF_UNSPEC}).error().message,
              HasSubstr("eth1 (no name in \"nosuch0\" begins it)"));
  const auto rest = choose_interface(kPresent, {"^lo,docker,eth,six", AF_UNSPEC});
  EXPECT_THAT(rest.error().message, HasSubstr("lo (excluded by \"^lo,docker,eth,six\")"));
  EXPECT_THAT(rest.error().message, HasSubstr("down0 (it is down, or has no carrier)"));
  EXPECT_THAT(rest.error().message, HasSubstr("bare0 (it has no IP address)"));
  EXPECT_THAT(choose_interface({}, {}).error().message, HasSubstr("none is present"));
}

TEST(InterfaceChoice, FamilyIsRespected) {
  EXPECT_EQ(chosen("", AF_INET6), "six0");
  EXPECT_EQ(chosen("six", AF_INET), "none");
  EXPECT_THAT(choose_interface(kPresent, {"six", AF_INET}).error().message,
              HasSubstr("it has no IPv4 address, which NCCL_SOCKET_FAMILY asks for"));
}

TEST(InterfaceChoice, OrderWithoutAPatternPutsLoopbackLate) {
  const std::vector<Interface> all{at("virbr0", "192.0.2.5:0"), at("lo", "127.0.0.1:0"),
                                   at("docker0", "172.17.0.1:0"), at("eth0", "192.0.2.1:0"),
                                   at("ib0", "192.0.2.9:0")};
  std::string order;
  for (std::size_t left = all.size(); left > 0; --left) {
    std::vector<Interface> rest;
    for (const Interface& each : all) {
      if (order.find(each.name) == std::string::npos) rest.push_back(each);
    }
    order += choose_interface(rest, {})->chosen.name + " ";
  }
  EXPECT_EQ(order, "ib0 eth0 docker0 lo virbr0 ");
}

TEST(InterfaceChoice, LinkLocalAddressIsTakenOnlyAlone) {
  const std::vector<Interface> both{at("eth0", "[fe80::1%7]:0"), at("eth0", "[2001:db8::1]:0"),
                                    at("eth1", "[fe80::2%8]:0")};
  EXPECT_EQ(choose_interface(both, {})->chosen.address.host(), "2001:db8::1");
  const std::vector<Interface> alone{both[2], at("lo", "127.0.0.1:0")};
  EXPECT_EQ(choose_interface(alone, {})->chosen.name, "lo");
  EXPECT_EQ(choose_interface({both.data(), 1}, {})->chosen.name, "eth0");
}

TEST(InterfaceChoice, RuleIsReadFromTheEnvironment) {
  const auto read = [](const char* name, const char* family) {
    return read_interface_rule([&](std::string_view variable) -> std::optional<std::string> {
      return variable == "NCCL_SOCKET_IFNAME" ? name : family;
    });
  };
  EXPECT_EQ(read("^lo", "AF_INET6")->pattern, "^lo");
  EXPECT_EQ(read("^lo", "AF_INET6")->family, AF_INET6);
  EXPECT_EQ(read("", "")->family, AF_UNSPEC);
  EXPECT_THAT(read("", "inet").error().message, HasSubstr("NCCL_SOCKET_FAMILY=\"inet\""));
}

}  // namespace
}  // namespace commrig::bootstrap
