// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Where a context with its multi flag set keeps the windows: one record a rank at its `data`. The
// vendor's name is IbVerbsData.
namespace commrig::mc2 {

inline constexpr std::uint32_t kWindowRecordBytes = 120;

// A window as it is reached over the network.
struct RemoteWindow {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;
  std::uint32_t key = 0;

  friend bool operator==(const RemoteWindow&, const RemoteWindow&) = default;
};

// What one rank knows of another, or of itself. The local windows are its own.
struct WindowRecord {
  RemoteWindow remote_in{};
  RemoteWindow remote_out{};
  RemoteWindow local_in{};
  RemoteWindow local_out{};

  friend bool operator==(const WindowRecord&, const WindowRecord&) = default;
};

// Both take kWindowRecordBytes.
void write_record(const WindowRecord& record, std::span<std::byte, kWindowRecordBytes> out);
WindowRecord read_record(std::span<const std::byte, kWindowRecordBytes> bytes);

}  // namespace commrig::mc2
