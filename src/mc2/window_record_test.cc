// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/window_record.h"

#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "mc2/group_fixture_for_test.h"
#include "mc2/layout.h"

namespace commrig::mc2 {
namespace {

TEST(WindowRecord, FieldsLieWhereThePublicHeadersPutThem) {
  std::array<std::byte, kWindowRecordBytes> bytes{};
  bytes.fill(std::byte{0xEE});
  const WindowRecord record{.remote_in = {1, 2, 3},
                            .remote_out = {4, 5, 6},
                            .local_in = {7, 8, 9},
                            .local_out = {10, 11, 12}};
  write_record(record, bytes);
  for (std::uint32_t window = 0; window < 4; ++window) {
    for (std::uint32_t word = 0; word < 3; ++word) {
      const Field field{.name = "word", .offset = window * 24 + word * 8, .width = 8};
      EXPECT_EQ(load(bytes, field), window * 3 + word + 1);  // The padding behind the key is 0.
    }
  }
  for (std::size_t i = 96; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte{0});
  EXPECT_EQ(read_record(bytes), record);
}

// Every rank writes its number into each peer's window, by the address and the key in its records.
class RemoteWindows : public testing::TestWithParam<int> {};

TEST_P(RemoteWindows, AddressesAndKeysReachTheWindowOfTheirRank) {
  const int ranks = GetParam();
  GroupRig rig("upstream-64", {.ranks = ranks, .window_records = true, .window_bytes = 4096});
  rig.launch_all([](device::KernelContext& kernel, Client& client) -> Status {
    for (std::uint32_t peer = 0; peer < client.ranks(); ++peer) {
      const RemoteWindow& target = client.windows(peer).remote_in;
      COMMRIG_ASSIGN(const device::Window window,
                     kernel.remote_window(target.key, target.address, target.bytes, 4));
      COMMRIG_TRY(kernel.store<std::uint32_t>(window, 4 * client.rank(), client.rank() + 1));
    }
    return client.finalize();
  });
  rig.expect_success();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto* const words = static_cast<const std::uint32_t*>(rig.group().window(rank));
    for (int peer = 0; peer < ranks; ++peer) {
      ASSERT_EQ(words[peer], static_cast<std::uint32_t>(peer + 1)) << "window of rank " << rank;
    }
  }
}

TEST_P(RemoteWindows, AKeyOpensTheWindowOfOneRankOnly) {
  GroupRig rig("upstream-64", {.ranks = GetParam(), .window_records = true, .window_bytes = 4096});
  rig.launch_all([](device::KernelContext& kernel, Client& client) -> Status {
    const std::uint32_t next = (client.rank() + 1) % client.ranks();
    const RemoteWindow& own = client.windows(client.rank()).remote_in;
    const RemoteWindow& other = client.windows(next).remote_in;
    if (next != client.rank()) {
      EXPECT_FALSE(kernel.remote_window(own.key, other.address, 4).has_value());
    }
    EXPECT_FALSE(kernel.remote_window(own.key, own.address + 1, own.bytes).has_value());
    return client.finalize();
  });
  rig.expect_success();
}

INSTANTIATE_TEST_SUITE_P(Ranks, RemoteWindows, testing::Values(1, 2, 32, 33, 255, 256),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

}  // namespace
}  // namespace commrig::mc2
