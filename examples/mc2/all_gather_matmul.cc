// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/all_gather_matmul.h"

#include "dtype/convert.h"

namespace commrig::operators {
namespace {

constexpr const char* kName = "all-gather-matmul";

class AllGatherMatmul final : public TiledMatmul {
 public:
  AllGatherMatmul(device::KernelContext& kernel, const MatmulArgs& args)
      : TiledMatmul(kernel, args, kName) {}

 private:
  Result<std::size_t> begin() override {
    const auto [m, k, n] = args().shape;
    COMMRIG_ASSIGN(x1_, resolve(args().x1, m * k, element_bytes()));
    COMMRIG_ASSIGN(output_, resolve(args().output, client().ranks() * m * n, element_bytes()));
    own_rows_ = output_ + client().rank() * m * n * element_bytes();
    return m;
  }

  // In place: each rank's rows lie in its own block of its output already.
  Result<mc2::Handle> prepare(std::size_t row, std::size_t rows, std::size_t turns) override {
    const auto [m, k, n] = args().shape;
    const std::size_t offset = row * n * element_bytes();
    return client().all_gather({.send = own_rows_ + offset,
                                .recv = output_ + offset,
                                .count = rows * n,
                                .dtype = args().dtype,
                                .stride = m * n,
                                .repeat = static_cast<std::uint32_t>(turns)});
  }

  Status multiply(std::size_t row, std::size_t rows) override {
    const auto [m, k, n] = args().shape;
    product_.resize(rows * n);
    COMMRIG_TRY(multiply_rows(x1_ + row * k * element_bytes(), rows, product_.data()));
    return dtype::convert(dtype::Dtype::kFp32, product_.data(), args().dtype,
                          own_rows_ + row * n * element_bytes(), rows * n);
  }

  const std::byte* x1_ = nullptr;
  std::byte* output_ = nullptr;
  std::byte* own_rows_ = nullptr;
  std::vector<float> product_;
};

}  // namespace

Status all_gather_matmul(device::KernelContext& kernel, const MatmulArgs& args) {
  if (args.layout == nullptr) {
    return Error::make(Code::kBadArgument, std::string(kName) + " needs a layout");
  }
  return AllGatherMatmul(kernel, args).run();
}

}  // namespace commrig::operators
