// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/accessor.h"
#include "mc2/layout.h"

namespace commrig::mc2 {

// The words of one rank's workspace by their meaning. Client and server each have one, over their
// own accessor; the memory is shared. Slots must be below layout.slots. All functions fail with the
// window's refusal (MEM errors) when the memory is gone.
class Workspace {
 public:
  // The window starts at the rounded base. Accessor and layout must outlive the workspace.
  Workspace(device::Accessor& accessor, device::Window window, const Layout& layout)
      : accessor_(&accessor), window_(std::move(window)), layout_(&layout) {}

  // Messages. `write_message` stores everything but the valid word, then the valid word.
  Result<std::uint32_t> message_valid(std::uint32_t slot) const;
  Status set_message_valid(std::uint32_t slot, std::uint32_t value) const;
  Status read_message(std::uint32_t slot, std::span<std::byte> out) const;
  Status write_message(std::uint32_t slot, std::span<const std::byte> message) const;
  Status read_side_message(std::uint32_t slot, std::span<std::byte> out) const;
  Status write_side_message(std::uint32_t slot, std::span<const std::byte> message) const;
  // The server has copied the side message.
  Status mark_side_taken(std::uint32_t slot) const;

  // Counters: `cnt` and `valid` of a commit, `cnt` of a finish.
  Result<std::uint64_t> commit_count(std::uint32_t slot) const;
  Result<std::uint64_t> commit_valid(std::uint32_t slot) const;
  Status set_commit_count(std::uint32_t slot, std::uint64_t value) const;
  Status set_commit_valid(std::uint32_t slot, std::uint64_t value) const;
  Result<std::uint64_t> finished_count(std::uint32_t slot) const;
  Status set_finished_count(std::uint32_t slot, std::uint64_t value) const;
  // Wakes nobody; the caller does, by the address of the word.
  Status set_finished_unwoken(std::uint32_t slot, std::uint64_t value) const;
  const void* finished_word(std::uint32_t slot) const {
    return window_.base() + finished_count_at(slot);
  }

  // Where the words lie, in bytes from the rounded base.
  std::uint64_t message_valid_at(std::uint32_t slot) const;
  std::uint64_t commit_count_at(std::uint32_t slot) const;
  std::uint64_t finished_count_at(std::uint32_t slot) const;

  const device::Window& window() const { return window_; }
  device::Accessor& accessor() const { return *accessor_; }
  const Layout& layout() const { return *layout_; }

 private:
  device::Accessor* accessor_;
  device::Window window_;
  const Layout* layout_;
};

}  // namespace commrig::mc2
