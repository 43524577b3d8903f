// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/tiles.h"

#include <string>

namespace commrig::operators {

std::size_t tiles_of(std::size_t rows, std::size_t tile_rows) {
  return rows / tile_rows + (rows % tile_rows != 0 ? 1 : 0);
}

std::size_t messages_of(std::size_t rows, std::size_t tile_rows) {
  const std::size_t full = rows / tile_rows;
  return tiles_of(full, kTurnsMax) + (rows % tile_rows != 0 ? 1 : 0);
}

Status check_tiles(std::size_t rows, std::size_t tile_rows, const mc2::Layout& layout) {
  const std::size_t messages = messages_of(rows, tile_rows);
  if (messages <= layout.handles) return ok();
  // One message is kept for a shorter last tile.
  const std::size_t tiles_max = kTurnsMax * (layout.handles - 1);
  return Error::make(
      Code::kBadArgument,
      "tiles of " + std::to_string(tile_rows) + " rows cut " + std::to_string(rows) +
          " rows into " + std::to_string(tiles_of(rows, tile_rows)) + " tiles, which take " +
          std::to_string(messages) + " messages; a kernel has " + std::to_string(layout.handles) +
          ", which tiles of " + std::to_string(tiles_of(rows, tiles_max)) + " rows need at most");
}

}  // namespace commrig::operators
