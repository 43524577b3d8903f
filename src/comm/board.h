// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commrig::comm {

// What ranks tell each other without a message, in memory that all of them map: how far each is,
// in which operation, and where its buffers lie. Every line is written by its rank alone and read
// by the others, so that it moves between cores once.

inline constexpr std::size_t kLine = 64;
// Scratch beside the flag, in its line; larger ones lie in the slots behind the boards.
inline constexpr std::size_t kLinePayload = kLine - sizeof(std::uint64_t);
inline constexpr std::size_t kSlotBytes = std::size_t{64} << 10U;

// How far a rank is, in one word: the number of the operation, what the operation is (so that two
// ranks that mean different ones see it), and the phase of its plan.
//
//   63..36  number, modulo 2^28      35..12  fingerprint      11..0  phase
//
// Ranks are never so many operations apart that the number is ambiguous.
class Flag {
 public:
  static constexpr std::uint32_t kPhaseMax = (1U << 12U) - 1;

  Flag() = default;
  explicit Flag(std::uint64_t bits) : bits_(bits) {}
  Flag(std::uint64_t number, std::uint32_t fingerprint, std::uint32_t phase)
      : bits_(number << 36U | std::uint64_t{fingerprint & 0xFFFFFFU} << 12U | phase) {}

  std::uint64_t bits() const { return bits_; }
  std::uint32_t phase() const { return static_cast<std::uint32_t>(bits_ & kPhaseMax); }
  std::uint32_t fingerprint() const { return static_cast<std::uint32_t>(bits_ >> 12U) & 0xFFFFFFU; }
  // How many operations this flag is ahead of `number`; negative: behind.
  std::int32_t ahead_of(std::uint64_t number) const {
    const auto difference = static_cast<std::uint32_t>((bits_ >> 36U) - number) << 4U;
    return static_cast<std::int32_t>(difference) >> 4;
  }

 private:
  std::uint64_t bits_ = 0;
};

struct alignas(kLine) FlagLine {
  std::atomic<std::uint64_t> flag{0};
  std::array<std::byte, kLinePayload> payload;
};

// The operation in words that others can read, and where its buffers lie. Written before the first
// phase is reached.
struct alignas(kLine) CallLine {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint32_t> what{0};  // collective, dtype, op: see call.h
  std::atomic<std::int32_t> root{0};
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> input{0};  // addresses in the rank's own process
  std::atomic<std::uint64_t> output{0};
  std::atomic<std::uint64_t> site{0};  // return address of the call
};

enum class Life : std::uint32_t {
  kAbsent,
  kAlive,
  kFinalized,  // has left
  kFailed,     // an error ended the communicator for it: see FailureLines
  kDead,       // its process has ended; written by those who see it
};

struct alignas(kLine) StateLine {
  std::atomic<std::uint64_t> finished{0};  // operations that have ended
  // What the rank waits for since its last look: a peer, and the phase or 0 for the end of an
  // operation; -1: nothing.
  std::atomic<std::int32_t> awaited_peer{-1};
  std::atomic<std::uint32_t> awaited_phase{0};
  std::atomic<std::uint64_t> awaited_number{0};
  // Not 0 while the rank reads or writes memory of others.
  std::atomic<std::uint32_t> touching{0};
};

// Apart from what changes with each operation, since peers look at it whenever they wait.
struct alignas(kLine) LifeLine {
  std::atomic<Life> now{Life::kAbsent};
};

// The error that the rank has met, for ranks of other processes. Written before life says so.
struct alignas(kLine) FailureLines {
  std::atomic<std::uint32_t> code{0};
  std::atomic<std::int32_t> lost{-1};  // the rank whose end was the cause
  std::array<char, 5 * kLine - 2 * sizeof(std::uint32_t)> text{};
};

// The lines of one rank. Operations of even number use flags[0] and calls[0], the others the
// second ones; so a rank may begin the next operation while peers still read of the last.
struct Board {
  std::array<FlagLine, 2> flags;
  std::array<CallLine, 2> calls;
  StateLine state;
  LifeLine life;
  FailureLines failure;
};

// Bytes of a segment with the boards and slots of so many ranks.
constexpr std::size_t segment_bytes(int ranks) {
  return static_cast<std::size_t>(ranks) * (sizeof(Board) + 2 * kSlotBytes);
}

}  // namespace commrig::comm
