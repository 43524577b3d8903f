// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace commrig {
namespace {

int operation(int plain, Reach reach) {
  return reach == Reach::kProcess ? plain | FUTEX_PRIVATE_FLAG : plain;
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, Nanos timeout,
                Reach reach) {
  timespec left{};
  if (timeout != kForever) {
    left.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
    left.tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000);
  }
  syscall(SYS_futex, &word, operation(FUTEX_WAIT, reach), seen,
          timeout == kForever ? nullptr : &left, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word, Reach reach) {
  syscall(SYS_futex, &word, operation(FUTEX_WAKE, reach), INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace commrig
