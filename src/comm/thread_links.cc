// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <map>
#include <utility>

#include "comm/team.h"
#include "transport/thread_link.h"

namespace commrig::comm {
namespace {

class MachineWaker final : public transport::Waker {
 public:
  explicit MachineWaker(device::Machine& machine) : machine_(machine) {}
  void wake() override { machine_.poke(); }

 private:
  device::Machine& machine_;
};

class ThreadLinks final : public LinkSource {
 public:
  explicit ThreadLinks(device::Machine& machine) : machine_(machine), waker_(machine) {}

  Result<std::unique_ptr<transport::Link>> connect(int rank, int peer) override {
    if (rank == peer) return transport::make_self_link({rank, waker_});
    const auto waiting = waiting_.lock();
    const auto found = waiting->find({rank, peer});
    if (found != waiting->end()) {
      std::unique_ptr<transport::Link> mine = std::move(found->second);
      waiting->erase(found);
      return mine;
    }
    auto [mine, theirs] = transport::make_thread_link({rank, waker_}, {peer, waker_});
    waiting->emplace(std::pair{peer, rank}, std::move(theirs));
    return std::move(mine);
  }

  std::unique_ptr<LinkSource> split() const override {
    return std::make_unique<ThreadLinks>(machine_);
  }

 private:
  device::Machine& machine_;
  MachineWaker waker_;
  // Second ends of links whose first one is in use, by their rank and its peer.
  Guarded<std::map<std::pair<int, int>, std::unique_ptr<transport::Link>>> waiting_;
};

}  // namespace

std::unique_ptr<LinkSource> make_thread_links(device::Machine& machine) {
  return std::make_unique<ThreadLinks>(machine);
}

}  // namespace commrig::comm
