// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/abort.h"
#include "base/result.h"
#include "device/machine.h"
#include "mc2/context.h"
#include "mc2/layout.h"
#include "mc2/members.h"
#include "mc2/server.h"

namespace commrig::mc2 {

struct GroupOptions {
  const Layout* layout = nullptr;  // required, see find_layout
  int ranks = 1;                   // rank r lives on device r modulo the machine's devices
  // Windows as records with remote keys, as contexts of more than 32 ranks have them anyway.
  bool window_records = false;
  std::uint64_t window_bytes = 1U << 20U;  // of each rank's window, which is in and out alike
  std::uint64_t workspace_bytes = kWorkspaceBytesMin;
  // Without one, clients ring nothing, as foreign ones do, and the server must poll.
  bool doorbell = true;
  ServerOptions server{};
};

// Everything that the ranks of one communication group need on one machine: workspaces, windows and
// contexts in device memory, and the server. Kernels are launched with launch_config(rank) and
// given context(rank).
//
//   auto group = Group::create(machine, {.layout = layout, .ranks = 4});
//   launch(stream, (*group)->launch_config(0), kernel, (*group)->context(0), ...);
//
// Thread-safe once made. Kernels must have ended when the group is destroyed.
class Group {
 public:
  // Fails with kRankCount outside 1..256, kWorkspaceTooSmall, or MEM errors.
  static Result<std::unique_ptr<Group>> create(device::Machine& machine,
                                               const GroupOptions& options);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // The device address of a rank's context (rank < ranks()); kContextBytes long.
  void* context(int rank) const { return addresses_.at(static_cast<std::size_t>(rank)).context; }
  // Of a rank's workspace, 512-aligned, and of its window.
  void* workspace(int rank) const {
    return addresses_.at(static_cast<std::size_t>(rank)).workspace;
  }
  void* window(int rank) const { return addresses_.at(static_cast<std::size_t>(rank)).window; }
  int device_of(int rank) const { return rank % machine_.devices(); }
  int ranks() const { return options_.ranks; }
  const Layout& layout() const { return *options_.layout; }

  // How a kernel of that rank is launched: the group learns of its start, its end and its waits,
  // and ends the waits when something is wrong. A kernel launched so takes part: it must submit
  // what the others submit, and finalize.
  device::LaunchConfig launch_config(int rank, std::string name = "kernel");

  // Makes the server look, for host code and kernels that write a workspace without our client.
  // Thread-safe.
  void ring() { server_->wake(); }

  // The first thing that went wrong, if anything has.
  std::optional<Finding> finding() const { return server_->finding(); }
  ServerCounts counts() const { return server_->counts(); }
  const AbortFlag& abort_flag() const { return abort_; }

 private:
  struct Addresses {
    void* workspace = nullptr;
    void* window = nullptr;
    void* context = nullptr;
    void* records = nullptr;
    std::uint32_t key = 0;
  };
  Group(device::Machine& machine, const GroupOptions& options);
  Status allocate();
  bool has_records() const;
  Status write_records();
  Status write_contexts();
  Status start_server();

  device::Machine& machine_;
  GroupOptions options_;
  AbortFlag abort_;
  std::vector<Addresses> addresses_;
  void* bell_address_ = nullptr;
  device::Window bell_;
  Members members_;
  std::unique_ptr<Server> server_;
  device::Accessor server_accessor_;
};

}  // namespace commrig::mc2
