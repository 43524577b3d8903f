// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace commrig::cli::run {

// Cuts what one rank writes into lines, each with the rank's tag in front, so that lines of
// several ranks can be put together. Every byte comes out, in order.
class Lines {
 public:
  // A line that is longer comes out in pieces of this size, as lines of their own; in the tags of
  // all but the first the last character is '+'.
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

  explicit Lines(std::string tag) : tag_(std::move(tag)) {}

  // The lines that are whole with these bytes.
  std::string add(std::string_view bytes);
  // What came without a newline at its end, as a line; nothing where there is none.
  std::string finish();

 private:
  void append_line(std::string& lines, std::string_view rest, bool continues);

  std::string tag_;
  std::string begun_;       // of the line that is not whole
  bool continued_ = false;  // a piece of it has come out
};

}  // namespace commrig::cli::run
