// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Bytes from anywhere as what a peer sends: no crash, no read or write out of bounds, no end of
// reading without an event, and the same events however the bytes are cut.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "transport/tcp_frame.h"

namespace commrig::transport {
namespace {

using Event = FrameReader::Event;

// The events of a stream that arrives in parts of `step` bytes, as text.
std::string events_of(std::span<const std::byte> stream, std::size_t step,
                      std::span<const std::size_t> lengths) {
  std::size_t position = 0;
  bool pauses = false;
  const auto source = [&](std::span<std::byte> target) -> Result<std::size_t> {
    pauses = !pauses;
    const std::size_t left = stream.size() - position;
    if (left == 0) return Error::make(Code::kPeerLost, "the end");
    const std::size_t bytes = pauses ? 0 : std::min({target.size(), step, left});
    if (bytes != 0) std::memcpy(target.data(), stream.data() + position, bytes);
    position += bytes;
    return bytes;
  };
  FrameReader reader;
  std::string events;
  for (std::size_t i = 0;; ++i) {
    std::vector<std::byte> target(lengths[i % lengths.size()]);
    Incoming message{.data = target.data(), .bytes = target.size()};
    Event event = Event::kNothing;
    while (event == Event::kNothing) {
      const Result<Event> result = reader.read(message, source);
      if (!result) return events + to_string(result.error());
      event = *result;
    }
    events += static_cast<char>('0' + static_cast<int>(event));
    if (event != Event::kMessage) return events;
    COMMRIG_CHECK(message.moved == message.bytes, "a message without its bytes");
    events.append(reinterpret_cast<const char*>(target.data()), target.size());
  }
}

// The input with right magic, number and check word, which chance doesn't find.
std::vector<std::byte> with_header(std::span<const std::byte> input) {
  FrameHeader header;
  std::vector<std::byte> stream(input.begin(), input.end());
  stream.resize(std::max(stream.size(), sizeof(header)));
  std::memcpy(&header, stream.data(), sizeof(header));
  const auto kind = static_cast<FrameKind>(static_cast<std::uint32_t>(header.kind) % 5);
  header = make_header(kind, 0, header.bytes % 64, header.expected);
  std::memcpy(stream.data(), &header, sizeof(header));
  return stream;
}

void try_stream(std::span<const std::byte> stream) {
  FrameHeader header;
  std::array<std::size_t, 2> lengths{0, 4};
  if (stream.size() >= sizeof(header)) {
    std::memcpy(&header, stream.data(), sizeof(header));
    lengths[0] = std::min<std::size_t>(header.bytes, 1 << 20U);
  }
  const std::string whole = events_of(stream, stream.size() + 1, lengths);
  COMMRIG_CHECK(events_of(stream, 1, lengths) == whole, "byte by byte reads otherwise");
  COMMRIG_CHECK(events_of(stream, 29, lengths) == whole, "in parts reads otherwise");
}

}  // namespace
}  // namespace commrig::transport

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commrig::transport;  // NOLINT(google-build-using-namespace): C linkage
  const auto input = std::as_bytes(std::span(data, size));
  try_stream(input);
  try_stream(with_header(input));
  return 0;
}
