// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/group.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace commrig::mc2 {
namespace {

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

Group::Group(device::Machine& machine, const GroupOptions& options)
    : machine_(machine),
      options_(options),
      abort_(&machine.abort_flag()),
      addresses_(static_cast<std::size_t>(options.ranks)),
      members_(options.ranks, [this] { ring(); }),
      server_accessor_(machine.executor(), -1) {}

Result<std::unique_ptr<Group>> Group::create(device::Machine& machine,
                                             const GroupOptions& options) {
  COMMRIG_CHECK(options.layout != nullptr, "a group needs a layout");
  if (options.ranks < 1 || options.ranks > static_cast<int>(kContextRanks)) {
    return Error::make(Code::kRankCount, fmt::format("{} ranks asked for, 1 to {} are possible",
                                                     options.ranks, kContextRanks));
  }
  std::unique_ptr<Group> group(new Group(machine, options));  // tidy: allow(new) private
  COMMRIG_TRY(group->allocate());
  COMMRIG_TRY(group->write_contexts());
  COMMRIG_TRY(group->start_server());
  return group;
}

Group::~Group() {
  server_.reset();
  const auto release = [this](void* address) {
    if (address == nullptr) return;
    const Status released = machine_.memory().release(address);
    COMMRIG_CHECK(released.has_value(), to_string(released.error()));
  };
  for (const Addresses& each : addresses_) {
    release(each.context);
    release(each.window);
    release(each.workspace);
  }
  release(bell_address_);
}

// Fresh device memory may hold anything, so what the protocol counts on being zero is cleared.
Status Group::allocate() {
  device::Memory& memory = machine_.memory();
  for (int rank = 0; rank < options_.ranks; ++rank) {
    Addresses& each = addresses_[static_cast<std::size_t>(rank)];
    const int device = device_of(rank);
    COMMRIG_ASSIGN(each.workspace, memory.allocate(device, options_.workspace_bytes));
    COMMRIG_ASSIGN(each.window, memory.allocate(device, options_.window_bytes));
    COMMRIG_ASSIGN(each.context, memory.allocate(device, kContextBytes));
    std::memset(each.workspace, 0, options_.workspace_bytes);
  }
  COMMRIG_ASSIGN(bell_address_, memory.allocate(0, sizeof(std::uint64_t)));
  COMMRIG_ASSIGN(bell_,
                 memory.resolve(bell_address_, sizeof(std::uint64_t), sizeof(std::uint64_t)));
  std::memset(bell_address_, 0, sizeof(std::uint64_t));
  return ok();
}

Status Group::write_contexts() {
  std::vector<std::uint64_t> windows;
  for (const Addresses& each : addresses_) windows.push_back(number(each.window));
  for (std::size_t rank = 0; rank < addresses_.size(); ++rank) {
    std::array<std::byte, kContextBytes> bytes{};
    COMMRIG_TRY(build_context({.workspace = number(addresses_[rank].workspace),
                               .workspace_bytes = options_.workspace_bytes,
                               .rank = static_cast<std::uint32_t>(rank),
                               .ranks = static_cast<std::uint32_t>(addresses_.size()),
                               .window_bytes = options_.window_bytes,
                               .windows_in = windows,
                               .windows_out = windows,
                               .doorbell = number(bell_address_)},
                              bytes));
    std::memcpy(addresses_[rank].context, bytes.data(), bytes.size());
  }
  return ok();
}

Status Group::start_server() {
  std::vector<Workspace> workspaces;
  for (const Addresses& each : addresses_) {
    COMMRIG_ASSIGN(
        device::Window window,
        machine_.memory().resolve(each.workspace, options_.workspace_bytes, kWorkspaceAlignment));
    workspaces.emplace_back(server_accessor_, std::move(window), *options_.layout);
  }
  server_ = std::make_unique<Server>(machine_, std::move(workspaces), bell_, members_, abort_,
                                     options_.server);
  return ok();
}

device::LaunchConfig Group::launch_config(int rank, std::string name) {
  return {.name = std::move(name), .rank = rank, .abort = &abort_, .observer = &members_};
}

}  // namespace commrig::mc2
