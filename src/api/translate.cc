// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "api/translate.h"

#include <array>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "base/log.h"

namespace commrig::v0 {
namespace {

// Both enumerations of each pair have the same order; the last ones and their number prove it.
static_assert(static_cast<int>(ErrorKind::kInvalidArgument) ==
              static_cast<int>(Kind::kInvalidArgument));
static_assert(static_cast<int>(ErrorKind::kProtocol) == static_cast<int>(Kind::kProtocol));
static_assert(static_cast<int>(ErrorKind::kPeerLost) == static_cast<int>(Kind::kPeerLost));
static_assert(static_cast<int>(ErrorKind::kExhausted) == static_cast<int>(Kind::kExhausted));
static_assert(static_cast<int>(ErrorKind::kUnsupported) == static_cast<int>(Kind::kUnsupported));
static_assert(static_cast<int>(ErrorKind::kState) == static_cast<int>(Kind::kState));
static_assert(static_cast<int>(ErrorKind::kAborted) == static_cast<int>(Kind::kAborted));
static_assert(static_cast<int>(ErrorKind::kDeadline) == static_cast<int>(Kind::kDeadline));
static_assert(static_cast<int>(ErrorKind::kSystem) == static_cast<int>(Kind::kSystem));

constexpr std::array kKindNames{"invalid argument", "protocol",    "peer lost",
                                "exhausted",        "unsupported", "state",
                                "aborted",          "deadline",    "system"};

struct DtypePair {
  Dtype outer;
  dtype::Dtype inner;
};
constexpr std::array kDtypePairs{
    DtypePair{Dtype::kInt8, dtype::Dtype::kInt8},
    DtypePair{Dtype::kInt16, dtype::Dtype::kInt16},
    DtypePair{Dtype::kInt32, dtype::Dtype::kInt32},
    DtypePair{Dtype::kInt64, dtype::Dtype::kInt64},
    DtypePair{Dtype::kUint8, dtype::Dtype::kUint8},
    DtypePair{Dtype::kUint16, dtype::Dtype::kUint16},
    DtypePair{Dtype::kUint32, dtype::Dtype::kUint32},
    DtypePair{Dtype::kUint64, dtype::Dtype::kUint64},
    DtypePair{Dtype::kFp16, dtype::Dtype::kFp16},
    DtypePair{Dtype::kBf16, dtype::Dtype::kBf16},
    DtypePair{Dtype::kFp32, dtype::Dtype::kFp32},
    DtypePair{Dtype::kFp64, dtype::Dtype::kFp64},
    DtypePair{Dtype::kFp8E4m3fn, dtype::Dtype::kFp8E4m3fn},
    DtypePair{Dtype::kFp8E5m2, dtype::Dtype::kFp8E5m2},
    DtypePair{Dtype::kHif8, dtype::Dtype::kHif8},
    DtypePair{Dtype::kFp8E8m0, dtype::Dtype::kFp8E8m0},
    DtypePair{Dtype::kInt128, dtype::Dtype::kInt128},
};
static_assert(kDtypePairs.size() == dtype::kDtypes.size());
static_assert([] {
  for (std::size_t i = 0; i < kDtypePairs.size(); ++i) {
    if (static_cast<std::size_t>(kDtypePairs[i].outer) != i) return false;
    if (dtype::index(kDtypePairs[i].inner) != i) return false;
  }
  return true;
}());

constexpr std::array kOps{dtype::ReduceOp::kSum, dtype::ReduceOp::kProd, dtype::ReduceOp::kMax,
                          dtype::ReduceOp::kMin};
static_assert(kOps.size() == dtype::kReduceOps.size());
static_assert(kOps[static_cast<int>(ReduceOp::kSum)] == dtype::ReduceOp::kSum &&
              kOps[static_cast<int>(ReduceOp::kProd)] == dtype::ReduceOp::kProd &&
              kOps[static_cast<int>(ReduceOp::kMax)] == dtype::ReduceOp::kMax &&
              kOps[static_cast<int>(ReduceOp::kMin)] == dtype::ReduceOp::kMin);

}  // namespace

Error translate(const commrig::Error& error) {
  const CodeInfo& info = code_info(error.code);
  return {std::string(info.id), static_cast<ErrorKind>(info.kind), error.message,
          std::string(info.advice)};
}

Status translate(const commrig::Status& status) {
  if (!status) return translate(status.error());
  return v0::ok();
}

commrig::Result<dtype::Dtype> translate(Dtype dtype) {
  const auto i = static_cast<std::size_t>(dtype);
  if (i < kDtypePairs.size()) return kDtypePairs.at(i).inner;
  return commrig::Error::make(Code::kUnknownDtype, fmt::format("the number {} as a Dtype", i));
}

commrig::Result<dtype::ReduceOp> translate(ReduceOp op) {
  const auto i = static_cast<std::size_t>(op);
  if (i < kOps.size()) return kOps.at(i);
  return commrig::Error::make(Code::kUnknownReduceOp,
                              fmt::format("the number {} as a ReduceOp", i));
}

commrig::Result<bootstrap::UniqueId> translate(const UniqueId& id) {
  return bootstrap::UniqueId::from_bytes(std::as_bytes(std::span(id.bytes)));
}

UniqueId translate(const bootstrap::UniqueId& id) {
  UniqueId outer;
  const bootstrap::UniqueId::Bytes bytes = id.bytes();
  static_assert(sizeof(outer.bytes) == sizeof(bytes));
  std::memcpy(outer.bytes.data(), bytes.data(), bytes.size());
  return outer;
}

Dtype translate(dtype::Dtype dtype) {
  return kDtypePairs.at(dtype::index(dtype)).outer;
}

ReduceOp translate(dtype::ReduceOp op) {
  return static_cast<ReduceOp>(dtype::index(op));
}

Error moved_from(const char* what) {
  return translate(
      commrig::Error::make(Code::kObjectUse, fmt::format("this {} was moved from", what)));
}

Error from_exception(const char* what) {
  return translate(commrig::Error::make(Code::kSystemCall, what));
}

std::string to_string(const Error& error) {
  return error.id + ": " + error.message + ". " + error.advice;
}

const char* name(ErrorKind kind) {
  const auto i = static_cast<std::size_t>(kind);
  return i < kKindNames.size() ? kKindNames.at(i) : "?";
}

void stop_without_value(const Error& error) {
  stderr_sink(LogLevel::kError,
              "the value of a Result was asked for that holds an error: " + to_string(error));
  check_failed("has_value()", to_string(error));
}

void stop_without_error() {
  constexpr const char* kMessage = "the error of a Result was asked for that holds a value";
  stderr_sink(LogLevel::kError, kMessage);
  check_failed("!has_value()", kMessage);
}

std::size_t size_of(Dtype dtype) {
  const commrig::Result<dtype::Dtype> inner = translate(dtype);
  return inner ? dtype::size_of(*inner) : 0;
}

std::string_view name(Dtype dtype) {
  const commrig::Result<dtype::Dtype> inner = translate(dtype);
  return inner ? dtype::info(*inner).name : "?";
}

std::string_view name(ReduceOp op) {
  const commrig::Result<dtype::ReduceOp> inner = translate(op);
  return inner ? dtype::name(*inner) : "?";
}

Result<Dtype> parse_dtype(std::string_view text) {
  return guarded([&]() -> Result<Dtype> {
    COMMRIG_API_ASSIGN(const dtype::Dtype dtype, dtype::parse(text));
    return translate(dtype);
  });
}

Result<ReduceOp> parse_reduce_op(std::string_view text) {
  return guarded([&]() -> Result<ReduceOp> {
    COMMRIG_API_ASSIGN(const dtype::ReduceOp op, dtype::parse_reduce_op(text));
    return translate(op);
  });
}

}  // namespace commrig::v0
