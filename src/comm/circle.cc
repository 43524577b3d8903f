// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/circle.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/awaited.h"
#include "comm/call.h"
#include "comm/team.h"

namespace commrig::comm {
namespace {

struct Stand {
  int rank;
  std::uint64_t word;
};

// Whether counter `a` is behind `b`; both modulo 2^32.
bool is_behind(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

// Whether it cannot come before the peer's operation has ended. A message that is sent may have
// been taken ahead, as far as there is room: so it is only sure to wait when the peer has received
// all that it wants until then.
bool is_stuck(Team& team, int rank, const Awaited& awaited) {
  const Board* const peer = team.find_board(awaited.peer);
  if (peer == nullptr) return false;
  const Mail& mail = team.mail(awaited.peer, rank);
  switch (awaited.kind) {
    case Awaited::Kind::kReceive:
      return is_behind(mail.sends.load(std::memory_order_seq_cst), awaited.number);
    case Awaited::Kind::kSend: {
      const std::uint32_t wanted = mail.receives.load(std::memory_order_seq_cst);
      return is_behind(wanted, awaited.number) &&
             mail.received.load(std::memory_order_seq_cst) == wanted;
    }
    case Awaited::Kind::kCollective:
      return is_behind(
          static_cast<std::uint32_t>(peer->state.begun.load(std::memory_order_seq_cst)),
          awaited.number);
    case Awaited::Kind::kNothing:
      break;
  }
  return false;
}

std::uint64_t word_of(Team& team, int rank) {
  const Board* const board = team.find_board(rank);
  return board == nullptr ? 0 : board->state.awaited.load(std::memory_order_seq_cst);
}

// The ranks from `rank` on, each of which waits for the next and the last for the first; empty
// where somebody can go on.
std::vector<Stand> follow(Team& team, int rank) {
  std::vector<Stand> circle;
  int at = rank;
  do {
    const std::uint64_t word = word_of(team, at);
    const Awaited awaited = Awaited::from(word);
    const bool elsewhere = circle.size() == static_cast<std::size_t>(team.ranks());
    if (elsewhere || !is_stuck(team, at, awaited)) return {};
    circle.push_back({at, word});
    at = awaited.peer;
  } while (at != rank);
  return circle;
}

std::string describe(Team& team, const Stand& stand) {
  const Awaited awaited = Awaited::from(stand.word);
  switch (awaited.kind) {
    case Awaited::Kind::kReceive:
      return fmt::format("rank {} waits to receive message {} from rank {}", stand.rank,
                         awaited.number, awaited.peer);
    case Awaited::Kind::kSend:
      return fmt::format("rank {} waits to send message {} to rank {}", stand.rank, awaited.number,
                         awaited.peer);
    default: {
      const CallLine& line = team.board(stand.rank).calls[awaited.number % 2];
      return fmt::format("rank {} waits in call {} ({}) for rank {}", stand.rank, awaited.number,
                         describe(line), awaited.peer);
    }
  }
}

}  // namespace

std::string describe_wait(Team& team, int rank) {
  const std::uint64_t word = word_of(team, rank);
  const Awaited awaited = Awaited::from(word);
  if (awaited.kind == Awaited::Kind::kNothing) return {};
  std::string text = describe(team, {rank, word});
  if (awaited.kind == Awaited::Kind::kCollective) {
    text += fmt::format(", which has begun {} calls",
                        team.board(awaited.peer).state.begun.load(std::memory_order_relaxed));
  }
  return text;
}

std::optional<Error> find_circle(Team& team, int rank) {
  const std::vector<Stand> circle = follow(team, rank);
  if (circle.empty()) return std::nullopt;
  std::string text;
  for (const Stand& stand : circle) {
    const bool unmoved = word_of(team, stand.rank) == stand.word &&
                         is_stuck(team, stand.rank, Awaited::from(stand.word));
    if (!unmoved) return std::nullopt;
    text += (text.empty() ? "" : "; ") + describe(team, stand);
  }
  return Error::make(Code::kWaitCircle, text);
}

}  // namespace commrig::comm
