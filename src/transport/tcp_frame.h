// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/function_ref.h"
#include "base/result.h"
#include "transport/link.h"

namespace commrig::transport {

// What passes on a connection, all numbers in the order of the machine (a peer of the other order
// shows itself by the magic number):
//
//   message   = header, then its bytes in pieces of 256 KiB, the last one shorter, a mark after
//   each last words = header of another kind; nothing follows
//
// The mark says whether the piece before it is good. A sender that gives up in the middle of a
// piece fills it with zeros and marks it as void; its last words follow. So what it wants to say
// last need not wait for the message's own bytes, which may be gone.
enum class FrameKind : std::uint32_t {
  kMessage = 1,
  kAbort = 2,    // somebody has aborted the link
  kRefusal = 3,  // a message of the shape `bytes` came, `expected` was expected
};

struct FrameHeader {
  static constexpr std::uint32_t kMagic = 0x314C5243U;  // "CRL1", and so its version

  std::uint32_t magic = kMagic;
  FrameKind kind = FrameKind::kMessage;
  std::uint32_t sequence = 0;  // counts the headers of a direction from 0
  std::uint32_t check = 0;     // of the other fields
  std::uint64_t bytes = 0;
  std::uint64_t expected = 0;  // of a message: its elements
};
static_assert(sizeof(FrameHeader) == 32);

inline constexpr std::size_t kPieceBytes = 256 * 1024;
inline constexpr std::size_t kMarkBytes = 4;
inline constexpr std::uint32_t kMarkGood = 0x444F4F47U;
inline constexpr std::uint32_t kMarkVoid = 0x44494F56U;

// The header with its check word.
FrameHeader make_header(FrameKind kind, std::uint32_t sequence, std::uint64_t bytes,
                        std::uint64_t expected = 0);
// kBadFrame with the field, what was expected and what was found.
Status check_header(const FrameHeader& header, std::uint32_t sequence);

// Where bytes come from: fills as much of the span as is there, and says how much; 0 for nothing
// now.
using ByteSource = FunctionRef<Result<std::size_t>(std::span<std::byte>)>;

// The reading half of a connection. Small messages are read many at a time, large ones straight to
// where they belong. Not thread-safe.
class FrameReader {
 public:
  enum class Event : std::uint8_t {
    kNothing,    // and nothing more can be read now
    kMessage,    // `message` is complete
    kRefused,    // header() is of a message of another length, or of other elements
    kLastWords,  // header() says which
  };

  FrameReader();
  // Goes on reading into `message`, the same one until it is complete. Fails with kBadFrame, or as
  // the source does; then nothing more can be read.
  Result<Event> read(Incoming& message, ByteSource source);
  // Looks for last words where the next header would stand; kNothing when there are none.
  Result<Event> look_for_last_words(ByteSource source);

  const FrameHeader& header() const { return header_; }
  // Whether a header has come whose message is not complete.
  bool in_message() const { return has_header_; }

 private:
  static constexpr std::size_t kBufferBytes = 16 * 1024;

  Result<bool> need_header(ByteSource source);
  Result<bool> fill(std::size_t bytes, ByteSource source);
  Result<bool> read_piece(Incoming& message, std::size_t end, ByteSource source);
  Result<bool> read_mark(ByteSource source);
  void take(void* target, std::size_t bytes);
  std::size_t buffered() const { return end_ - begin_; }

  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  FrameHeader header_;
  std::uint32_t sequence_ = 0;
  bool has_header_ = false;
  bool voided_ = false;  // only last words may follow
};

}  // namespace commrig::transport
