// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/tiled_matmul.h"

#include <algorithm>
#include <string>

#include "dtype/convert.h"
#include "examples/mc2/matmul.h"
#include "examples/mc2/tiles.h"

namespace commrig::operators {

using dtype::Dtype;

Status TiledMatmul::run() {
  COMMRIG_TRY(check_arguments());
  COMMRIG_TRY(client_.init(args_.context));
  COMMRIG_ASSIGN(const std::size_t rows, begin());
  COMMRIG_TRY(check_tiles(rows, args_.tile_rows, *args_.layout));
  COMMRIG_TRY(prepare_tiles(rows));
  COMMRIG_ASSIGN(const std::byte* const x2,
                 resolve(args_.x2, args_.shape.k * args_.shape.n, element_bytes()));
  COMMRIG_TRY(widen(x2, args_.shape.k * args_.shape.n, x2_wide_));
  COMMRIG_TRY(multiply_tiles(rows));
  for (const mc2::Handle handle : turns_) COMMRIG_TRY(client_.wait(handle));
  COMMRIG_TRY(end());
  return client_.finalize();
}

Error TiledMatmul::refuse(const std::string& what) const {
  return Error::make(Code::kBadArgument, std::string(name_) + " " + what);
}

Status TiledMatmul::check_arguments() const {
  const MatmulShape& shape = args_.shape;
  if (shape.m == 0 || shape.k == 0 || shape.n == 0 || args_.tile_rows == 0) {
    return refuse("needs m, k, n and tile rows of at least 1");
  }
  const bool known =
      args_.dtype == Dtype::kFp16 || args_.dtype == Dtype::kBf16 || args_.dtype == Dtype::kFp32;
  if (known) return ok();
  return refuse("of " + std::string(dtype::info(args_.dtype).name) +
                "; it takes fp16, bf16 and fp32");
}

Result<std::byte*> TiledMatmul::resolve(const void* address, std::size_t elements,
                                        std::size_t size) const {
  COMMRIG_ASSIGN(const device::Window window, kernel_.window(address, elements * size, size));
  return window.base();
}

Status TiledMatmul::prepare_tiles(std::size_t rows) {
  const std::size_t full = rows / args_.tile_rows;
  const std::size_t rest = rows % args_.tile_rows;
  for (std::size_t first = 0; first < full; first += kTurnsMax) {
    const std::size_t turns = std::min(kTurnsMax, full - first);
    COMMRIG_ASSIGN(const mc2::Handle handle,
                   prepare(first * args_.tile_rows, args_.tile_rows, turns));
    turns_.insert(turns_.end(), turns, handle);
  }
  if (rest == 0) return ok();
  COMMRIG_ASSIGN(const mc2::Handle handle, prepare(full * args_.tile_rows, rest, 1));
  turns_.push_back(handle);
  return ok();
}

Status TiledMatmul::multiply_tiles(std::size_t rows) {
  for (std::size_t tile = 0; tile < turns_.size(); ++tile) {
    const auto number = static_cast<std::int64_t>(tile);
    const std::size_t row = tile * args_.tile_rows;
    kernel_.event(kTileEvent, Phase::kBegin, number);
    COMMRIG_TRY(multiply(row, std::min(args_.tile_rows, rows - row)));
    kernel_.event(kTileEvent, Phase::kEnd, number);
    if (!args_.commit_at_end) COMMRIG_TRY(client_.commit(turns_[tile]));
  }
  if (!args_.commit_at_end) return ok();
  for (const mc2::Handle handle : turns_) COMMRIG_TRY(client_.commit(handle));
  return ok();
}

Status TiledMatmul::multiply_rows(const std::byte* x1, std::size_t rows, float* product) {
  COMMRIG_TRY(widen(x1, rows * args_.shape.k, x1_wide_));
  return matmul(x1_wide_.data(), x2_wide_.data(), product, rows, args_.shape.k, args_.shape.n);
}

Status TiledMatmul::widen(const std::byte* elements, std::size_t count,
                          std::vector<float>& out) const {
  out.resize(count);
  return dtype::convert(args_.dtype, elements, Dtype::kFp32, out.data(), count);
}

}  // namespace commrig::operators
