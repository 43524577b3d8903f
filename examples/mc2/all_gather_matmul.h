// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "device/kernel.h"
#include "dtype/dtype.h"
#include "mc2/layout.h"

namespace commrig::operators {

// Name of the events that the kernel publishes around the product of each tile. a: tile, from 0.
inline constexpr const char* kTileEvent = "all-gather-matmul.tile";

// m x k rows of x1 on each rank, the same k x n x2 on all.
struct MatmulShape {
  std::size_t m = 0;
  std::size_t k = 0;
  std::size_t n = 0;
};

// How many tiles `rows` rows make, and how many messages these tiles take: a message has up to 255
// turns of one size, and a shorter last tile is a message of its own. `tile_rows` is at least 1.
std::size_t tiles_of(std::size_t rows, std::size_t tile_rows);
std::size_t messages_of(std::size_t rows, std::size_t tile_rows);

// Fails with kBadArgument when one kernel has too few messages in this layout for these tiles; says
// which tiles would do.
Status check_tiles(std::size_t rows, std::size_t tile_rows, const mc2::Layout& layout);

struct AllGatherMatmulArgs {
  const void* context = nullptr;  // of this rank, see mc2::Group
  const mc2::Layout* layout = nullptr;
  const void* x1 = nullptr;  // device memory, [m, k]
  const void* x2 = nullptr;  // device memory, [k, n]
  void* output = nullptr;    // device memory, [ranks x m, n]
  MatmulShape shape{};
  std::size_t tile_rows = 1;
  dtype::Dtype dtype = dtype::Dtype::kFp32;
  // Commits all tiles after the last product instead of each after its own. The result is the same,
  // but nothing overlaps; tests use it to show that they would notice.
  bool commit_at_end = false;
};

// A fused operator: gathers the rows of x1 x x2 of all ranks into every rank's output, tile by
// tile, while the next tile is computed. Each rank multiplies its own rows, where they live; x2
// being the same everywhere, gathering products equals multiplying what was gathered, and no row is
// multiplied twice. A finished tile of rows is committed at once, so that the server moves it while
// the kernel works on the next one. Runs as one block per rank.
//
// Full tiles are the turns of one message (of several beyond 255), the rest at the end is a message
// of its own. Fails with kBadArgument for no layout, an empty shape, a type other than fp16, bf16,
// fp32, or more tiles than a kernel has messages for; MEM errors for buffers; errors of the client.
Status all_gather_matmul(device::KernelContext& kernel, const AllGatherMatmulArgs& args);

}  // namespace commrig::operators
