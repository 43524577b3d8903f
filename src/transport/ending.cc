// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/ending.h"

#include <fmt/format.h>

namespace commrig::transport {

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

Error wrong_length(int sender, std::uint64_t sent, int receiver, std::uint64_t expected) {
  return Error::make(
      Code::kMessageLength,
      fmt::format("rank {} has sent a message of {} bytes to rank {}, which expected "
                  "{} bytes",
                  sender, sent, receiver, expected));
}

}  // namespace commrig::transport
