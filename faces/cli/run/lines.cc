// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/lines.h"

namespace commrig::cli::run {

std::string Lines::add(std::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t length = end == std::string_view::npos ? bytes.size() : end;
    const std::size_t room = kPieceBytes - begun_.size();
    if (length > room) {
      append_line(lines, bytes.substr(0, room), true);
      bytes.remove_prefix(room);
    } else if (end == std::string_view::npos) {
      begun_ += bytes;
      break;
    } else {
      append_line(lines, bytes.substr(0, length), false);
      bytes.remove_prefix(length + 1);
    }
  }
  return lines;
}

std::string Lines::finish() {
  std::string lines;
  if (!begun_.empty()) append_line(lines, {}, false);
  return lines;
}

void Lines::append_line(std::string& lines, std::string_view rest, bool continues) {
  lines += tag_;
  if (continued_ && tag_.size() > 1) lines[lines.size() - 1] = '+';
  lines += begun_;
  lines += rest;
  lines += '\n';
  begun_.clear();
  continued_ = continues;
}

}  // namespace commrig::cli::run
