// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "commrig/export.h"

namespace commrig::v0 {

// How a caller may react to an error, whatever its id.
enum class ErrorKind : std::uint8_t {
  kInvalidArgument,  // the caller passed something wrong
  kProtocol,         // two ranks disagree, or one broke the rules
  kPeerLost,         // another rank ended or died
  kExhausted,        // a limit was reached
  kUnsupported,      // understood, and not done
  kState,            // a right call at the wrong time
  kAborted,          // follows from somebody else's error, or from abort()
  kDeadline,         // a deadline passed
  kSystem,           // the operating system refused
};

// An expected failure. Copyable: the first error of a communicator reaches all its ranks.
struct COMMRIG_API Error {
  std::string id;  // stable; "CR-COL18". `commrig explain ID` tells more
  ErrorKind kind = ErrorKind::kInvalidArgument;
  std::string message;  // one sentence that names the guilty rank or argument
  std::string advice;   // one sentence: what to do
};

// "CR-COL18: <message>. <advice>"
COMMRIG_API std::string to_string(const Error& error);

// The name of a kind in words: "peer lost".
COMMRIG_API const char* name(ErrorKind kind);

// Writes a line to standard error and aborts the process.
[[noreturn]] COMMRIG_API void stop_without_value(const Error& error);
[[noreturn]] COMMRIG_API void stop_without_error();

// A value, or the Error why there is none. Nothing in this interface throws. Asking for the one
// that isn't there is a mistake in the program: it prints the error and aborts the process. A
// Result is a value: use one by one thread at a time.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that `return value;` and `return error;` read well.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  // Whether there is a value.
  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  // The value, which the Result owns; `std::move(result).value()` hands it over.
  const T& value() const& { return *checked(); }
  T& value() & { return *const_cast<T*>(checked()); }
  T&& value() && { return std::move(*const_cast<T*>(checked())); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return checked(); }
  T* operator->() { return const_cast<T*>(checked()); }

  // The error, which the Result owns.
  const Error& error() const& {
    const Error* const found = std::get_if<1>(&state_);
    if (found == nullptr) stop_without_error();
    return *found;
  }

 private:
  const T* checked() const {
    const T* const found = std::get_if<0>(&state_);
    if (found == nullptr) stop_without_value(error());
    return found;
  }
  std::variant<T, Error> state_;
};

// What a function returns that gives nothing but can fail: `if (Status s = f(); !s) ...`.
using Status = Result<std::monostate>;
inline Status ok() {
  return Status(std::monostate{});
}

}  // namespace commrig::v0
