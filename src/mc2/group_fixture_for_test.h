// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "device/kernel.h"
#include "device/machine.h"
#include "mc2/client.h"
#include "mc2/group.h"

namespace commrig::mc2 {

// A group of ranks on a machine of its own, each with a stream.
class GroupRig {
 public:
  using Kernel = std::function<Status(device::KernelContext&, Client&)>;
  using RawKernel = std::function<Status(device::KernelContext&)>;

  GroupRig(const std::string& layout, int ranks) : GroupRig(layout, {.ranks = ranks}) {}
  GroupRig(const std::string& layout, GroupOptions options)
      : machine_(executor_, events_, {.devices = options.ranks}) {
    machine_.set_host_threads(1);
    options.layout = *find_layout(layout);
    Result<std::unique_ptr<Group>> made = Group::create(machine_, options);
    group_ = std::move(made).value();
    for (int rank = 0; rank < options.ranks; ++rank) {
      streams_.push_back(std::move(machine_.create_stream(rank)).value());
    }
  }

  // Launches a kernel that has an initialised client, for one rank.
  void launch(int rank, Kernel kernel) {
    launch_raw(rank,
               [this, rank, kernel = std::move(kernel)](device::KernelContext& context) -> Status {
                 Client client(context, group_->layout());
                 COMMRIG_TRY(client.init(group_->context(rank)));
                 return kernel(context, client);
               });
  }
  void launch_raw(int rank, const RawKernel& kernel) {
    const Status launched = device::launch_function(*streams_[static_cast<std::size_t>(rank)],
                                                    group_->launch_config(rank), kernel);
    ASSERT_TRUE(launched.has_value()) << to_string(launched.error());
  }
  void launch_all(const Kernel& kernel) {
    for (int rank = 0; rank < ranks(); ++rank) launch(rank, kernel);
  }
  // What became of each rank's stream.
  std::vector<Status> synchronize() {
    std::vector<Status> all;
    for (const auto& stream : streams_) all.push_back(machine_.synchronize(*stream));
    return all;
  }
  void expect_success() {
    for (const Status& status : synchronize()) {
      EXPECT_TRUE(status.has_value()) << to_string(status.error());
    }
    EXPECT_FALSE(group_->finding().has_value()) << sentence(*group_->finding());
  }

  // Device memory of a rank with these elements.
  template <class T>
  T* upload(int rank, const std::vector<T>& values) {
    void* const memory =
        *machine_.memory().allocate(group_->device_of(rank), values.size() * sizeof(T));
    std::memcpy(memory, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(memory);
  }
  template <class T>
  T* allocate(int rank, std::size_t count, T value = T{}) {
    return upload(rank, std::vector<T>(count, value));
  }

  int ranks() const { return group_->ranks(); }
  Group& group() { return *group_; }
  device::Machine& machine() { return machine_; }
  ThreadExecutor& executor() { return executor_; }
  EventStream& events() { return events_; }

 private:
  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_;
  std::unique_ptr<Group> group_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
};

}  // namespace commrig::mc2
