// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/tcp_frame.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "transport/ending.h"

namespace commrig::transport {
namespace {

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv) of the header with check word 0. It is to find
// strangers and mistakes; TCP has a sum of its own against damage.
std::uint32_t check_word(FrameHeader header) {
  header.check = 0;
  std::uint32_t hash = 0x811C9DC5U;
  for (const std::byte byte : std::as_bytes(std::span(&header, 1))) {
    hash = (hash ^ std::to_integer<std::uint32_t>(byte)) * 0x01000193U;
  }
  return hash;
}

Error bad(const char* field, std::uint64_t expected, std::uint64_t found) {
  return Error::make(Code::kBadFrame, fmt::format("{} of a header: expected {:#x}, found {:#x}",
                                                  field, expected, found));
}

}  // namespace

FrameHeader make_header(FrameKind kind, std::uint32_t sequence, std::uint64_t bytes,
                        std::uint64_t expected) {
  FrameHeader header{.kind = kind, .sequence = sequence, .bytes = bytes, .expected = expected};
  header.check = check_word(header);
  return header;
}

Status check_header(const FrameHeader& header, std::uint32_t sequence) {
  if (header.magic != FrameHeader::kMagic) return bad("magic", FrameHeader::kMagic, header.magic);
  if (header.check != check_word(header)) return bad("check", check_word(header), header.check);
  if (header.sequence != sequence) return bad("sequence", sequence, header.sequence);
  if (header.kind < FrameKind::kMessage || header.kind > FrameKind::kRefusal) {
    return bad("kind", 1, static_cast<std::uint32_t>(header.kind));
  }
  return ok();
}

FrameReader::FrameReader() : buffer_(std::make_unique<std::byte[]>(kBufferBytes)) {}

void FrameReader::take(void* target, std::size_t bytes) {
  if (bytes != 0) std::memcpy(target, buffer_.get() + begin_, bytes);
  begin_ += bytes;
}

// Whether the buffer holds so many bytes, after a look for more.
Result<bool> FrameReader::fill(std::size_t bytes, ByteSource source) {
  while (buffered() < bytes) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, buffered());
    end_ = buffered();
    begin_ = 0;
    COMMRIG_ASSIGN(const std::size_t more, source({buffer_.get() + end_, kBufferBytes - end_}));
    if (more == 0) return false;
    end_ += more;
  }
  return true;
}

Result<bool> FrameReader::need_header(ByteSource source) {
  if (has_header_) return true;
  COMMRIG_ASSIGN(const bool filled, fill(sizeof(header_), source));
  if (!filled) return false;
  take(&header_, sizeof(header_));
  COMMRIG_TRY(check_header(header_, sequence_));
  ++sequence_;
  if (voided_ && header_.kind == FrameKind::kMessage) {
    return Error::make(Code::kBadFrame, "a message follows a piece that was marked as void");
  }
  has_header_ = true;
  return true;
}

Result<FrameReader::Event> FrameReader::read(Incoming& message, ByteSource source) {
  while (true) {
    COMMRIG_ASSIGN(const bool begun, need_header(source));
    if (!begun) return Event::kNothing;
    if (header_.kind != FrameKind::kMessage) return Event::kLastWords;
    if (!agree(header_.bytes, static_cast<Elements>(header_.expected), message)) {
      return Event::kRefused;
    }
    // The mark of a piece is read with the piece; `moved` stands at the end of one in between.
    while (has_header_) {
      if (message.moved == message.bytes && message.state == 0) {
        has_header_ = false;
        return Event::kMessage;
      }
      // state: 1 while bytes or mark of a piece are to come.
      const std::size_t begin =
          message.state == 0 ? message.moved : (message.moved - 1) / kPieceBytes * kPieceBytes;
      const std::size_t end = std::min(message.bytes, begin + kPieceBytes);
      COMMRIG_ASSIGN(const bool read, read_piece(message, end, source));
      if (!read) return Event::kNothing;
      COMMRIG_ASSIGN(const bool marked, read_mark(source));
      if (!marked) return Event::kNothing;
      message.state = 0;
      if (voided_) has_header_ = false;
    }
  }
}

// The bytes of the message up to `end`, where the piece ends.
Result<bool> FrameReader::read_piece(Incoming& message, std::size_t end, ByteSource source) {
  while (message.moved < end) {
    const std::size_t missing = end - message.moved;
    std::byte* const target = message.data + message.moved;
    std::size_t moved = 0;
    if (buffered() == 0 && missing >= kBufferBytes) {
      COMMRIG_ASSIGN(moved, source({target, missing}));
    } else {
      COMMRIG_ASSIGN(const bool some, fill(1, source));
      moved = some ? std::min(buffered(), missing) : 0;
      take(target, moved);
    }
    if (moved == 0) return false;
    message.moved += moved;
    message.state = 1;
  }
  return true;
}

Result<bool> FrameReader::read_mark(ByteSource source) {
  COMMRIG_ASSIGN(const bool filled, fill(kMarkBytes, source));
  if (!filled) return false;
  std::uint32_t mark = 0;
  take(&mark, sizeof(mark));
  voided_ = mark == kMarkVoid;
  if (mark == kMarkGood || voided_) return true;
  return Error::make(Code::kBadFrame, fmt::format("mark after a piece of message {}: found {:#x}",
                                                  header_.sequence, mark));
}

Result<FrameReader::Event> FrameReader::look_for_last_words(ByteSource source) {
  COMMRIG_ASSIGN(const bool begun, need_header(source));
  return begun && header_.kind != FrameKind::kMessage ? Event::kLastWords : Event::kNothing;
}

}  // namespace commrig::transport
