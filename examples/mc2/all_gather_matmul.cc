// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/all_gather_matmul.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dtype/convert.h"
#include "examples/mc2/matmul.h"
#include "mc2/client.h"

namespace commrig::operators {
namespace {

using dtype::Dtype;

constexpr std::size_t kTurnsMax = 255;  // of one message

// One kernel's run of the operator.
class AllGatherMatmul {
 public:
  AllGatherMatmul(device::KernelContext& kernel, const AllGatherMatmulArgs& args)
      : kernel_(kernel), args_(args), client_(kernel, *args.layout) {}

  Status run() {
    COMMRIG_TRY(check_arguments());
    COMMRIG_TRY(client_.init(args_.context));
    COMMRIG_TRY(resolve_buffers());
    COMMRIG_TRY(prepare_tiles());
    COMMRIG_TRY(widen(x2_, args_.shape.k * args_.shape.n, x2_wide_));
    for (std::size_t tile = 0; tile < turns_.size(); ++tile) {
      COMMRIG_TRY(multiply_tile(tile));
      if (!args_.commit_at_end) COMMRIG_TRY(client_.commit(turns_[tile]));
    }
    if (args_.commit_at_end) {
      for (const mc2::Handle handle : turns_) COMMRIG_TRY(client_.commit(handle));
    }
    for (const mc2::Handle handle : turns_) COMMRIG_TRY(client_.wait(handle));
    return client_.finalize();
  }

 private:
  Status check_arguments() const {
    const MatmulShape& shape = args_.shape;
    if (shape.m == 0 || shape.k == 0 || shape.n == 0 || args_.tile_rows == 0) {
      return Error::make(Code::kBadArgument,
                         "all-gather-matmul needs m, k, n and tile rows of at least 1");
    }
    const bool known =
        args_.dtype == Dtype::kFp16 || args_.dtype == Dtype::kBf16 || args_.dtype == Dtype::kFp32;
    if (!known) {
      return Error::make(Code::kBadArgument, "all-gather-matmul of " +
                                                 std::string(dtype::info(args_.dtype).name) +
                                                 "; it takes fp16, bf16 and fp32");
    }
    return check_tiles(shape.m, args_.tile_rows, *args_.layout);
  }

  Status resolve_buffers() {
    const MatmulShape& shape = args_.shape;
    const std::size_t size = dtype::size_of(args_.dtype);
    const std::size_t outputs = client_.ranks() * shape.m * shape.n;
    COMMRIG_ASSIGN(const device::Window x1,
                   kernel_.window(args_.x1, shape.m * shape.k * size, size));
    COMMRIG_ASSIGN(const device::Window x2,
                   kernel_.window(args_.x2, shape.k * shape.n * size, size));
    COMMRIG_ASSIGN(const device::Window output, kernel_.window(args_.output, outputs * size, size));
    x1_ = x1.base();
    x2_ = x2.base();
    output_ = output.base();
    own_rows_ = output_ + client_.rank() * shape.m * shape.n * size;
    return ok();
  }

  // One message for up to 255 tiles of full height, one for the rest. turns_[t] is the handle whose
  // next turn carries tile t.
  Status prepare_tiles() {
    const std::size_t full = args_.shape.m / args_.tile_rows;
    const std::size_t rest = args_.shape.m % args_.tile_rows;
    for (std::size_t first = 0; first < full; first += kTurnsMax) {
      COMMRIG_TRY(
          prepare(first * args_.tile_rows, args_.tile_rows, std::min(kTurnsMax, full - first)));
    }
    if (rest != 0) COMMRIG_TRY(prepare(full * args_.tile_rows, rest, 1));
    return ok();
  }

  // A message for `turns` tiles of `rows` rows each, the first of them at `row`. In place: each
  // rank's rows lie in its own block of its output already.
  Status prepare(std::size_t row, std::size_t rows, std::size_t turns) {
    const std::size_t offset = row * args_.shape.n * dtype::size_of(args_.dtype);
    COMMRIG_ASSIGN(const mc2::Handle handle,
                   client_.all_gather({.send = own_rows_ + offset,
                                       .recv = output_ + offset,
                                       .count = rows * args_.shape.n,
                                       .dtype = args_.dtype,
                                       .stride = args_.shape.m * args_.shape.n,
                                       .repeat = static_cast<std::uint32_t>(turns)}));
    turns_.insert(turns_.end(), turns, handle);
    return ok();
  }

  Status multiply_tile(std::size_t tile) {
    const auto number = static_cast<std::int64_t>(tile);
    const std::size_t row = tile * args_.tile_rows;
    const std::size_t rows = std::min(args_.tile_rows, args_.shape.m - row);
    const std::size_t size = dtype::size_of(args_.dtype);
    const std::size_t products = rows * args_.shape.n;
    kernel_.event(kTileEvent, Phase::kBegin, number);
    COMMRIG_TRY(widen(x1_ + row * args_.shape.k * size, rows * args_.shape.k, x1_wide_));
    y_wide_.resize(products);
    COMMRIG_TRY(matmul(x1_wide_.data(), x2_wide_.data(), y_wide_.data(), rows, args_.shape.k,
                       args_.shape.n));
    COMMRIG_TRY(dtype::convert(Dtype::kFp32, y_wide_.data(), args_.dtype,
                               own_rows_ + row * args_.shape.n * size, products));
    kernel_.event(kTileEvent, Phase::kEnd, number);
    return ok();
  }

  Status widen(const std::byte* elements, std::size_t count, std::vector<float>& out) const {
    out.resize(count);
    return dtype::convert(args_.dtype, elements, Dtype::kFp32, out.data(), count);
  }

  device::KernelContext& kernel_;
  const AllGatherMatmulArgs& args_;
  mc2::Client client_;
  const std::byte* x1_ = nullptr;
  const std::byte* x2_ = nullptr;
  std::byte* output_ = nullptr;
  std::byte* own_rows_ = nullptr;
  std::vector<mc2::Handle> turns_;
  std::vector<float> x1_wide_;
  std::vector<float> x2_wide_;
  std::vector<float> y_wide_;
};

}  // namespace

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

Status all_gather_matmul(device::KernelContext& kernel, const AllGatherMatmulArgs& args) {
  if (args.layout == nullptr) {
    return Error::make(Code::kBadArgument, "all-gather-matmul needs a layout");
  }
  return AllGatherMatmul(kernel, args).run();
}

}  // namespace commrig::operators
