// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/client.h"

#include <array>

#include <fmt/format.h>

namespace commrig::mc2 {
namespace {

constexpr std::uint32_t kRepeatMax = 255;  // one byte on the wire

Error state_error(const device::KernelContext& kernel, const char* text) {
  return Error::make(Code::kClientState, fmt::format("rank {}: {}", kernel.rank(), text));
}

}  // namespace

Status Client::init(const void* context) {
  if (state_ != State::kNew) return state_error(kernel_, "init was called twice");
  COMMRIG_ASSIGN(const device::Window window, kernel_.window(context, kContextBytes));
  std::array<std::byte, kContextBytes> bytes{};
  COMMRIG_TRY(kernel_.get(window, 0, bytes.data(), bytes.size()));
  COMMRIG_ASSIGN(context_, read_context(bytes, layout_));
  // Among ranks of this machine the kernel knows which one it is.
  if (context_.doorbell != 0) doorbell_ = kernel_.doorbell(context_.doorbell);
  if (doorbell_ != nullptr && static_cast<int>(context_.rank) != kernel_.rank()) {
    return Error::make(Code::kBadContext,
                       fmt::format("rankId (at 0x10 of the context) is {}, but the kernel was "
                                   "launched for rank {}",
                                   context_.rank, kernel_.rank()));
  }
  const std::uint64_t skipped = context_.base - context_.workspace;
  COMMRIG_ASSIGN(
      device::Window workspace,
      kernel_.window(context_.base, context_.workspace_bytes - skipped, kWorkspaceAlignment));
  workspace_.emplace(kernel_, std::move(workspace), layout_);
  if (context_.doorbell != 0) {
    COMMRIG_ASSIGN(bell_, kernel_.window(context_.doorbell, sizeof(std::uint64_t), 8));
  }
  COMMRIG_TRY(read_windows());
  COMMRIG_TRY(check_windows());
  state_ = State::kReady;
  return ok();
}

// From the context's own arrays or, with the multi flag, from the records that it points to.
Status Client::read_windows() {
  windows_.resize(ranks());
  if (context_.multi_flag == 0) {
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      const RemoteWindow in{context_.window_bytes, context_.windows_in[rank], 0};
      const RemoteWindow out{context_.window_bytes, context_.windows_out[rank], 0};
      windows_[rank] = {.remote_in = in, .remote_out = out};
    }
    return ok();
  }
  const std::size_t bytes = std::size_t{ranks()} * kWindowRecordBytes;
  if (context_.data == 0) {
    return Error::make(
        Code::kBadContext,
        fmt::format("data (at 0x22b0 of the context) is 0 with multiFlag {}", context_.multi_flag));
  }
  // 0 in contexts that end before this field.
  if (context_.data_bytes != 0 && context_.data_bytes < bytes) {
    return Error::make(Code::kBadContext,
                       fmt::format("dataSize (at 0x22b8 of the context) is {}, expected at least "
                                   "{} for {} ranks",
                                   context_.data_bytes, bytes, ranks()));
  }
  COMMRIG_ASSIGN(const device::Window records, kernel_.window(context_.data, bytes));
  std::vector<std::byte> copy(bytes);
  COMMRIG_TRY(kernel_.get(records, 0, copy.data(), copy.size()));
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const auto record = std::span(copy).subspan(std::size_t{rank} * kWindowRecordBytes);
    windows_[rank] = read_record(record.first<kWindowRecordBytes>());
    if (rank != this->rank()) continue;
    windows_[rank].remote_in = windows_[rank].local_in;
    windows_[rank].remote_out = windows_[rank].local_out;
  }
  return ok();
}

Status Client::check_windows() const {
  for (std::uint32_t rank = 0; rank < ranks() && window_bytes() != 0; ++rank) {
    const bool has_in = windows_[rank].remote_in.address != 0;
    if (has_in && windows_[rank].remote_out.address != 0) continue;
    return Error::make(Code::kBadContext,
                       fmt::format("windows{}[{}] is 0, expected the address of {} bytes",
                                   has_in ? "Out" : "In", rank, window_bytes()));
  }
  return ok();
}

Result<Handle> Client::all_reduce(const Transfer& transfer, dtype::ReduceOp op) {
  return prepare(Command::kAllReduce, op, transfer, nullptr);
}
Result<Handle> Client::all_gather(const Transfer& transfer) {
  return prepare(Command::kAllGather, std::nullopt, transfer, nullptr);
}
Result<Handle> Client::reduce_scatter(const Transfer& transfer, dtype::ReduceOp op) {
  return prepare(Command::kReduceScatter, op, transfer, nullptr);
}
Result<Handle> Client::all_to_all(const Transfer& transfer) {
  return prepare(Command::kAllToAll, std::nullopt, transfer, nullptr);
}
Result<Handle> Client::all_to_all_v(const Transfer& transfer, const SideMessage& table) {
  return prepare(Command::kAllToAllV, std::nullopt, transfer, &table);
}

Status Client::check_transfer(Command command, const Transfer& transfer) const {
  const auto refuse = [&](Code code, const std::string& text) {
    return Error::make(code, fmt::format("rank {}, {}: {}", kernel_.rank(), name(command), text));
  };
  if (state_ != State::kReady)
    return state_error(kernel_, "prepare without init or after finalize");
  if (prepared_.size() >= layout_.handles) {
    return refuse(Code::kHandlesExhausted, fmt::format("{} handles are in use", layout_.handles));
  }
  if (transfer.repeat < 1 || transfer.repeat > kRepeatMax) {
    return refuse(Code::kZeroRepeat, fmt::format("repeat is {}", transfer.repeat));
  }
  if (transfer.send == nullptr || transfer.recv == nullptr) {
    return refuse(Code::kNullBuffer, transfer.send == nullptr ? "send is null" : "recv is null");
  }
  if (command != Command::kAllToAllV && transfer.count == 0)
    return refuse(Code::kCountZero, "count is 0");
  return ok();
}

Result<Handle> Client::prepare(Command command, std::optional<dtype::ReduceOp> op,
                               const Transfer& transfer, const SideMessage* table) {
  COMMRIG_TRY(check_transfer(command, transfer));
  const auto handle = static_cast<Handle>(prepared_.size());
  Message message;
  message.command = command;
  message.op = op;
  message.send = reinterpret_cast<std::uintptr_t>(transfer.send);
  message.recv = reinterpret_cast<std::uintptr_t>(transfer.recv);
  message.count = table != nullptr ? 0 : transfer.count;
  message.stride = table != nullptr ? 0 : transfer.stride;
  if (!layout_.carries_repeat && message.stride == 0 && transfer.repeat > 1) {
    message.stride = message.count * transfer.repeat;  // The server can't work it out there.
  }
  message.dtype = transfer.dtype;
  message.repeat = static_cast<std::uint8_t>(transfer.repeat);
  message.handle = static_cast<std::int8_t>(handle);
  message.sequence = sequence_;
  COMMRIG_ASSIGN(const std::uint32_t slot, submit(message, table));
  ++sequence_;
  prepared_.push_back({.slot = slot, .repeat = transfer.repeat});
  return handle;
}

// Writes the message into the next slot and returns the slot.
Result<std::uint32_t> Client::submit(const Message& message, const SideMessage* table) {
  if (next_slot_ >= layout_.slots) {
    return Error::make(Code::kSlotsExhausted, fmt::format("rank {}: all {} slots were used",
                                                          kernel_.rank(), layout_.slots));
  }
  const std::uint32_t slot = next_slot_;
  std::vector<std::byte> bytes(layout_.message_bytes);
  COMMRIG_TRY(encode(layout_, message, bytes));
  if (layout_.marks_taken) {
    // An earlier kernel's message may still stand there, until the server has taken it.
    COMMRIG_TRY(kernel_.wait<std::uint32_t>(workspace_->window(),
                                            workspace_->message_valid_at(slot), Compare::kNotEqual,
                                            layout_.valid, {.what = "a free message slot"}));
  }
  if (table != nullptr) {
    std::vector<std::byte> side(kSideMessageBytes);
    COMMRIG_TRY(encode_side(layout_, *table, ranks(), side));
    COMMRIG_TRY(workspace_->write_side_message(slot, side));
  }
  COMMRIG_TRY(workspace_->write_message(slot, bytes));
  ++next_slot_;
  COMMRIG_TRY(ring());
  return slot;
}

Result<Client::Prepared*> Client::find(Handle handle) {
  if (state_ != State::kReady) return state_error(kernel_, "call without init or after finalize");
  if (handle >= prepared_.size()) {
    return Error::make(Code::kBadHandle, fmt::format("rank {}: handle {} of {}", kernel_.rank(),
                                                     handle, prepared_.size()));
  }
  return &prepared_[handle];
}

Status Client::commit(Handle handle) {
  COMMRIG_ASSIGN(Prepared* const entry, find(handle));
  if (entry->committed == entry->repeat) {
    return Error::make(Code::kCommitAboveRepeat,
                       fmt::format("rank {}, handle {}: all {} turns are committed", kernel_.rank(),
                                   handle, entry->repeat));
  }
  COMMRIG_TRY(publish_commit(entry->slot, entry->committed + 1));
  ++entry->committed;
  return ok();
}

Status Client::publish_commit(std::uint32_t slot, std::uint64_t total) {
  if (layout_.resets_commit_on_finalize && total == 1) {
    // The count of an earlier kernel must be gone: the server resets it before it answers.
    COMMRIG_TRY(kernel_.wait<std::uint64_t>(workspace_->window(), workspace_->commit_count_at(slot),
                                            Compare::kEqual, 0,
                                            {.what = "a cleared commit counter"}));
  }
  COMMRIG_TRY(workspace_->set_commit_count(slot, total));
  COMMRIG_TRY(workspace_->set_commit_valid(slot, layout_.commit_valid));
  return ring();
}

Status Client::wait(Handle handle) {
  COMMRIG_ASSIGN(Prepared* const entry, find(handle));
  if (entry->waited == entry->committed) {
    return Error::make(Code::kWaitAboveCommit,
                       fmt::format("rank {}, handle {}: wait number {} with {} commits",
                                   kernel_.rank(), handle, entry->waited + 1, entry->committed));
  }
  COMMRIG_TRY(
      await_finished(entry->slot, Compare::kAtLeast, entry->waited + 1, "the end of a turn"));
  ++entry->waited;
  return ok();
}

Result<std::uint64_t> Client::query(Handle handle) {
  COMMRIG_ASSIGN(Prepared* const entry, find(handle));
  return workspace_->finished_count(entry->slot);
}

Status Client::finalize() {
  if (state_ != State::kReady) return state_error(kernel_, "finalize without init or twice");
  for (std::size_t handle = 0; handle < prepared_.size(); ++handle) {
    const Prepared& entry = prepared_[handle];
    if (entry.committed != entry.repeat) {
      return Error::make(
          Code::kClientState,
          fmt::format("rank {}: finalize while handle {} has {} of {} turns committed",
                      kernel_.rank(), handle, entry.committed, entry.repeat));
    }
    COMMRIG_TRY(
        await_finished(entry.slot, Compare::kAtLeast, entry.repeat, "the end of the last turn"));
  }
  COMMRIG_ASSIGN(const std::uint32_t slot, submit(finalize_message(), nullptr));
  if (layout_.finalize_has_commit) COMMRIG_TRY(publish_commit(slot, 1));
  COMMRIG_TRY(
      await_finished(slot, Compare::kEqual, layout_.finalize_finish, "the answer to finalize"));
  for (std::uint32_t used = 0; used <= slot; ++used) {
    COMMRIG_TRY(workspace_->set_finished_count(used, 0));
  }
  state_ = State::kFinalized;
  return ok();
}

Status Client::await_finished(std::uint32_t slot, Compare compare, std::uint64_t value,
                              const char* what) {
  COMMRIG_ASSIGN(const std::uint64_t finished, workspace_->finished_count(slot));
  if (holds(compare, finished, value)) return ok();
  // A turn that was handed over and has not begun is done here and now.
  if (doorbell_ != nullptr) doorbell_->ring(kernel_, device::Doorbell::Caller::kWaits);
  return kernel_.wait<std::uint64_t>(workspace_->window(), workspace_->finished_count_at(slot),
                                     compare, value, {.what = what});
}

Status Client::ring() {
  if (context_.doorbell == 0) return ok();
  if (doorbell_ != nullptr) {
    doorbell_->ring(kernel_, device::Doorbell::Caller::kComputes);
    return ok();
  }
  COMMRIG_TRY(kernel_.add<std::uint64_t>(bell_, 0, 1));
  return ok();
}

}  // namespace commrig::mc2
