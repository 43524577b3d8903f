// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "base/result.h"
#include "mc2/layout.h"

namespace commrig::operators {

// Turns that one message can have.
inline constexpr std::size_t kTurnsMax = 255;

// How many tiles `rows` rows make, and how many messages these tiles take: a message has up to 255
// turns of one size, and a shorter last tile is a message of its own. `tile_rows` is at least 1.
std::size_t tiles_of(std::size_t rows, std::size_t tile_rows);
std::size_t messages_of(std::size_t rows, std::size_t tile_rows);

// Fails with kBadArgument when one kernel has too few messages in this layout for these tiles; says
// which tiles would do.
Status check_tiles(std::size_t rows, std::size_t tile_rows, const mc2::Layout& layout);

}  // namespace commrig::operators
