// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>
#include <utility>

#include "transport/link.h"

namespace commrig::transport {

// Links between ranks of one process. Messages of up to kEagerBytes are copied twice, and the
// sender need not wait: copying 4 KiB takes about 0.1 us, a sender that sleeps until the receiver
// has come costs 20. Larger ones are copied once, by the receiver from the sender's memory. The
// wakers must outlive both ends.
inline constexpr std::size_t kEagerBytes = 4096;

struct RankEnd {
  int rank;
  Waker& waker;
};

// One link's two ends: the first is `a`'s.
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_thread_link(const RankEnd& a,
                                                                         const RankEnd& b);

// The link of a rank to itself: what it sends is what it receives. One end of kind "self"; several
// messages may be under way only as far as they are small.
std::unique_ptr<Link> make_self_link(const RankEnd& rank);

}  // namespace commrig::transport
