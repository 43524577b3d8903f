// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/convert.h"

#include <fmt/format.h>

#include "dtype/buffers.h"
#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

Error refuse(const DtypeInfo& from, const DtypeInfo& to) {
  for (const DtypeInfo* row : {&from, &to}) {
    if (!row->has_arithmetic) {
      return Error::make(Code::kNoArithmetic,
                         fmt::format("conversion of {} to {} is refused: {} is known by its size "
                                     "only",
                                     from.name, to.name, row->name));
    }
  }
  return Error::make(Code::kNoArithmetic,
                     fmt::format("conversion of {} to {} is refused: only floating-point types are "
                                 "converted to",
                                 from.name, to.name));
}

}  // namespace

Status convert(Dtype from, const void* source, Dtype to, void* target, std::size_t count) {
  const DtypeInfo& source_row = info(from);
  const DtypeInfo& target_row = info(to);
  const Result<const KernelSet*>& kernels = chosen_kernels();
  if (!kernels) return kernels.error();
  const ConvertKernel kernel = find_kernel(*kernels.value(), from, to);
  if (kernel == nullptr) return refuse(source_row, target_row);
  if (count == 0) return ok();
  COMMRIG_TRY(check_buffer(source, from, "the source"));
  COMMRIG_TRY(check_buffer(target, to, "the target"));
  const bool in_place = source == target && source_row.bytes == target_row.bytes;
  if (!in_place && overlap(source, count * source_row.bytes, target, count * target_row.bytes)) {
    return Error::make(Code::kBadArgument,
                       fmt::format("the target at {} ({} {}) overlaps the source at {} ({} {})",
                                   target, count, target_row.name, source, count, source_row.name));
  }
  kernel(source, target, count);
  return ok();
}

}  // namespace commrig::dtype
