// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/window_record.h"

#include <algorithm>
#include <array>

#include "mc2/layout.h"

namespace commrig::mc2 {
namespace {

// The public headers' offsets. Each window is { size, address, key, padding }.
struct WindowFields {
  Field bytes;
  Field address;
  Field key;
};

constexpr WindowFields window_at(const char* name, std::uint32_t offset) {
  return {.bytes = {.name = name, .offset = offset, .width = 8},
          .address = {.name = name, .offset = offset + 8, .width = 8},
          .key = {.name = name, .offset = offset + 16, .width = 4}};
}

constexpr WindowFields kRemoteIn = window_at("remoteInput", 0);
constexpr WindowFields kRemoteOut = window_at("remoteOutput", 24);
constexpr WindowFields kLocalIn = window_at("localInput", 48);
constexpr WindowFields kLocalOut = window_at("localOutput", 72);

void store_window(std::span<std::byte> out, const WindowFields& fields,
                  const RemoteWindow& window) {
  store(out, fields.bytes, window.bytes);
  store(out, fields.address, window.address);
  store(out, fields.key, window.key);
}

RemoteWindow load_window(std::span<const std::byte> bytes, const WindowFields& fields) {
  return {.bytes = load(bytes, fields.bytes),
          .address = load(bytes, fields.address),
          .key = static_cast<std::uint32_t>(load(bytes, fields.key))};
}

}  // namespace

void write_record(const WindowRecord& record, std::span<std::byte, kWindowRecordBytes> out) {
  std::ranges::fill(out, std::byte{0});
  store_window(out, kRemoteIn, record.remote_in);
  store_window(out, kRemoteOut, record.remote_out);
  store_window(out, kLocalIn, record.local_in);
  store_window(out, kLocalOut, record.local_out);
}

WindowRecord read_record(std::span<const std::byte, kWindowRecordBytes> bytes) {
  return {.remote_in = load_window(bytes, kRemoteIn),
          .remote_out = load_window(bytes, kRemoteOut),
          .local_in = load_window(bytes, kLocalIn),
          .local_out = load_window(bytes, kLocalOut)};
}

}  // namespace commrig::mc2
