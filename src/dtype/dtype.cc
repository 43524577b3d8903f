// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/dtype.h"

#include <string>

#include <fmt/format.h>

namespace commrig::dtype {
namespace {

struct Alias {
  std::string_view name;
  Dtype dtype;
};

// What frameworks and vendors call the same types. Names that differ in size from one platform to
// another (int, long) are left out on purpose.
constexpr std::array kAliases = {
    Alias{"float16", Dtype::kFp16},
    Alias{"half", Dtype::kFp16},
    Alias{"bfloat16", Dtype::kBf16},
    Alias{"bfp16", Dtype::kBf16},
    Alias{"float32", Dtype::kFp32},
    Alias{"float", Dtype::kFp32},
    Alias{"float64", Dtype::kFp64},
    Alias{"double", Dtype::kFp64},
    Alias{"float8_e4m3fn", Dtype::kFp8E4m3fn},
    Alias{"float8_e5m2", Dtype::kFp8E5m2},
    Alias{"hifloat8", Dtype::kHif8},
    Alias{"float8_e8m0fnu", Dtype::kFp8E8m0},
};

}  // namespace

Result<Dtype> parse(std::string_view name) {
  for (const DtypeInfo& row : kDtypes) {
    if (row.name == name) return row.dtype;
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.dtype;
  }
  std::string known;
  for (const DtypeInfo& row : kDtypes) {
    known += ' ';
    known += row.name;
  }
  return Error::make(Code::kUnknownDtype,
                     fmt::format("'{}' is no element type; known are{}", name, known));
}

}  // namespace commrig::dtype
