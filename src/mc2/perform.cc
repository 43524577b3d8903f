// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>

#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "dtype/stores.h"
#include "mc2/context.h"
#include "mc2/operation.h"

namespace commrig::mc2 {
namespace {

// Data go through the cache in pieces: a piece of every source is read, combined, and written to
// every target while it is there. A multiple of every element's size.
constexpr std::uint64_t kPieceBytes = 64 * 1024;

std::uint64_t table_bytes(std::span<const Submission* const> submissions) {
  std::uint64_t elements = 0;
  for (const Submission* submission : submissions) {
    for (std::size_t rank = 0; rank < submissions.size(); ++rank) {
      elements += submission->table->send_counts[rank];
    }
  }
  return elements * dtype::size_of(submissions.front()->message.dtype);
}

}  // namespace

TurnWork::TurnWork(std::span<const Submission* const> submissions, std::uint64_t turn)
    : submissions_(submissions),
      message_(submissions.front()->message),
      turn_(turn),
      element_bytes_(dtype::size_of(message_.dtype)),
      block_bytes_(message_.count * element_bytes_),
      stride_bytes_(block_stride(message_) * element_bytes_) {
  const std::size_t ranks = submissions.size();
  if (message_.command == Command::kAllToAllV) {
    outer_ = ranks * ranks;
    bytes_ = 2 * table_bytes(submissions);
    stores_ = dtype::stores_for(bytes_ * submissions.front()->turns);
    return;
  }
  inner_ = static_cast<std::size_t>((block_bytes_ + kPieceBytes - 1) / kPieceBytes);
  switch (message_.command) {
    case Command::kAllReduce:
      bytes_ = 2 * ranks * block_bytes_;
      break;
    case Command::kAllGather:
    case Command::kReduceScatter:
      outer_ = ranks;
      bytes_ = (ranks + 1) * ranks * block_bytes_;
      break;
    default:
      outer_ = ranks;
      bytes_ = 2 * ranks * ranks * block_bytes_;
      break;
  }
  // The turns of an operation touch different bytes.
  stores_ = dtype::stores_for(bytes_ * submissions.front()->turns);
}

Status TurnWork::perform(std::size_t piece) const {
  const std::size_t outer = piece / inner_;
  const Part each = part(piece % inner_);
  switch (message_.command) {
    case Command::kAllReduce:
      return all_reduce(each);
    case Command::kReduceScatter:
      return reduce_scatter(outer, each);
    case Command::kAllGather:
      all_gather(outer, each);
      return ok();
    case Command::kAllToAll:
      all_to_all(outer, each);
      return ok();
    case Command::kAllToAllV:
      all_to_all_v(outer / submissions_.size(), outer % submissions_.size());
      return ok();
    default:
      break;
  }
  return Error::make(Code::kUnsupportedCommand, std::string(name(message_.command)));
}

TurnWork::Part TurnWork::part(std::size_t inner) const {
  const std::uint64_t start = inner * kPieceBytes;
  return {start, std::min(kPieceBytes, block_bytes_ - std::min(start, block_bytes_))};
}

std::byte* TurnWork::send(std::size_t rank, std::uint64_t block, const Part& part) const {
  return reinterpret_cast<std::byte*>(submissions_[rank]->message.send) + block * stride_bytes_ +
         turn_ * block_bytes_ + part.start;
}

std::byte* TurnWork::recv(std::size_t rank, std::uint64_t block, const Part& part) const {
  return reinterpret_cast<std::byte*>(submissions_[rank]->message.recv) + block * stride_bytes_ +
         turn_ * block_bytes_ + part.start;
}

void TurnWork::copy(std::byte* target, const std::byte* source, std::uint64_t bytes) const {
  if (target != source) dtype::copy(target, source, bytes, stores_);
}

Status TurnWork::all_reduce(const Part& part) const {
  std::array<const void*, kRanksMax> sources{};
  const std::size_t ranks = submissions_.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) sources[rank] = send(rank, 0, part);
  std::byte* const first = recv(0, 0, part);
  // With other ranks to copy to, the result is read again at once.
  const dtype::Stores first_stores = ranks > 1 ? dtype::Stores::kOrdinary : stores_;
  COMMRIG_TRY(dtype::reduce(*message_.op, message_.dtype, std::span(sources).first(ranks), first,
                            part.bytes / element_bytes_, first_stores));
  for (std::size_t rank = 1; rank < ranks; ++rank) copy(recv(rank, 0, part), first, part.bytes);
  return ok();
}

Status TurnWork::reduce_scatter(std::size_t rank, const Part& part) const {
  std::array<const void*, kRanksMax> sources{};
  const std::size_t ranks = submissions_.size();
  for (std::size_t source = 0; source < ranks; ++source) {
    sources[source] = send(source, rank, part);
  }
  return dtype::reduce(*message_.op, message_.dtype, std::span(sources).first(ranks),
                       recv(rank, 0, part), part.bytes / element_bytes_, stores_);
}

void TurnWork::all_gather(std::size_t source, const Part& part) const {
  const std::byte* const piece = send(source, 0, part);
  for (std::size_t rank = 0; rank < submissions_.size(); ++rank) {
    copy(recv(rank, source, part), piece, part.bytes);
  }
}

void TurnWork::all_to_all(std::size_t source, const Part& part) const {
  for (std::size_t rank = 0; rank < submissions_.size(); ++rank) {
    copy(recv(rank, source, part), send(source, rank, part), part.bytes);
  }
}

void TurnWork::all_to_all_v(std::size_t source, std::size_t rank) const {
  const Submission& from = *submissions_[source];
  const Submission& to = *submissions_[rank];
  const std::uint64_t count = from.table->send_counts[rank];
  const std::uint64_t first = from.table->send_offsets[rank] + turn_ * count;
  const std::uint64_t target = to.table->recv_offsets[source] + turn_ * count;
  copy(reinterpret_cast<std::byte*>(to.message.recv) + target * element_bytes_,
       reinterpret_cast<const std::byte*>(from.message.send) + first * element_bytes_,
       count * element_bytes_);
}

}  // namespace commrig::mc2
