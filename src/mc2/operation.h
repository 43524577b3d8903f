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

// Performs turn `turn` (from 0) for all ranks in one pass. The submissions have passed the checks;
// an Error is a type without arithmetic and the like.
Status perform_turn(std::span<const Submission* const> submissions, std::uint64_t turn);

}  // namespace commrig::mc2
