// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstring>

#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "mc2/operation.h"

namespace commrig::mc2 {
namespace {

using Submissions = std::span<const Submission* const>;

// Reductions go through the cache in pieces: a piece of every source is read, combined, and written
// to every target while it is there.
constexpr std::uint64_t kPieceBytes = 16 * 1024;

// One turn with its addresses resolved.
class Turn {
 public:
  Turn(Submissions submissions, std::uint64_t turn)
      : submissions_(submissions),
        first_(submissions.front()->message),
        bytes_(dtype::size_of(first_.dtype)),
        stride_(block_stride(first_)),
        shift_(turn * first_.count) {}

  std::size_t ranks() const { return submissions_.size(); }
  std::uint64_t count() const { return first_.count; }
  std::uint64_t bytes() const { return bytes_; }
  std::byte* send(std::size_t rank, std::uint64_t block = 0) const {
    return at(submissions_[rank]->message.send, block);
  }
  std::byte* recv(std::size_t rank, std::uint64_t block = 0) const {
    return at(submissions_[rank]->message.recv, block);
  }

 private:
  std::byte* at(std::uint64_t base, std::uint64_t block) const {
    return reinterpret_cast<std::byte*>(base) + (block * stride_ + shift_) * bytes_;
  }
  Submissions submissions_;
  const Message& first_;
  std::uint64_t bytes_;
  std::uint64_t stride_;
  std::uint64_t shift_;
};

void copy_block(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  if (target != source && bytes != 0) std::memcpy(target, source, bytes);
}

void all_gather(const Turn& turn) {
  for (std::size_t source = 0; source < turn.ranks(); ++source) {
    for (std::size_t rank = 0; rank < turn.ranks(); ++rank) {
      copy_block(turn.recv(rank, source), turn.send(source), turn.count() * turn.bytes());
    }
  }
}

void all_to_all(const Turn& turn) {
  for (std::size_t source = 0; source < turn.ranks(); ++source) {
    for (std::size_t rank = 0; rank < turn.ranks(); ++rank) {
      copy_block(turn.recv(rank, source), turn.send(source, rank), turn.count() * turn.bytes());
    }
  }
}

Status all_reduce(const Turn& turn, dtype::ReduceOp op, dtype::Dtype dtype) {
  const std::uint64_t piece = kPieceBytes / turn.bytes();
  std::vector<const void*> sources(turn.ranks());
  for (std::uint64_t start = 0; start < turn.count(); start += piece) {
    const std::uint64_t count = std::min(piece, turn.count() - start);
    const std::uint64_t offset = start * turn.bytes();
    for (std::size_t rank = 0; rank < turn.ranks(); ++rank)
      sources[rank] = turn.send(rank) + offset;
    std::byte* const first = turn.recv(0) + offset;
    COMMRIG_TRY(dtype::reduce(op, dtype, sources, first, count));
    for (std::size_t rank = 1; rank < turn.ranks(); ++rank) {
      copy_block(turn.recv(rank) + offset, first, count * turn.bytes());
    }
  }
  return ok();
}

Status reduce_scatter(const Turn& turn, dtype::ReduceOp op, dtype::Dtype dtype) {
  std::vector<const void*> sources(turn.ranks());
  for (std::size_t rank = 0; rank < turn.ranks(); ++rank) {
    for (std::size_t source = 0; source < turn.ranks(); ++source) {
      sources[source] = turn.send(source, rank);
    }
    COMMRIG_TRY(dtype::reduce(op, dtype, sources, turn.recv(rank), turn.count()));
  }
  return ok();
}

void all_to_all_v(Submissions submissions, std::uint64_t turn) {
  const std::uint64_t bytes = dtype::size_of(submissions.front()->message.dtype);
  for (std::size_t source = 0; source < submissions.size(); ++source) {
    for (std::size_t rank = 0; rank < submissions.size(); ++rank) {
      const Submission& from = *submissions[source];
      const Submission& to = *submissions[rank];
      const std::uint64_t count = from.table->send_counts[rank];
      const auto* const send = reinterpret_cast<const std::byte*>(from.message.send) +
                               (from.table->send_offsets[rank] + turn * count) * bytes;
      auto* const recv = reinterpret_cast<std::byte*>(to.message.recv) +
                         (to.table->recv_offsets[source] + turn * count) * bytes;
      copy_block(recv, send, count * bytes);
    }
  }
}

}  // namespace

Status perform_turn(Submissions submissions, std::uint64_t turn_number) {
  const Message& message = submissions.front()->message;
  const Turn turn(submissions, turn_number);
  switch (message.command) {
    case Command::kAllGather:
      all_gather(turn);
      return ok();
    case Command::kAllToAll:
      all_to_all(turn);
      return ok();
    case Command::kAllToAllV:
      all_to_all_v(submissions, turn_number);
      return ok();
    case Command::kAllReduce:
      return all_reduce(turn, *message.op, message.dtype);
    case Command::kReduceScatter:
      return reduce_scatter(turn, *message.op, message.dtype);
    default:
      break;
  }
  return Error::make(Code::kUnsupportedCommand, std::string(name(message.command)));
}

}  // namespace commrig::mc2
