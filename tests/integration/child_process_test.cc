// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/integration/child_process.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "bootstrap/root.h"

namespace commrig::integration {
namespace {

std::string finish(const ChildProcess& child) {
  ThreadExecutor executor;
  const auto root = *bootstrap::Root::open(executor);
  child.start(executor, root->id());
  return child.finish(executor);
}

TEST(ChildProcess, SaysItsLastTextAndExits) {
  EXPECT_EQ(finish(ChildProcess([](auto&) { return "good"; })), "good");
}

// As a sanitizer does that has something to report.
TEST(ChildProcess, ExitCodeOfWhatRunsAtTheExitIsSeen) {
  const ChildProcess child([](auto&) {
    std::atexit([] { ::_exit(66); });
    return "good";
  });
  EXPECT_EQ(finish(child), "good (exit code 66)");
}

TEST(ChildProcess, SignalIsSeen) {
  const ChildProcess child([](auto&) {
    ::kill(::getpid(), SIGKILL);
    return "good";
  });
  EXPECT_EQ(finish(child), " (signal 9)");
}

}  // namespace
}  // namespace commrig::integration
