// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/reserved_port.h"

#include <gtest/gtest.h>

#include "base/socket.h"
#include "base/thread_executor.h"

namespace commrig {
namespace {

TEST(ReservedPort, IsForWhoKnowsIt) {
  const Result<ReservedPort> port = ReservedPort::take();
  ASSERT_TRUE(port);
  const Address address = Address::loopback(AF_INET, port->number());
  ThreadExecutor executor;
  // Once more after a connection, which leaves its traces on the port.
  for (int round = 0; round < 2; ++round) {
    const Result<Listener> listener = Listener::open(address);
    ASSERT_TRUE(listener) << listener.error().message;
    ASSERT_TRUE(connect(address, {executor}));
    ASSERT_TRUE(listener->accept("a connection", {executor}));
  }
}

TEST(ReservedPort, TwoAreDifferent) {
  const Result<ReservedPort> first = ReservedPort::take();
  const Result<ReservedPort> second = ReservedPort::take();
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE(first->number(), second->number());
}

TEST(ReservedPort, NobodyListensThere) {
  const Result<ReservedPort> port = ReservedPort::take();
  ASSERT_TRUE(port);
  ThreadExecutor executor;
  const auto socket = connect(Address::loopback(AF_INET, port->number()), {executor});
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, Code::kConnection);
}

}  // namespace
}  // namespace commrig
