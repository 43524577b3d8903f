// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace commrig::coll {

enum class Collective : std::uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kAllGatherV,
  kReduceScatterV,
  kAllToAllV,
  kGatherV,
  kScatterV,
};

// What all ranks ask for together; a plan is a pure function of it. `count` is in elements:
//   all-reduce, reduce, broadcast              of each buffer
//   all-gather, gather                         of each rank's input
//   reduce-scatter, scatter                    of each rank's output
//   all-to-all                                 that each rank sends to each other
// The V forms have `counts` instead: elements of rank r's block, or for all-to-all-v
// counts[sender * ranks + receiver], both packed without gaps in rank order.
struct Request {
  Collective collective = Collective::kAllReduce;
  int ranks = 1;
  int root = 0;
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  // Input and output are one buffer; where one of them holds a block for each rank, the other is
  // the rank's own block in it.
  bool in_place = false;
  std::vector<std::size_t> counts{};
};

enum class Buffer : std::uint8_t {
  kInput,    // the caller's; read only
  kOutput,   // the caller's
  kScratch,  // the communicator's: one for operations of even number, one for those of odd number
  // This rank's alone: nobody else names it, and nothing stays in it between operations. Unlike
  // scratch, which peers may still read for an earlier operation, it can be written at once.
  kPrivate,
};

// Where in whose buffer, in elements. Buffers of others can be named where memory is shared.
struct Place {
  Buffer buffer = Buffer::kInput;
  int rank = 0;
  std::size_t offset = 0;
};

inline constexpr int kEveryone = -1;  // as a peer: all ranks but this one

// Steps of one rank are done in order. Signals, waits and messages order the steps of different
// ranks: what happened before a signal (a send) happens before what follows a wait for it (its
// receipt).
enum class StepKind : std::uint8_t {
  // sources[0] into every target.
  kCopy,
  // The fold of the sources, in their order and rounded once, into every target. A target may be
  // one of the sources exactly.
  kReduce,
  // This rank has reached `phase` of the operation. Phases begin at 1 and grow by 1. Reaching
  // phase 1 also tells the peers where this rank's input and output lie.
  kSignal,
  // Until the peer has reached `phase`, or has ended the operation.
  kWait,
  // Until the peer has ended the operation before the previous one, the last that used the same
  // scratch: then it doesn't read this rank's scratch any more, and is done with its own.
  kReclaim,
  // Begins to send sources[0] to the peer; it must stay unchanged until the next kDrain, or the
  // end of the plan, which drains too. Messages between two ranks arrive in order.
  kSend,
  // Until the next message of the peer, of exactly `count` elements, is in targets[0].
  kRecv,
  // Until all messages that this rank has begun to send may be overwritten.
  kDrain,
};

struct Step {
  StepKind kind = StepKind::kCopy;
  int peer = kEveryone;     // kWait, kReclaim, kSend, kRecv
  std::uint32_t phase = 0;  // kSignal, kWait
  std::size_t count = 0;    // elements of every source and target
  // Ranges of RankPlan::places.
  std::uint32_t sources_begin = 0;
  std::uint32_t sources_end = 0;
  std::uint32_t targets_begin = 0;
  std::uint32_t targets_end = 0;
};

// What one rank does.
struct RankPlan {
  std::vector<Step> steps;
  std::vector<Place> places;
  std::size_t scratch_count = 0;  // elements of this rank's scratch that anybody touches
  std::size_t private_count = 0;

  std::span<const Place> sources(const Step& step) const {
    return std::span(places).subspan(step.sources_begin, step.sources_end - step.sources_begin);
  }
  std::span<const Place> targets(const Step& step) const {
    return std::span(places).subspan(step.targets_begin, step.targets_end - step.targets_begin);
  }
};

std::string_view name(Collective collective);
std::string_view name(StepKind kind);
std::string_view name(Buffer buffer);

inline constexpr int kCollectives = static_cast<int>(Collective::kScatterV) + 1;
inline constexpr int kRanksMax = 65536;

// "all-reduce", "all-to-all-v". Otherwise kUnknownCollective, with the known names.
Result<Collective> parse_collective(std::string_view text);

bool has_counts(Collective collective);  // a V form
bool has_root(Collective collective);
bool has_arithmetic(Collective collective);
// kAllGather for kAllGatherV, and so on; others are their own.
Collective base_form(Collective collective);

// Whether a plan can be made of it: ranks, root, size of counts, and that no buffer of any rank,
// nor those of all ranks together, have more bytes than a size_t can count.
Status check(const Request& request);

// The functions below take requests that check() accepts.

// Elements of a rank's input and output; 0 where it has none (the output of others than the root).
std::size_t input_count(const Request& request, int rank);
std::size_t output_count(const Request& request, int rank);

// Bytes of the largest buffer that a rank can have: the size by which algorithms are chosen.
std::size_t size_in_bytes(const Request& request);

// Where a rank's input and output are one memory: `inner` lies `offset` elements behind the start
// of `outer`.
struct Overlay {
  bool exists = false;
  Buffer inner = Buffer::kInput;
  Buffer outer = Buffer::kOutput;
  std::size_t offset = 0;

  // The same memory, named by `outer`.
  Place resolve(Place place) const {
    if (exists && place.buffer == inner) return {outer, place.rank, place.offset + offset};
    return place;
  }
};
Overlay overlay(const Request& request, int rank);

}  // namespace commrig::coll
