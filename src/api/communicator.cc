// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "commrig/communicator.h"

#include "api/objects.h"
#include "api/translate.h"

namespace commrig::v0 {
namespace {

commrig::Result<comm::CommunicatorOptions> understand(const CommunicatorOptions& options,
                                                      const Internals::RuntimeState& owner) {
  comm::CommunicatorOptions ours{.strict = options.strict,
                                 .team = {.tcp_between_processes = options.tcp_between_processes},
                                 .messages_only = options.messages_only,
                                 .devices = owner.machine.devices()};
  COMMRIG_ASSIGN(ours.rules, coll::Rules::parse(options.algorithms));
  return ours;
}

}  // namespace

Communicator::Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}
Communicator::Communicator(Communicator&& other) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept = default;
Communicator::~Communicator() = default;

Result<std::vector<Communicator>> Communicator::create_all(Runtime& runtime, int ranks,
                                                           const CommunicatorOptions& options) {
  const auto& owner = Internals::state(runtime);
  if (!owner) return moved_from("Runtime");
  return guarded([&]() -> Result<std::vector<Communicator>> {
    COMMRIG_API_ASSIGN(const auto ours, understand(options, *owner));
    COMMRIG_API_ASSIGN(auto made, comm::Communicator::create_all(owner->machine, ranks, ours));
    std::vector<Communicator> all;
    for (auto& one : made) {
      all.push_back(Internals::make(std::make_shared<State>(State{owner, std::move(one)})));
    }
    return all;
  });
}

Result<Communicator> Communicator::create(Runtime& runtime, const UniqueId& id, int rank, int ranks,
                                          const CommunicatorOptions& options) {
  const auto& owner = Internals::state(runtime);
  if (!owner) return moved_from("Runtime");
  return guarded([&]() -> Result<Communicator> {
    COMMRIG_API_ASSIGN(const auto ours, understand(options, *owner));
    COMMRIG_API_ASSIGN(const auto inner_id, translate(id));
    COMMRIG_API_ASSIGN(auto made, owner->lobby.join(inner_id, rank, ranks, {.communicator = ours}));
    return Internals::make(std::make_shared<State>(State{owner, std::move(made)}));
  });
}

Result<Communicator> Communicator::world(Runtime& runtime, const CommunicatorOptions& options) {
  const auto& owner = Internals::state(runtime);
  if (!owner) return moved_from("Runtime");
  return guarded([&]() -> Result<Communicator> {
    COMMRIG_API_ASSIGN(const auto ours, understand(options, *owner));
    COMMRIG_API_ASSIGN(auto made, owner->lobby.join_world({.communicator = ours}));
    return Internals::make(std::make_shared<State>(State{owner, std::move(made)}));
  });
}

int Communicator::rank() const {
  return state_ ? state_->communicator->rank() : -1;
}

int Communicator::size() const {
  return state_ ? state_->communicator->ranks() : 0;
}

Status Communicator::barrier() {
  if (!state_) return moved_from("Communicator");
  return guarded([&] { return translate(state_->communicator->barrier()); });
}

Result<std::optional<Communicator>> Communicator::split(int color, int key) {
  if (!state_) return moved_from("Communicator");
  return guarded([&]() -> Result<std::optional<Communicator>> {
    COMMRIG_API_ASSIGN(auto part, state_->communicator->split(color, key));
    if (!part) return std::optional<Communicator>();
    auto state = std::make_shared<State>(State{state_->runtime, std::move(part)});
    return std::optional<Communicator>(Internals::make(std::move(state)));
  });
}

Status Communicator::finalize() {
  if (!state_) return moved_from("Communicator");
  return guarded([&] { return translate(state_->communicator->finalize()); });
}

Status Communicator::error() const {
  if (!state_) return moved_from("Communicator");
  return guarded([&] { return translate(state_->communicator->error()); });
}

void Communicator::abort() {
  if (!state_) return;
  (void)guarded([&]() -> Status {
    state_->communicator->abort();
    return v0::ok();
  });
}

}  // namespace commrig::v0
