// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/output.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace commrig::cli::run {
namespace {

Error refused(int descriptor) {
  const std::string why = std::error_code(errno, std::generic_category()).message();
  return Error::make(
      Code::kSystemCall,
      fmt::format("writing to standard {}: {}; what ranks have written is lost from there on",
                  descriptor == STDERR_FILENO ? "error" : "output", why));
}

}  // namespace

void Output::add(int descriptor, std::string text) {
  if (text.empty() || closed(descriptor)) return;
  bytes_ += text.size();
  pieces_.push_back({.descriptor = descriptor, .text = std::move(text)});
}

void Output::write_some() {
  if (pieces_.empty()) return;
  Piece& piece = pieces_.front();
  // A pipe that is writable has room for this much.
  const std::size_t length = std::min<std::size_t>(piece.text.size() - piece.written, PIPE_BUF);
  const ssize_t count = ::write(piece.descriptor, piece.text.data() + piece.written, length);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    if (errno != EPIPE && !failure_) failure_ = refused(piece.descriptor);
    drop(piece.descriptor);
    return;
  }
  const auto written = static_cast<std::size_t>(count);
  piece.written += written;
  bytes_ -= written;
  if (piece.written == piece.text.size()) pieces_.pop_front();
}

void Output::drop(int descriptor) {
  closed_.insert(descriptor);
  std::erase_if(pieces_,
                [descriptor](const Piece& piece) { return piece.descriptor == descriptor; });
  bytes_ = 0;
  for (const Piece& piece : pieces_) bytes_ += piece.text.size() - piece.written;
}

}  // namespace commrig::cli::run
