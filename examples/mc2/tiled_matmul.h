// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "device/kernel.h"
#include "dtype/dtype.h"
#include "mc2/client.h"
#include "mc2/layout.h"

namespace commrig::operators {

// Name of the events that the kernels publish around the product of each tile. a: tile, from 0.
inline constexpr const char* kTileEvent = "mc2.tile";

// x1 is m x k on each rank, x2 is k x n.
struct MatmulShape {
  std::size_t m = 0;
  std::size_t k = 0;
  std::size_t n = 0;
};

// What a fused operator's kernel is given. Buffers are device memory; what they hold stands with
// each operator.
struct MatmulArgs {
  const void* context = nullptr;  // of this rank, see mc2::Group
  const mc2::Layout* layout = nullptr;
  const void* x1 = nullptr;
  const void* x2 = nullptr;
  void* output = nullptr;
  void* scratch = nullptr;
  MatmulShape shape{};
  std::size_t tile_rows = 1;
  dtype::Dtype dtype = dtype::Dtype::kFp32;
  // Commits all tiles after the last product instead of each after its own. The result is the same,
  // but nothing overlaps; tests use it to show that they would notice.
  bool commit_at_end = false;
};

// One kernel's run of an operator that multiplies tile by tile and lets the server move each
// finished tile while it works on the next: what such operators have in common. Full tiles are the
// turns of one message (of several beyond 255), a shorter rest at the end is a message of its own.
class TiledMatmul {
 public:
  TiledMatmul(device::KernelContext& kernel, const MatmulArgs& args, const char* name)
      : kernel_(kernel), args_(args), name_(name), client_(kernel, *args.layout) {}
  virtual ~TiledMatmul() = default;
  TiledMatmul(const TiledMatmul&) = delete;
  TiledMatmul& operator=(const TiledMatmul&) = delete;

  // Fails with kBadArgument for an empty shape, a type other than fp16, bf16, fp32, or more tiles
  // than a kernel has messages for; MEM errors for buffers; errors of the client.
  Status run();

 protected:
  // After the client's init: resolves the buffers and says how many rows are cut into tiles.
  virtual Result<std::size_t> begin() = 0;
  // Prepares a message for `turns` tiles of `rows` rows each, the first of them at `row`.
  virtual Result<mc2::Handle> prepare(std::size_t row, std::size_t rows, std::size_t turns) = 0;
  // Computes what a tile's turn sends.
  virtual Status multiply(std::size_t row, std::size_t rows) = 0;
  // After the last turn.
  virtual Status end() { return ok(); }

  // The product of `rows` rows of k elements at `x1` with x2, in fp32.
  Status multiply_rows(const std::byte* x1, std::size_t rows, float* product);
  Result<std::byte*> resolve(const void* address, std::size_t elements, std::size_t size) const;
  Error refuse(const std::string& what) const;

  device::KernelContext& kernel() { return kernel_; }
  const MatmulArgs& args() const { return args_; }
  mc2::Client& client() { return client_; }
  std::size_t element_bytes() const { return dtype::size_of(args_.dtype); }

 private:
  Status check_arguments() const;
  Status prepare_tiles(std::size_t rows);
  Status multiply_tiles(std::size_t rows);
  Status widen(const std::byte* elements, std::size_t count, std::vector<float>& out) const;

  device::KernelContext& kernel_;
  const MatmulArgs& args_;
  const char* name_;
  mc2::Client client_;
  std::vector<mc2::Handle> turns_;  // turns_[t] is the handle whose next turn carries tile t
  std::vector<float> x1_wide_;
  std::vector<float> x2_wide_;
};

}  // namespace commrig::operators
