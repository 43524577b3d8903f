// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/json_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "topo/json_string.h"

namespace commrig::topo {
namespace {

// Characters that look like those of JSON, from other keyboards and word processors.
struct LookAlike {
  std::string_view found;
  char meant;
};
constexpr std::array kLookAlikes{LookAlike{"\uFF0C", ','}, LookAlike{"\u3001", ','},
                                 LookAlike{"\uFF1A", ':'}, LookAlike{"\u201C", '"'},
                                 LookAlike{"\u201D", '"'}, LookAlike{"\uFF02", '"'}};
// What may close a string that one of them opens.
constexpr std::array<std::string_view, 4> kClosing{"\u201D", "\u201C", "\uFF02", "\""};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '+' || c == '.' || c == '$' || c == '*';
}

bool is_number(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < word.size() && word[at] >= '0' && word[at] <= '9') ++at;
    return at - start;
  };
  const std::size_t start = at;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && word[start] == '0')) return false;
  if (at < word.size() && word[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == word.size();
}

Span span(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

}  // namespace

Edit replacement(std::size_t begin, std::size_t end, std::string text) {
  return {span(begin, end), std::move(text)};
}

void JsonScanner::fault(SyntaxKind kind, std::size_t begin, std::size_t end, std::string what,
                        std::optional<Edit> edit) {
  if (faults.size() >= JsonDocument::kFaultsMax) {
    ++faults_dropped;
    return;
  }
  faults.push_back({kind, span(begin, end), std::move(what), std::move(edit)});
}

bool JsonScanner::is_readable() {
  if (text_.size() > JsonDocument::kBytesMax) {
    fault(SyntaxKind::kMalformed, 0, 0, "the text is longer than 1 GiB");
    return false;
  }
  if (text_.substr(0, 4).find('\0') != std::string_view::npos || text_.starts_with("\xFF\xFE") ||
      text_.starts_with("\xFE\xFF")) {
    fault(SyntaxKind::kMalformed, 0, std::min<std::size_t>(4, text_.size()),
          "the text is not UTF-8 (two bytes a character?)");
    return false;
  }
  return true;
}

bool JsonScanner::start() {
  if (!is_readable()) return false;
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // all readers skip a byte-order mark
  skip_blank();
  if (at_end() || here() == '{' || here() == '[') return true;
  // A table that was copied from a page may have words before it.
  const std::size_t bracket = text_.find_first_of("{[", at_);
  if (bracket == std::string_view::npos) return true;
  fault(SyntaxKind::kMalformed, at_, bracket, "text before the table");
  at_ = bracket;
  return true;
}

void JsonScanner::skip_blank() {
  while (!at_end()) {
    if (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r') {
      ++at_;
    } else if (at("//") || here() == '#') {
      take_comment(std::min(text_.find('\n', at_), text_.size()));
    } else if (at("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      take_comment(end == std::string_view::npos ? text_.size() : end + 2);
    } else if (at("\u00A0") || at("\u3000")) {  // other blanks
      const std::size_t end = at_ + (at("\u00A0") ? 2 : 3);
      fault(SyntaxKind::kMalformed, at_, end, "a blank that JSON does not know",
            replacement(at_, end, " "));
      at_ = end;
    } else {
      return;
    }
  }
}

void JsonScanner::take_comment(std::size_t end) {
  std::size_t visible = end;
  while (visible > at_ && (text_[visible - 1] == '\r' || text_[visible - 1] == ' ')) --visible;
  fault(SyntaxKind::kComment, at_, visible, "a comment", replacement(at_, visible, ""));
  at_ = end;
}

bool JsonScanner::take_ellipsis() {
  const std::size_t start = at_;
  if (at("...") || at("\u2026")) {
    while (here() == '.' || at("\u2026")) at_ += here() == '.' ? 1 : 3;
  }
  if (at_ == start) return false;
  fault(SyntaxKind::kEllipsis, start, at_, "values were left out here");
  skip_blank();
  if (here() == ',') ++at_;
  return true;
}

bool JsonScanner::take(char wanted) {
  if (here() == wanted) {
    ++at_;
    return true;
  }
  for (const LookAlike& alike : kLookAlikes) {
    if (alike.meant != wanted || !at(alike.found)) continue;
    const std::size_t end = at_ + alike.found.size();
    fault(SyntaxKind::kQuotes, at_, end, fmt::format("{} instead of {}", alike.found, wanted),
          replacement(at_, end, std::string(1, wanted)));
    at_ = end;
    return true;
  }
  return false;
}

// The quote that stands here, of whatever kind; empty where there is none.
std::string_view JsonScanner::opening_quote() const {
  if (here() == '"' || here() == '\'') return text_.substr(at_, 1);
  for (const LookAlike& alike : kLookAlikes) {
    if (alike.meant == '"' && at(alike.found)) return alike.found;
  }
  return {};
}

std::optional<JsonScanner::String> JsonScanner::take_string() {
  const std::string_view opening = opening_quote();
  if (opening.empty()) return {};
  return opening == "\"" ? take_plain_string() : take_foreign_string(opening);
}

JsonScanner::String JsonScanner::take_plain_string() {
  ScannedString scanned = scan_string(text_, at_, "\"", "\"");
  for (SyntaxFault& each : scanned.faults) {
    fault(each.kind, each.span.begin, each.span.end, std::move(each.what));
  }
  // One that is not closed has no quote at its end, and is always decoded.
  const String string{span(at_ + 1, scanned.decoded ? scanned.end : scanned.end - 1),
                      std::move(scanned.decoded)};
  at_ = scanned.end;
  return string;
}

JsonScanner::String JsonScanner::take_foreign_string(std::string_view opening) {
  const std::size_t inside = at_ + opening.size();
  std::string_view closing = opening;
  if (opening != "'") {
    std::size_t nearest = text_.size();
    for (const std::string_view each : kClosing) {
      const std::size_t found = std::min(text_.find(each, inside), text_.size());
      if (found < nearest) closing = each;
      nearest = std::min(nearest, found);
    }
  }
  ScannedString scanned = scan_string(text_, at_, opening, closing);
  const std::string& says = *scanned.decoded;
  const bool plain = scanned.faults.empty() && says.find_first_of("\"\\") == std::string::npos;
  fault(SyntaxKind::kQuotes, at_, scanned.end, fmt::format("{} instead of \"", opening),
        plain ? std::optional(replacement(at_, scanned.end, '"' + says + '"')) : std::nullopt);
  for (SyntaxFault& each : scanned.faults) {
    fault(each.kind, each.span.begin, each.span.end, std::move(each.what));
  }
  at_ = scanned.end;
  return {span(inside, scanned.end), std::move(scanned.decoded)};
}

std::optional<Span> JsonScanner::take_bare_key() {
  const std::size_t start = at_;
  while (!at_end() && is_word(here())) ++at_;
  if (at_ == start) return {};
  const std::string word(text_.substr(start, at_ - start));
  fault(SyntaxKind::kQuotes, start, at_, "a key without quotes",
        replacement(start, at_, '"' + word + '"'));
  return span(start, at_);
}

JsonKind JsonScanner::take_word() {
  const std::size_t start = at_;
  while (!at_end() && (is_word(here()) || static_cast<unsigned char>(here()) >= 0x80U)) {
    if (at("\uFF0C") || at("\u3001")) break;
    ++at_;
  }
  if (at_ == start) ++at_;  // a character that belongs nowhere
  const std::string_view word = text_.substr(start, at_ - start);
  if (word == "null") return JsonKind::kNull;
  if (word == "true" || word == "false") return JsonKind::kBool;
  if (is_number(word)) return JsonKind::kNumber;
  fault(SyntaxKind::kMalformed, start, at_, "no JSON value");
  return JsonKind::kBroken;
}

void JsonScanner::take_stray() {
  const std::size_t end = at_ + std::max<std::size_t>(1, utf8_length(text_, at_));
  fault(SyntaxKind::kMalformed, at_, end, "a character that belongs nowhere");
  at_ = end;
}

void JsonScanner::skip_nested() {
  std::size_t open = 0;
  do {
    const char c = here();
    if (c == '"') {
      at_ = scan_string(text_, at_, "\"", "\"").end;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++open;
    if (c == '}' || c == ']') --open;
  } while (open != 0 && !at_end());
}

}  // namespace commrig::topo
