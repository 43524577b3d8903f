// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/ending.h"

#include <fmt/format.h>

namespace commrig::transport {
namespace {

// "40 bytes of fp32"; the word may be anything that a peer has sent.
std::string describe(std::uint64_t shape) {
  constexpr std::uint64_t kLength = (std::uint64_t{1} << 56U) - 1;
  const std::uint64_t elements = shape >> 56U;
  if (elements == kUntyped) return fmt::format("{} bytes", shape);
  const bool known = elements <= dtype::kDtypes.size();
  return fmt::format("{} bytes of {}", shape & kLength,
                     known ? dtype::kDtypes[elements - 1].name : "an unknown type");
}

}  // namespace

std::string name_of_peer(const Ends& ends) {
  return fmt::format("rank {} ({})", ends.peer, ends.peer_place);
}

Error aborted(const Ends& ends, int lost_rank) {
  std::string text =
      fmt::format("the link between ranks {} and {} was aborted", ends.rank, ends.peer);
  if (lost_rank >= 0) text += fmt::format(", because rank {} was lost", lost_rank);
  return Error::make(Code::kAborted, std::move(text));
}

Error closed(const Ends& ends, std::size_t moved, std::size_t bytes) {
  std::string text =
      fmt::format("{} has closed its link to rank {}", name_of_peer(ends), ends.rank);
  if (moved < bytes) {
    text += fmt::format(", in the middle of a message: {} of {} bytes have arrived", moved, bytes);
  }
  return Error::make(Code::kPeerLost, std::move(text));
}

Error refused(int sender, std::uint64_t sent, int receiver, std::uint64_t expected) {
  return Error::make(Code::kMessageLength,
                     fmt::format("rank {} has sent a message of {} to rank {}, which expected {}",
                                 sender, describe(sent), receiver, describe(expected)));
}

}  // namespace commrig::transport
