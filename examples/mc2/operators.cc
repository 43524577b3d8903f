// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/operators.h"

#include <algorithm>
#include <array>

#include "examples/mc2/all_gather_matmul.h"
#include "examples/mc2/matmul_reduce_scatter.h"

namespace commrig::operators {
namespace {

constexpr std::array kOperators{
    OperatorInfo{.name = "all-gather-matmul",
                 .summary = "each rank multiplies its rows, and all gather the products",
                 .kernel = all_gather_matmul,
                 .splits_inner = false,
                 .output_rows = [](std::size_t m, std::size_t ranks) { return m * ranks; },
                 .tiled_rows = [](std::size_t m, std::size_t) { return m; },
                 .first_row = [](std::size_t, std::size_t, std::size_t) { return std::size_t{0}; },
                 .scratch = [](const MatmulShape&, std::size_t) { return std::size_t{0}; }},
    OperatorInfo{.name = "matmul-reduce-scatter",
                 .summary = "each rank multiplies its part of K, and the sums of all are scattered",
                 .kernel = matmul_reduce_scatter,
                 .splits_inner = true,
                 .output_rows = [](std::size_t m, std::size_t ranks) { return m / ranks; },
                 .tiled_rows = [](std::size_t m, std::size_t ranks) { return m / ranks; },
                 .first_row = [](std::size_t m, std::size_t ranks,
                                 std::size_t rank) { return m / ranks * rank; },
                 .scratch = reduce_scatter_scratch},
};

}  // namespace

std::span<const OperatorInfo> all_operators() {
  return kOperators;
}

const OperatorInfo* find_operator(std::string_view name) {
  const auto found = std::ranges::find(kOperators, name, &OperatorInfo::name);
  return found == kOperators.end() ? nullptr : &*found;
}

}  // namespace commrig::operators
