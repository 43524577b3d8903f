// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "dtype/reduce.h"

namespace commrig::dtype {
namespace {

// Bytes of one buffer: in the first-level cache, in the second, in neither.
constexpr std::int64_t kSizes[] = {8 << 10, 256 << 10, 4 << 20};

// Writing every byte also faults every page in. Read as a float of any type, 0x3C3C... is an
// ordinary number, so no subnormal and no overflow slows or speeds the loop.
std::vector<std::uint64_t> make_buffer(std::size_t bytes) {
  return std::vector<std::uint64_t>(bytes / sizeof(std::uint64_t), 0x3C3C3C3C3C3C3C3C);
}

// Bytes per second count one buffer, so that the rates of sum and memcpy compare directly although
// a sum reads two.
void sum_of_two(benchmark::State& state, Dtype dtype) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto a = make_buffer(bytes);
  const auto b = make_buffer(bytes);
  auto target = make_buffer(bytes);
  const void* sources[] = {a.data(), b.data()};
  const std::size_t count = bytes / size_of(dtype);
  for (auto _ : state) {
    if (!reduce(ReduceOp::kSum, dtype, sources, target.data(), count)) {
      state.SkipWithError("the sum was refused");
      break;
    }
    benchmark::DoNotOptimize(target.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto source = make_buffer(bytes);
  auto target = make_buffer(bytes);
  for (auto _ : state) {
    std::memcpy(target.data(), source.data(), bytes);
    benchmark::DoNotOptimize(target.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const std::int64_t size : kSizes) {
    benchmark::RegisterBenchmark("memcpy", copy)->Arg(size);
    for (const Dtype dtype : {Dtype::kFp32, Dtype::kBf16, Dtype::kFp16}) {
      const std::string name = "sum_of_two/" + std::string(info(dtype).name);
      benchmark::RegisterBenchmark(name.c_str(), sum_of_two, dtype)->Arg(size);
    }
  }
  return true;
}();

}  // namespace
}  // namespace commrig::dtype
