// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/codes.h"

namespace commrig {

// An expected failure: which, in one sentence with the guilty rank, field or line, and where in our
// code it was decided. Copyable, because the first error of a group reaches all its waiters.
struct Error {
  Code code;
  std::string message;
  std::source_location location;

  // The location is taken from the caller by default.
  static Error make(Code code, std::string message,
                    std::source_location where = std::source_location::current()) {
    return Error{code, std::move(message), where};
  }
};

// "CR-MEM01: <message>. <advice>"
std::string to_string(const Error& error);

// Nothing, as the value of a Result.
using Void = std::monostate;

// A value or an Error. Member names are those of std::expected, so that this may become an alias of
// it. Asking for what is not there is our own bug and fails a COMMRIG_CHECK.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  // Implicit, so that `return value;` and `return error;` read well.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const& {
    COMMRIG_CHECK(!has_value(), "error() of a Result that holds a value");
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    COMMRIG_CHECK(!has_value(), "error() of a Result that holds a value");
    return std::move(*std::get_if<1>(&state_));
  }
  T value_or(T other) const& { return has_value() ? **this : std::move(other); }

 private:
  void require_value() const {
    if (!has_value()) [[unlikely]] {
      check_failed("has_value()", to_string(*std::get_if<1>(&state_)));
    }
  }
  std::variant<T, Error> state_;
};

// What a function returns that gives nothing but can fail; `return ok();` on success.
using Status = Result<Void>;
inline Status ok() {
  return Status(Void{});
}

}  // namespace commrig

// Leaves the function with the error of a Status or Result, if it has one.
#define COMMRIG_TRY(expression)                                \
  do {                                                         \
    if (auto commrig_result = (expression); !commrig_result) { \
      return std::move(commrig_result).error();                \
    }                                                          \
  } while (false)

#define COMMRIG_JOIN_(a, b) a##b
#define COMMRIG_JOIN(a, b) COMMRIG_JOIN_(a, b)
#define COMMRIG_ASSIGN_(temporary, declaration, expression) \
  auto temporary = (expression);                            \
  if (!temporary) {                                         \
    return std::move(temporary).error();                    \
  }                                                         \
  declaration = std::move(temporary).value()

// COMMRIG_ASSIGN(auto x, f()): x is the value, or the function returns the error.
#define COMMRIG_ASSIGN(declaration, expression) \
  COMMRIG_ASSIGN_(COMMRIG_JOIN(commrig_assign_, __LINE__), declaration, expression)
