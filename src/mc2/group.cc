// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/group.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "mc2/window_record.h"

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
      members_(options.ranks,
               {.ring = [this] { ring(); },
                .check_start = [this](int rank) { return server_->check_start(rank); },
                .report = [this](Finding finding) { server_->give_up(std::move(finding)); }}),
      server_accessor_(machine.executor(), -1) {}

Result<std::unique_ptr<Group>> Group::create(device::Machine& machine,
                                             const GroupOptions& options) {
  COMMRIG_CHECK(options.layout != nullptr, "a group needs a layout");
  if (options.ranks < 1 || options.ranks > static_cast<int>(kRanksMax)) {
    return Error::make(Code::kRankCount, fmt::format("{} ranks asked for, 1 to {} are possible",
                                                     options.ranks, kRanksMax));
  }
  std::unique_ptr<Group> group(new Group(machine, options));  // tidy: allow(new) private
  COMMRIG_TRY(group->allocate());
  if (group->has_records()) COMMRIG_TRY(group->write_records());
  COMMRIG_TRY(group->write_contexts());
  COMMRIG_TRY(group->start_server());
  return group;
}

Group::~Group() {
  machine_.unwatch_host(this);
  server_.reset();
  const auto release = [this](void* address) {
    if (address == nullptr) return;
    const Status released = machine_.memory().release(address);
    COMMRIG_CHECK(released.has_value(), to_string(released.error()));
  };
  for (const Addresses& each : addresses_) {
    if (each.key != 0) machine_.remote_keys().close(each.key);
    release(each.records);
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
    COMMRIG_TRY(memory.clear(each.workspace));
  }
  COMMRIG_ASSIGN(bell_address_, memory.allocate(0, sizeof(std::uint64_t)));
  COMMRIG_ASSIGN(bell_,
                 memory.resolve(bell_address_, sizeof(std::uint64_t), sizeof(std::uint64_t)));
  std::memset(bell_address_, 0, sizeof(std::uint64_t));
  return ok();
}

bool Group::has_records() const {
  return options_.window_records || options_.ranks > static_cast<int>(kContextRanks);
}

// Every rank's window is in and out alike, so a rank has one key.
Status Group::write_records() {
  device::Memory& memory = machine_.memory();
  std::vector<RemoteWindow> remote;
  for (Addresses& each : addresses_) {
    COMMRIG_ASSIGN(const device::Window window, memory.resolve(each.window, options_.window_bytes));
    each.key = machine_.remote_keys().open(window);
    remote.push_back({options_.window_bytes, number(each.window), each.key});
  }
  for (std::size_t rank = 0; rank < addresses_.size(); ++rank) {
    std::vector<std::byte> records(addresses_.size() * kWindowRecordBytes);
    for (std::size_t peer = 0; peer < addresses_.size(); ++peer) {
      write_record(
          {.remote_in = remote[peer],
           .remote_out = remote[peer],
           .local_in = remote[rank],
           .local_out = remote[rank]},
          std::span(records).subspan(peer * kWindowRecordBytes).first<kWindowRecordBytes>());
    }
    COMMRIG_ASSIGN(addresses_[rank].records,
                   memory.allocate(device_of(static_cast<int>(rank)), records.size()));
    std::memcpy(addresses_[rank].records, records.data(), records.size());
  }
  return ok();
}

Status Group::write_contexts() {
  std::vector<std::uint64_t> windows;
  for (const Addresses& each : addresses_) windows.push_back(number(each.window));
  for (std::size_t rank = 0; rank < addresses_.size(); ++rank) {
    std::array<std::byte, kContextBytes> bytes{};
    COMMRIG_TRY(
        build_context({.workspace = number(addresses_[rank].workspace),
                       .workspace_bytes = options_.workspace_bytes,
                       .rank = static_cast<std::uint32_t>(rank),
                       .ranks = static_cast<std::uint32_t>(addresses_.size()),
                       .window_bytes = options_.window_bytes,
                       .windows_in = windows,
                       .windows_out = windows,
                       .multi_flag = static_cast<std::uint8_t>(has_records() ? 1 : 0),
                       .data = number(addresses_[rank].records),
                       .data_bytes = has_records() ? addresses_.size() * kWindowRecordBytes : 0,
                       .doorbell = options_.doorbell ? number(bell_address_) : 0},
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
  machine_.watch_host(this, [this] { members_.on_host_sleeps(); });
  return server_->started();
}

device::LaunchConfig Group::launch_config(int rank, std::string name) {
  return {.name = std::move(name), .rank = rank, .abort = &abort_, .observer = &members_};
}

}  // namespace commrig::mc2
