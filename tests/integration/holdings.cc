// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/integration/holdings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace commrig::integration {
namespace {

// What the allocator maps for itself. That of a sanitizer keeps what was freed; still, a map that
// every cycle leaves would be seen.
#if defined(COMMRIG_SANITIZED)
constexpr std::size_t kMapsOfTheAllocator = 60;
#else
constexpr std::size_t kMapsOfTheAllocator = 4;
#endif

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t lines(const char* path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

}  // namespace

Holdings Holdings::now(device::Machine& machine) {
  return {.descriptors = entries("/proc/self/fd"),
          .threads = entries("/proc/self/task"),
          .maps = lines("/proc/self/maps"),
          .shared_files = entries("/dev/shm"),
          .device_bytes = machine.memory().used_bytes(0),
          .arena_segments = machine.memory().segment_count()};
}

std::string Holdings::compare(const Holdings& after) const {
  std::string text;
  const auto differ = [&text](const char* what, std::size_t old, std::size_t found) {
    if (found > old) text += fmt::format("{}: {}, then {}; ", what, old, found);
  };
  differ("descriptors", descriptors, after.descriptors);
  differ("threads", threads, after.threads);
  if (after.maps > maps + kMapsOfTheAllocator) differ("maps", maps, after.maps);
  differ("files in /dev/shm", shared_files, after.shared_files);
  differ("bytes of device memory", device_bytes, after.device_bytes);
  differ("segments of the arena", arena_segments, after.arena_segments);
  return text;
}

}  // namespace commrig::integration
