// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "examples/mc2/tiled_matmul.h"

namespace commrig::operators {

// A fused operator: gathers the rows of x1 x x2 of all ranks into every rank's output, tile by
// tile, while the next tile is computed. x1 is [m, k] on each rank, x2 [k, n] the same on all, the
// output [ranks x m, n]; no scratch. Runs as one block per rank.
//
// Each rank multiplies its own rows, where they live; x2 being the same everywhere, gathering
// products equals multiplying what was gathered, and no row is multiplied twice.
//
// Fails with kBadArgument for no layout, else as TiledMatmul::run.
Status all_gather_matmul(device::KernelContext& kernel, const MatmulArgs& args);

}  // namespace commrig::operators
