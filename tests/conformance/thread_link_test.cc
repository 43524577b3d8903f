// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/thread_link.h"

#include "tests/conformance/link_suite.h"

namespace commrig::transport {
namespace {

class ThreadWorld final : public LinkWorld {
 public:
  ThreadWorld(Waker& a, Waker& b) : ends_(make_thread_link({0, a}, {1, b})) {}
  Link& a() override { return *ends_.first; }
  Link& b() override { return *ends_.second; }
  void close_b() override { ends_.second.reset(); }

 private:
  std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> ends_;
};

class SelfWorld final : public LinkWorld {
 public:
  explicit SelfWorld(Waker& waker) : link_(make_self_link({0, waker})) {}
  Link& a() override { return *link_; }
  Link& b() override { return *link_; }
  void close_b() override {}

 private:
  std::unique_ptr<Link> link_;
};

const LinkCase kThread{.name = "Thread", .make = [](Waker& a, Waker& b) {
                         return std::make_unique<ThreadWorld>(a, b);
                       }};
const LinkCase kSelf{.name = "Self",
                     .make = [](Waker& a, Waker&) { return std::make_unique<SelfWorld>(a); },
                     .loops = true};

INSTANTIATE_TEST_SUITE_P(InProcess, LinkTest, testing::Values(kThread, kSelf), name_of);
INSTANTIATE_TEST_SUITE_P(InProcess, PairLinkTest, testing::Values(kThread), name_of);

}  // namespace
}  // namespace commrig::transport
