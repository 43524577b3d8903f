// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/workspace.h"

#include "mc2/side_message.h"

namespace commrig::mc2 {

std::uint64_t Workspace::message_valid_at(std::uint32_t slot) const {
  return layout_->message_at(slot) + layout_->valid_offset;
}
std::uint64_t Workspace::commit_count_at(std::uint32_t slot) const {
  return layout_->commit_at(slot) + layout_->counter_count.offset;
}
std::uint64_t Workspace::finished_count_at(std::uint32_t slot) const {
  return layout_->finished_at(slot) + layout_->counter_count.offset;
}

Result<std::uint32_t> Workspace::message_valid(std::uint32_t slot) const {
  return accessor_->load<std::uint32_t>(window_, message_valid_at(slot));
}
Status Workspace::set_message_valid(std::uint32_t slot, std::uint32_t value) const {
  return accessor_->store<std::uint32_t>(window_, message_valid_at(slot), value);
}

Status Workspace::read_message(std::uint32_t slot, std::span<std::byte> out) const {
  return accessor_->get(window_, layout_->message_at(slot), out.data(), layout_->message_bytes);
}

Status Workspace::write_message(std::uint32_t slot, std::span<const std::byte> message) const {
  const std::uint64_t start = layout_->message_at(slot);
  const std::size_t behind = layout_->valid_offset + sizeof(std::uint32_t);
  COMMRIG_TRY(accessor_->put(window_, start, message.data(), layout_->valid_offset));
  COMMRIG_TRY(accessor_->put(window_, start + behind, message.data() + behind,
                             layout_->message_bytes - behind));
  return set_message_valid(slot, layout_->valid);
}

Status Workspace::read_side_message(std::uint32_t slot, std::span<std::byte> out) const {
  return accessor_->get(window_, layout_->side_message_at(slot), out.data(), kSideMessageBytes);
}

Status Workspace::write_side_message(std::uint32_t slot, std::span<const std::byte> message) const {
  // The whole message counts only once the message word of the slot is valid, so one put will do.
  return accessor_->put(window_, layout_->side_message_at(slot), message.data(), kSideMessageBytes);
}

Status Workspace::mark_side_taken(std::uint32_t slot) const {
  return accessor_->store<std::uint64_t>(
      window_, layout_->side_message_at(slot) + side_valid_field().offset, layout_->valid_taken);
}

Result<std::uint64_t> Workspace::commit_count(std::uint32_t slot) const {
  return accessor_->load<std::uint64_t>(window_, commit_count_at(slot));
}
Result<std::uint64_t> Workspace::commit_valid(std::uint32_t slot) const {
  return accessor_->load<std::uint64_t>(window_,
                                        layout_->commit_at(slot) + layout_->counter_valid.offset);
}
Status Workspace::set_commit_count(std::uint32_t slot, std::uint64_t value) const {
  return accessor_->store<std::uint64_t>(window_, commit_count_at(slot), value);
}
Status Workspace::set_commit_valid(std::uint32_t slot, std::uint64_t value) const {
  return accessor_->store<std::uint64_t>(
      window_, layout_->commit_at(slot) + layout_->counter_valid.offset, value);
}
Result<std::uint64_t> Workspace::finished_count(std::uint32_t slot) const {
  return accessor_->load<std::uint64_t>(window_, finished_count_at(slot));
}
Status Workspace::set_finished_count(std::uint32_t slot, std::uint64_t value) const {
  return accessor_->store<std::uint64_t>(window_, finished_count_at(slot), value);
}
Status Workspace::set_finished_unwoken(std::uint32_t slot, std::uint64_t value) const {
  return accessor_->store_unwoken<std::uint64_t>(window_, finished_count_at(slot), value);
}

}  // namespace commrig::mc2
