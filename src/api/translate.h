// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <exception>
#include <string>

#include "base/result.h"
#include "bootstrap/unique_id.h"
#include "commrig/communicator.h"
#include "commrig/unique_id.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"

// Between the types of the public interface and ours. Nothing else in this folder knows both sides
// of an enumeration or of an error.
namespace commrig::v0 {

Error translate(const commrig::Error& error);
Status translate(const commrig::Status& status);

// Numbers that are no enumerators are kUnknownDtype and kUnknownReduceOp.
commrig::Result<dtype::Dtype> translate(Dtype dtype);
commrig::Result<dtype::ReduceOp> translate(ReduceOp op);
// Bytes that are no id are kBadUniqueId.
commrig::Result<bootstrap::UniqueId> translate(const UniqueId& id);
UniqueId translate(const bootstrap::UniqueId& id);
Dtype translate(dtype::Dtype dtype);
ReduceOp translate(dtype::ReduceOp op);

// What a function with an object says that was moved from.
Error moved_from(const char* what);

// As kSystemCall; for the handler of guarded().
Error from_exception(const char* what);

// The result of `body`; nothing is thrown beyond it.
template <class Body>
auto guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return from_exception(exception.what());
  }
}

}  // namespace commrig::v0

// As COMMRIG_TRY and COMMRIG_ASSIGN, of our result in a function that returns a public one.
#define COMMRIG_API_TRY(expression)                            \
  do {                                                         \
    if (auto commrig_result = (expression); !commrig_result) { \
      return translate(commrig_result.error());                \
    }                                                          \
  } while (false)

#define COMMRIG_API_ASSIGN_(temporary, declaration, expression) \
  auto temporary = (expression);                                \
  if (!temporary) return translate(temporary.error());          \
  declaration = std::move(temporary).value()

#define COMMRIG_API_ASSIGN(declaration, expression) \
  COMMRIG_API_ASSIGN_(COMMRIG_JOIN(commrig_assign_, __LINE__), declaration, expression)
