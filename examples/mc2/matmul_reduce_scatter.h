// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "examples/mc2/tiled_matmul.h"

namespace commrig::operators {

// Elements of fp32 that matmul_reduce_scatter needs as scratch: the partial products, and the sums
// of the rank's own rows.
std::size_t reduce_scatter_scratch(const MatmulShape& shape, std::size_t ranks);

// A fused operator: x1 [m, k] and x2 [k, n] differ from rank to rank, being parts of one long inner
// dimension; the sum of all ranks' products is scattered, so that each rank's output holds m/ranks
// rows of n: rank r's are the r-th block of rows. Products and their sums are fp32, in the order of
// the ranks, and rounded once to the type. m must be a multiple of the number of ranks.
//
// A tile is `tile_rows` rows of each rank's block: it is summed while the next tile is computed.
// Runs as one block per rank. Fails with kBadArgument for no layout or such an m, else as
// TiledMatmul::run.
Status matmul_reduce_scatter(device::KernelContext& kernel, const MatmulArgs& args);

}  // namespace commrig::operators
