// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Bytes from anywhere into everything that reads what peers have sent: nothing may crash or read
// out of bounds, and what was understood must survive being written and read again.
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "bootstrap/unique_id.h"
#include "bootstrap/wire.h"

namespace commrig::bootstrap {
namespace {

constexpr std::uint64_t kMagic = 1;

std::vector<std::byte> resized(std::span<const std::byte> input, std::size_t size) {
  std::vector<std::byte> bytes(input.begin(), input.end());
  bytes.resize(size);
  return bytes;
}

// Pieces of 1 to 16 bytes, by the input itself.
void try_reader(std::span<const std::byte> input, std::optional<std::size_t> payload_bytes) {
  MessageReader reader(kMagic, payload_bytes);
  std::size_t at = 0;
  while (at < input.size()) {
    const auto space = reader.space();
    COMMRIG_CHECK(!space.empty(), "no space before the end");
    const std::size_t wanted = 1 + std::to_integer<std::size_t>(input[at]) % 16;
    const std::size_t piece = std::min({wanted, space.size(), input.size() - at});
    std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(at), piece, space.begin());
    at += piece;
    const auto state = reader.advance(piece);
    if (!state || *state != MessageReader::State::kMore) return;
  }
}

void try_readers(std::span<const std::byte> input) {
  for (const auto size : {std::optional<std::size_t>(), std::optional(kInfoBytes),
                          std::optional(kCheckInBytes), std::optional(std::size_t{0})}) {
    try_reader(input, size);
    try_reader(with_handshake(kMagic, input), size);
    try_reader(with_handshake(kMagic, framed(input)), size);
  }
}

void try_records(std::span<const std::byte> input) {
  const auto bytes = resized(input, kCheckInBytes);
  const auto whole = std::span(bytes).first<kCheckInBytes>();
  if (const auto record = decode_check_in(whole)) {
    const auto written = encode(*record);
    COMMRIG_CHECK(std::ranges::equal(written, bytes), "a check-in changed on the way");
    (void)ring_address(record->info);
  }
  (void)read_notice(input);
  const auto id_bytes = resized(input, UniqueId::kBytes);
  if (const auto id = UniqueId::from_bytes(std::span(id_bytes).first<UniqueId::kBytes>())) {
    COMMRIG_CHECK(std::ranges::equal(id->bytes(), id_bytes), "an id changed on the way");
    COMMRIG_CHECK(UniqueId::parse(id->to_string()).value() == *id, id->to_string());
  }
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  if (const auto id = UniqueId::parse(text)) {
    COMMRIG_CHECK(UniqueId::parse(id->to_string()).value() == *id, id->to_string());
  }
}

}  // namespace
}  // namespace commrig::bootstrap

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commrig::bootstrap;  // NOLINT(google-build-using-namespace): C linkage
  const auto input = std::as_bytes(std::span(data, size));
  try_readers(input);
  try_records(input);
  return 0;
}
