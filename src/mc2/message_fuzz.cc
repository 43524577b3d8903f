// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Bytes from anywhere into every reader of this folder: none may crash or read out of bounds, and
// what was understood must survive being written and read again.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "mc2/context.h"
#include "mc2/layout.h"
#include "mc2/message.h"
#include "mc2/side_message.h"

namespace commrig::mc2 {
namespace {

using Bytes = std::vector<std::byte>;

// The input cut or filled with zeros to `size`.
Bytes resized(std::span<const std::byte> input, std::size_t size) {
  Bytes bytes(input.begin(), input.end());
  bytes.resize(size);
  return bytes;
}

void try_message(const Layout& layout, std::span<const std::byte> bytes) {
  Message message;
  if (const auto wrong = decode(layout, bytes, message_place(layout, 0, 0), message)) {
    COMMRIG_CHECK(!sentence(*wrong).empty(), "a finding without a sentence");
    return;
  }
  Bytes written(layout.message_bytes);
  const Status status = encode(layout, message, written);
  COMMRIG_CHECK(status.has_value(), to_string(status.error()));
  Message again;
  const auto wrong = decode(layout, written, Place{}, again);
  COMMRIG_CHECK(!wrong, sentence(*wrong));
  COMMRIG_CHECK(message == again, fmt::format("{} changed on the way", name(message.command)));
}

// As it is, in full length, and with the right check word, which chance doesn't find.
void try_messages(const Layout& layout, std::span<const std::byte> input) {
  try_message(layout, input);
  Bytes bytes = resized(input, layout.message_bytes);
  try_message(layout, bytes);
  if (!layout.has_check_word) return;
  store(bytes, *find_field(layout, layout.forms.front(), Part::kCheck), check_word(layout, bytes));
  try_message(layout, bytes);
}

// The input as entries, first byte the number of ranks; then with one flipped bit, which must be
// seen wherever it counts.
void try_side_message(const Layout& layout, std::span<const std::byte> input) {
  const auto message = std::make_unique<SideMessage>();
  const auto again = std::make_unique<SideMessage>();
  (void)decode_side(layout, input, 2, Place{}, *again);
  if (!layout.has_side_messages() || input.empty()) return;

  const std::uint32_t ranks = std::to_integer<std::uint32_t>(input[0]) + 1;
  const std::size_t entries = std::min<std::size_t>(input.size() / 8, ranks);
  std::memcpy(message->send_counts.data(), input.data(), entries * 8);
  std::memcpy(message->recv_offsets.data(), input.data(), entries * 8);
  Bytes bytes(kSideMessageBytes);
  COMMRIG_CHECK(encode_side(layout, *message, ranks, bytes).has_value(), "not written");
  COMMRIG_CHECK(!decode_side(layout, bytes, ranks, Place{}, *again), "not read");
  COMMRIG_CHECK(*message == *again, "side message changed on the way");

  const std::size_t at = std::to_integer<std::size_t>(input.back()) * 8 % kSideMessageBytes;
  bytes[at] ^= std::byte{1};
  const bool seen = decode_side(layout, bytes, ranks, Place{}, *again).has_value();
  COMMRIG_CHECK(seen || *message == *again, fmt::format("flip at {} changed it unseen", at));
}

void try_context(const Layout& layout, std::span<const std::byte> input) {
  (void)read_context(input, layout);
  const Bytes bytes = resized(input, kContextBytes);
  const auto view = read_context(bytes, layout);
  if (!view || view->workspace_bytes < kWorkspaceBytesMin) return;
  ContextSpec spec;
  spec.workspace = view->workspace;
  spec.workspace_bytes = view->workspace_bytes;
  spec.rank = view->rank;
  spec.ranks = view->ranks;
  spec.multi_flag = view->multi_flag;
  std::vector<std::uint64_t> in(view->windows_in.begin(), view->windows_in.end());
  std::vector<std::uint64_t> out(view->windows_out.begin(), view->windows_out.end());
  in.resize(view->ranks);
  out.resize(view->ranks);
  spec.windows_in = in;
  spec.windows_out = out;
  Bytes written(kContextBytes);
  COMMRIG_CHECK(build_context(spec, written).has_value(), "not written");
  const auto again = read_context(written, layout);
  COMMRIG_CHECK(again && again->base == view->base && again->windows_in == view->windows_in &&
                    again->windows_out == view->windows_out,
                "context changed on the way");
}

}  // namespace
}  // namespace commrig::mc2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commrig::mc2;  // NOLINT(google-build-using-namespace): one function, C linkage
  const auto input = std::as_bytes(std::span(data, size));
  for (const Layout& layout : all_layouts()) {
    try_messages(layout, input);
    try_side_message(layout, input);
    try_context(layout, input);
  }
  return 0;
}
