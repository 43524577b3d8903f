// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/finding.h"
#include "device/memory.h"
#include "dtype/stores.h"
#include "mc2/message.h"
#include "mc2/side_message.h"

namespace commrig::mc2 {

// One rank's part in a collective, as the server took it from a message.
struct Submission {
  Message message;
  std::unique_ptr<SideMessage> table{};  // all-to-all-v only
  // Turns that the operation has: the message's repeat, or, in a layout that does not carry it, as
  // many as were committed so far.
  std::uint64_t turns = 1;
};

// Elements from one rank's block to the next: the message's stride, or count x repeat when it is 0
// (packed blocks that hold all turns, as the newest public server does it).
std::uint64_t block_stride(const Message& message);

// Bytes that all turns of the message touch, from the buffer's start, for a group of `ranks`.
// Nothing when the number does not fit 64 bits.
struct Extent {
  std::uint64_t send = 0;
  std::uint64_t recv = 0;
};
std::optional<Extent> extent(const Submission& submission, std::uint32_t ranks);

// Looks at everything in one rank's submission that does not depend on the others: that the command
// is served, the reduction and type fit, counts and strides are in range, the buffers are live
// device memory of that size and do not overlap but in the exact in-place form.
std::optional<Finding> check_submission(const Submission& submission, const Layout& layout,
                                        const device::Memory& memory, const Place& place,
                                        std::uint32_t ranks);

// Names fields of a message in findings, as the layout does.
class Finder {
 public:
  // `place`: of the message. The layout must outlive the finder.
  Finder(const Layout& layout, const Place& place, const Message& message);
  Finding at(Code code, Part part, std::string expected, std::string found,
             std::string detail = {}) const;

 private:
  const Layout& layout_;
  Place place_;
  const MessageForm* form_;
};

// Compares what the ranks submitted in one slot: same command, type, reduction, count, stride and
// repeat; for all-to-all-v tables that are transposes of each other. The finding names the rank
// that stands against most others. All entries are non-null, one a rank.
std::optional<Finding> check_agreement(std::span<const Submission* const> submissions,
                                       const Layout& layout, int slot);

// Makes sure that no rank's target overlaps another rank's buffers.
std::optional<Finding> check_separation(std::span<const Submission* const> submissions,
                                        const Layout& layout, int slot);

// One turn for all ranks, in one pass over the data, cut into pieces that may be performed in any
// order and at the same time. The submissions have passed the checks and must outlive the work.
class TurnWork {
 public:
  // `turn`: from 0.
  TurnWork(std::span<const Submission* const> submissions, std::uint64_t turn);

  std::size_t pieces() const { return outer_ * inner_; }
  // Read and written by all pieces.
  std::uint64_t bytes() const { return bytes_; }
  // An Error is a command that is not served or a type without arithmetic.
  Status perform(std::size_t piece) const;

 private:
  struct Part {
    std::uint64_t start;  // bytes into a block
    std::uint64_t bytes;
  };
  Part part(std::size_t inner) const;
  std::byte* send(std::size_t rank, std::uint64_t block, const Part& part) const;
  std::byte* recv(std::size_t rank, std::uint64_t block, const Part& part) const;
  void copy(std::byte* target, const std::byte* source, std::uint64_t bytes) const;
  Status all_reduce(const Part& part) const;
  Status reduce_scatter(std::size_t rank, const Part& part) const;
  void all_gather(std::size_t source, const Part& part) const;
  void all_to_all(std::size_t source, const Part& part) const;
  void all_to_all_v(std::size_t source, std::size_t rank) const;

  std::span<const Submission* const> submissions_;
  const Message& message_;  // of rank 0; the others say the same
  std::uint64_t turn_;
  std::uint64_t element_bytes_;
  std::uint64_t block_bytes_;   // that a rank gives or gets in a turn
  std::uint64_t stride_bytes_;  // from one block to the next
  std::uint64_t bytes_ = 0;
  dtype::Stores stores_ = dtype::Stores::kOrdinary;
  std::size_t outer_ = 1;  // blocks
  std::size_t inner_ = 1;  // parts of each
};

}  // namespace commrig::mc2
