// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/matmul_reduce_scatter.h"

#include <string>

#include "dtype/convert.h"

namespace commrig::operators {
namespace {

constexpr const char* kName = "matmul-reduce-scatter";

class MatmulReduceScatter final : public TiledMatmul {
 public:
  MatmulReduceScatter(device::KernelContext& kernel, const MatmulArgs& args)
      : TiledMatmul(kernel, args, kName) {}

 private:
  Result<std::size_t> begin() override {
    const auto [m, k, n] = args().shape;
    const std::size_t ranks = client().ranks();
    if (m % ranks != 0) {
      return refuse("of " + std::to_string(m) + " rows on " + std::to_string(ranks) +
                    " ranks; each rank must get as many");
    }
    rows_ = m / ranks;
    COMMRIG_ASSIGN(x1_, resolve(args().x1, m * k, element_bytes()));
    COMMRIG_ASSIGN(output_, resolve(args().output, rows_ * n, element_bytes()));
    COMMRIG_ASSIGN(
        std::byte* const scratch,
        resolve(args().scratch, reduce_scatter_scratch(args().shape, ranks), sizeof(float)));
    partial_ = reinterpret_cast<float*>(scratch);
    sums_ = partial_ + m * n;
    return rows_;
  }

  Result<mc2::Handle> prepare(std::size_t row, std::size_t rows, std::size_t turns) override {
    const std::size_t n = args().shape.n;
    return client().reduce_scatter({.send = partial_ + row * n,
                                    .recv = sums_ + row * n,
                                    .count = rows * n,
                                    .dtype = dtype::Dtype::kFp32,
                                    .stride = rows_ * n,
                                    .repeat = static_cast<std::uint32_t>(turns)},
                                   dtype::ReduceOp::kSum);
  }

  // These rows of every rank's block.
  Status multiply(std::size_t row, std::size_t rows) override {
    const auto [m, k, n] = args().shape;
    for (std::size_t first = row; first < m; first += rows_) {
      COMMRIG_TRY(multiply_rows(x1_ + first * k * element_bytes(), rows, partial_ + first * n));
    }
    return ok();
  }

  Status end() override {
    return dtype::convert(dtype::Dtype::kFp32, sums_, args().dtype, output_,
                          rows_ * args().shape.n);
  }

  std::size_t rows_ = 0;  // of a rank's block
  const std::byte* x1_ = nullptr;
  std::byte* output_ = nullptr;
  float* partial_ = nullptr;  // [m, n]
  float* sums_ = nullptr;     // [rows_, n]
};

}  // namespace

std::size_t reduce_scatter_scratch(const MatmulShape& shape, std::size_t ranks) {
  return shape.m * shape.n + shape.m / ranks * shape.n;
}

Status matmul_reduce_scatter(device::KernelContext& kernel, const MatmulArgs& args) {
  if (args.layout == nullptr) {
    return Error::make(Code::kBadArgument, std::string(kName) + " needs a layout");
  }
  return MatmulReduceScatter(kernel, args).run();
}

}  // namespace commrig::operators
