// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coll/plan.h"
#include "comm/board.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"

namespace commrig::comm {

// One collective as a rank calls it. Counts as in coll::Request.
struct Call {
  coll::Collective collective = coll::Collective::kAllReduce;
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  dtype::Dtype dtype = dtype::Dtype::kFp32;
  dtype::ReduceOp op = dtype::ReduceOp::kSum;
  int root = 0;
  std::vector<std::size_t> counts{};  // of the V forms
  const void* site = nullptr;         // a return address, for people
  bool internal = false;              // of commrig's own, and not counted
};

// What all ranks must agree on, in 24 bits: different calls have different ones but for one pair in
// 16 million.
std::uint32_t fingerprint(const Call& call);

// Writes it into the rank's line, or reads a peer's for people: "all-reduce of 4 fp32, sum".
void post(const Call& call, std::uint64_t number, CallLine& line);
std::string describe(const CallLine& line);

}  // namespace commrig::comm
