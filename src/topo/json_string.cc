// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/json_string.h"

#include <array>

namespace commrig::topo {
namespace {

std::uint32_t narrow(std::size_t offset) {
  return static_cast<std::uint32_t>(offset);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// Four hexadecimal digits at `at`.
std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return {};
  std::uint32_t value = 0;
  for (const char c : text.substr(at, 4)) {
    value <<= 4U;
    if (c >= '0' && c <= '9') {
      value |= static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value |= static_cast<std::uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      value |= static_cast<std::uint32_t>(c - 'A' + 10);
    } else {
      return {};
    }
  }
  return value;
}

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at, std::string& decoded,
          std::vector<SyntaxFault>& faults)
      : text_(text), at_(at), decoded_(decoded), faults_(faults) {}

  std::size_t at() const { return at_; }

  // One character or escape. False at the end of the line.
  bool step() {
    const char c = text_[at_];
    if (c == '\n' || (c == '\r' && text_.substr(at_, 2) == "\r\n")) return false;
    if (c == '\\') {
      escape();
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      fault(1, "a control character in a string");
      keep(1);
    } else if (const std::size_t length = utf8_length(text_, at_); length != 0) {
      keep(length);
    } else {
      fault(1, "bytes that are not UTF-8");
      keep(1);
    }
    return true;
  }

 private:
  void keep(std::size_t length) {
    decoded_ += text_.substr(at_, length);
    at_ += length;
  }
  void fault(std::size_t length, std::string what) {
    if (faults_.size() >= JsonDocument::kFaultsMax) return;
    faults_.push_back({SyntaxKind::kMalformed,
                       {narrow(at_), narrow(std::min(at_ + length, text_.size()))},
                       std::move(what)});
  }
  void escape() {
    constexpr std::array<std::pair<char, char>, 8> kEscapes{{{'"', '"'},
                                                             {'\\', '\\'},
                                                             {'/', '/'},
                                                             {'b', '\b'},
                                                             {'f', '\f'},
                                                             {'n', '\n'},
                                                             {'r', '\r'},
                                                             {'t', '\t'}}};
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next == 'u') return unicode();
    for (const auto& [letter, meaning] : kEscapes) {
      if (letter != next) continue;
      decoded_ += meaning;
      at_ += 2;
      return;
    }
    fault(2, "a backslash that starts no escape");
    keep(1);
  }
  void unicode() {
    std::optional<std::uint32_t> code = hex4(text_, at_ + 2);
    std::size_t length = 6;
    if (code && *code >= 0xD800U && *code <= 0xDBFFU && text_.substr(at_ + 6, 2) == "\\u") {
      const std::optional<std::uint32_t> low = hex4(text_, at_ + 8);
      if (low && *low >= 0xDC00U && *low <= 0xDFFFU) {
        code = 0x10000U + ((*code - 0xD800U) << 10U) + (*low - 0xDC00U);
        length = 12;
      }
    }
    if (!code || (*code >= 0xD800U && *code <= 0xDFFFU)) {
      fault(2, "a \\u that is followed by no character's number");
      keep(1);
      return;
    }
    append_utf8(decoded_, *code);
    at_ += length;
  }

  std::string_view text_;
  std::size_t at_;
  std::string& decoded_;
  std::vector<SyntaxFault>& faults_;
};

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(at);
  const auto goes_on = [&](std::size_t i, unsigned least = 0x80U, unsigned most = 0xBFU) {
    return byte(at + i) >= least && byte(at + i) <= most;
  };
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return goes_on(1) ? 2 : 0;
  if ((first & 0xF0U) == 0xE0U) {
    // Neither longer than needed nor half of a pair.
    const unsigned least = first == 0xE0U ? 0xA0U : 0x80U;
    const unsigned most = first == 0xEDU ? 0x9FU : 0xBFU;
    return goes_on(1, least, most) && goes_on(2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const unsigned least = first == 0xF0U ? 0x90U : 0x80U;
    const unsigned most = first == 0xF4U ? 0x8FU : 0xBFU;
    return goes_on(1, least, most) && goes_on(2) && goes_on(3) ? 4 : 0;
  }
  return 0;
}

ScannedString scan_string(std::string_view text, std::size_t begin, std::string_view opening,
                          std::string_view closing) {
  const std::size_t inside = begin + opening.size();
  // Most strings are plain; they need no copy.
  if (closing == "\"") {
    std::size_t at = inside;
    while (at < text.size() && text[at] >= 0x20 && text[at] != '"' && text[at] != '\\' &&
           static_cast<unsigned char>(text[at]) < 0x80U) {
      ++at;
    }
    if (at < text.size() && text[at] == '"' && opening == "\"") return {.end = at + 1};
  }
  ScannedString string;
  std::string decoded;
  Scanner scanner(text, inside, decoded, string.faults);
  bool closed = false;
  while (scanner.at() < text.size() && !closed) {
    closed = text.substr(scanner.at(), closing.size()) == closing;
    if (!closed && !scanner.step()) break;
  }
  string.end = scanner.at() + (closed ? closing.size() : 0);
  if (!closed) {
    string.faults.push_back({SyntaxKind::kMalformed,
                             {narrow(begin), narrow(string.end)},
                             "a string is not closed on its line"});
  }
  string.decoded = std::move(decoded);
  return string;
}

}  // namespace commrig::topo
