// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "topo/json_document.h"
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

}  // namespace

// Reads one text into a document. Each step takes at least one byte or leaves its loop.
class JsonParser {
 public:
  explicit JsonParser(JsonDocument& document) : document_(document), text_(document.text_) {}

  void run() {
    if (!readable()) return;
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte-order mark is skipped by all readers
    skip_to_table();
    if (at_ < text_.size()) value(kNoNode, {});
    skip_blank();
    if (at_ < text_.size() && document_.root() != kNoNode) {
      fault(SyntaxKind::kTextAfterEnd, at_, text_.size(), "text behind the end of the table");
    }
    find_repeated_keys();
    std::ranges::sort(document_.faults_, {}, [](const SyntaxFault& fault) {
      return std::pair(fault.span.begin, fault.span.end);
    });
  }

 private:
  using Kind = JsonKind;

  void fault(SyntaxKind kind, std::size_t begin, std::size_t end, std::string what,
             std::optional<Edit> edit = {}) {
    if (document_.faults_.size() >= JsonDocument::kFaultsMax) {
      ++document_.faults_dropped_;
      return;
    }
    document_.faults_.push_back({kind, span(begin, end), std::move(what), std::move(edit)});
  }
  static Span span(std::size_t begin, std::size_t end) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  static Edit replace(std::size_t begin, std::size_t end, std::string text) {
    return {span(begin, end), std::move(text)};
  }

  bool at(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  bool at_end() const { return at_ >= text_.size(); }
  char here() const { return at_end() ? '\0' : text_[at_]; }

  // Texts of two bytes a character, and such that are too long.
  bool readable() {
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

  // A table that was copied from a page may have words before it.
  void skip_to_table() {
    skip_blank();
    if (at_end() || here() == '{' || here() == '[') return;
    const std::size_t start = text_.find_first_of("{[", at_);
    if (start == std::string_view::npos) return;
    fault(SyntaxKind::kMalformed, at_, start, "text before the table");
    at_ = start;
  }

  void skip_blank() {
    while (!at_end()) {
      if (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r') {
        ++at_;
      } else if (at("//") || here() == '#') {
        comment(std::min(text_.find('\n', at_), text_.size()));
      } else if (at("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        comment(end == std::string_view::npos ? text_.size() : end + 2);
      } else if (at("\u00A0") || at("\u3000")) {  // other blanks
        const std::size_t length = at("\u00A0") ? 2 : 3;
        fault(SyntaxKind::kMalformed, at_, at_ + length, "a blank that JSON does not know",
              replace(at_, at_ + length, " "));
        at_ += length;
      } else {
        return;
      }
    }
  }
  void comment(std::size_t end) {
    std::size_t visible = end;
    while (visible > at_ && (text_[visible - 1] == '\r' || text_[visible - 1] == ' ')) --visible;
    fault(SyntaxKind::kComment, at_, visible, "a comment", replace(at_, visible, ""));
    at_ = end;
  }

  // "..." and the one character for it; a comma behind it belongs to it.
  bool ellipsis() {
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

  // A comma or colon, or what looks like one.
  bool take(char wanted) {
    if (here() == wanted) {
      ++at_;
      return true;
    }
    for (const LookAlike& alike : kLookAlikes) {
      if (alike.meant != wanted || !at(alike.found)) continue;
      fault(SyntaxKind::kQuotes, at_, at_ + alike.found.size(),
            fmt::format("{} instead of {}", alike.found, wanted),
            replace(at_, at_ + alike.found.size(), std::string(1, wanted)));
      at_ += alike.found.size();
      return true;
    }
    return false;
  }

  // The quote that opens a string here: itself and what closes it.
  std::optional<std::pair<std::string_view, std::vector<std::string_view>>> quote() const {
    if (here() == '"') return {{"\"", {"\""}}};
    if (here() == '\'') return {{"'", {"'"}}};
    for (const LookAlike& alike : kLookAlikes) {
      if (alike.meant == '"' && at(alike.found)) {
        return {{alike.found, {"\u201D", "\u201C", "\uFF02", "\""}}};
      }
    }
    return {};
  }

  ScannedString string(std::string_view opening, const std::vector<std::string_view>& closings) {
    if (opening == "\"") return scan_string(text_, at_, opening, opening);
    // The nearest of the quotes that may close it.
    std::size_t nearest = text_.size();
    std::string_view closing = closings.front();
    for (const std::string_view each : closings) {
      const std::size_t found = std::min(text_.find(each, at_ + opening.size()), text_.size());
      if (found < nearest) closing = each;
      nearest = std::min(nearest, found);
    }
    ScannedString scanned = scan_string(text_, at_, opening, closing);
    const std::string& says = *scanned.decoded;
    const bool plain = scanned.faults.empty() && says.find_first_of("\"\\") == std::string::npos;
    fault(SyntaxKind::kQuotes, at_, scanned.end, fmt::format("{} instead of \"", opening),
          plain ? std::optional(replace(at_, scanned.end, '"' + says + '"')) : std::nullopt);
    return scanned;
  }

  struct Key {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::optional<std::string> decoded{};
  };

  Node add(Kind kind, Node parent, const Key& key) {
    const auto node = static_cast<Node>(document_.nodes_.size());
    JsonDocument::Entry entry;
    entry.kind = kind;
    entry.begin = static_cast<std::uint32_t>(at_);
    entry.end = entry.begin;
    entry.key_begin = static_cast<std::uint32_t>(key.begin);
    entry.key_end = static_cast<std::uint32_t>(key.end);
    entry.parent = parent;
    if (key.decoded) {
      entry.key_decoded = true;
      document_.decoded_keys_.emplace_back(node, *key.decoded);
    }
    document_.nodes_.push_back(entry);
    if (parent != kNoNode) {
      JsonDocument::Entry& above = document_.nodes_[parent];
      document_.nodes_[node].index = above.children++;
      if (above.first == kNoNode) {
        above.first = node;
      } else {
        document_.nodes_[last_[static_cast<std::size_t>(depth_ - 1)]].next = node;
      }
      last_[static_cast<std::size_t>(depth_ - 1)] = node;
    }
    return node;
  }
  void close(Node node) { document_.nodes_[node].end = static_cast<std::uint32_t>(at_); }

  // A value, which begins here: there is at least one byte.
  void value(Node parent, const Key& key) {
    if (here() == '{' || here() == '[') return nested(parent, key);
    const auto opening = quote();
    if (opening) {
      const Node node = add(Kind::kString, parent, key);
      ScannedString scanned = string(opening->first, opening->second);
      for (SyntaxFault& each : scanned.faults) {
        fault(each.kind, each.span.begin, each.span.end, std::move(each.what));
      }
      if (scanned.decoded) {
        document_.nodes_[node].decoded = static_cast<Node>(document_.decoded_.size());
        document_.decoded_.push_back(*std::move(scanned.decoded));
      }
      at_ = scanned.end;
      return close(node);
    }
    word(parent, key);
  }

  void word(Node parent, const Key& key) {
    const Node node = add(Kind::kBroken, parent, key);
    const std::size_t start = at_;
    while (!at_end() && (is_word(here()) || static_cast<unsigned char>(here()) >= 0x80U)) {
      if (at("\uFF0C") || at("\u3001")) break;
      ++at_;
    }
    if (at_ == start) ++at_;  // a character that belongs nowhere
    const std::string_view word = text_.substr(start, at_ - start);
    JsonDocument::Entry& entry = document_.nodes_[node];
    if (word == "null") {
      entry.kind = Kind::kNull;
    } else if (word == "true" || word == "false") {
      entry.kind = Kind::kBool;
    } else if (is_number(word)) {
      entry.kind = Kind::kNumber;
    } else {
      fault(SyntaxKind::kMalformed, start, at_, "no JSON value");
    }
    close(node);
  }

  void nested(Node parent, const Key& key) {
    const bool is_object = here() == '{';
    const Node node = add(is_object ? Kind::kObject : Kind::kArray, parent, key);
    if (depth_ == JsonDocument::kDepthMax) {
      fault(SyntaxKind::kMalformed, at_, at_ + 1,
            fmt::format("more than {} lists and objects within each other", depth_));
      skip_nested();
      return close(node);
    }
    const std::size_t start = at_;
    ++at_;
    ++depth_;
    open_[static_cast<std::size_t>(depth_ - 1)] = is_object ? '}' : ']';
    if (!elements(node, is_object ? '}' : ']')) {
      fault(SyntaxKind::kMalformed, start, start + 1,
            is_object ? "an object is not closed" : "a list is not closed");
    }
    --depth_;
    close(node);
  }

  // Past what is too deep, by its brackets alone.
  void skip_nested() {
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

  // A bracket that closes something further out: this one was forgotten.
  bool closes_outer(char bracket) const {
    return std::find(open_.begin(), open_.begin() + depth_ - 1, bracket) !=
           open_.begin() + depth_ - 1;
  }

  // The inside of a list or object, up to and with `closing`. False where it doesn't come.
  bool elements(Node node, char closing) {
    bool separated = true;                       // no comma is due
    std::size_t comma = std::string_view::npos;  // the last token, if it was a comma
    for (;;) {
      const std::size_t before = at_;
      skip_blank();
      if (at_end()) return false;
      const char c = here();
      if (c == '}' || c == ']') {
        if (c != closing && closes_outer(c)) return false;
        if (c != closing) {
          fault(SyntaxKind::kMalformed, at_, at_ + 1, fmt::format("{} closes nothing", c));
          ++at_;
          continue;
        }
        if (comma != std::string_view::npos) extra_comma(comma);
        ++at_;
        return true;
      }
      if (const std::size_t start = at_; take(',')) {
        if (separated) extra_comma(start);
        if (!separated) comma = start;
        separated = true;
        continue;
      }
      if (ellipsis()) {
        document_.nodes_[node].elided = true;
        separated = true;
        comma = std::string_view::npos;
        continue;
      }
      if (!separated) {
        fault(SyntaxKind::kMissingComma, before, before, "no comma behind this value",
              replace(before, before, ","));
      }
      comma = std::string_view::npos;
      separated = closing == '}' ? !member(node) : (value(node, {}), false);
    }
  }
  void extra_comma(std::size_t comma) {
    fault(SyntaxKind::kExtraComma, comma, comma + 1, "a comma that separates nothing",
          replace(comma, comma + 1, ""));
  }

  // Key, colon and value. False where it was none of that.
  bool member(Node object) {
    Key name;
    const std::size_t start = at_;
    if (const auto opening = quote()) {
      ScannedString scanned = string(opening->first, opening->second);
      for (SyntaxFault& each : scanned.faults) {
        fault(each.kind, each.span.begin, each.span.end, std::move(each.what));
      }
      name = {start + opening->first.size(), scanned.end, std::move(scanned.decoded)};
      if (!name.decoded) --name.end;
      at_ = scanned.end;
    } else if (is_word(here())) {
      while (is_word(here())) ++at_;
      name = {start, at_};
      const std::string word(text_.substr(start, at_ - start));
      fault(SyntaxKind::kQuotes, start, at_, "a key without quotes",
            replace(start, at_, '"' + word + '"'));
    } else if (here() == '{' || here() == '[') {
      fault(SyntaxKind::kMalformed, at_, at_ + 1, "a value without a key");
      value(object, {at_, at_});
      return true;
    } else {
      std::size_t length = std::max<std::size_t>(1, utf8_length(text_, at_));
      fault(SyntaxKind::kMalformed, at_, at_ + length, "a character that belongs nowhere");
      at_ += length;
      return false;
    }
    const std::size_t behind = at_;
    skip_blank();
    if (!take(':')) {
      fault(SyntaxKind::kMalformed, behind, behind, "no colon behind this key");
    } else {
      skip_blank();
    }
    if (at_end() || here() == ',' || here() == '}' || here() == ']') {
      fault(SyntaxKind::kMalformed, start, behind, "no value behind this key");
      close(add(Kind::kBroken, object, name));
    } else {
      value(object, name);
    }
    return true;
  }

  void find_repeated_keys() {
    std::unordered_set<std::string_view> seen;
    for (Node node = 0; node < document_.nodes_.size(); ++node) {
      if (document_.kind(node) != Kind::kObject || document_.size(node) < 2) continue;
      seen.clear();
      for (Node child = document_.first(node); child != kNoNode; child = document_.next(child)) {
        const bool few = document_.size(node) <= kFew;
        const bool again =
            few ? stands_before(node, child) : !seen.insert(document_.key(child)).second;
        if (!again) continue;
        const Span key = document_.key_span(child);
        fault(SyntaxKind::kDuplicateKey, key.begin, key.end,
              fmt::format("the key \"{}\" stands twice", document_.key(child)));
      }
    }
  }
  bool stands_before(Node object, Node child) const {
    for (Node other = document_.first(object); other != child; other = document_.next(other)) {
      if (document_.key(other) == document_.key(child)) return true;
    }
    return false;
  }

  static constexpr std::size_t kFew = 16;
  static constexpr std::size_t kDepth = JsonDocument::kDepthMax;

  JsonDocument& document_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::array<Node, kDepth> last_{};  // the newest child, by depth
  std::array<char, kDepth> open_{};  // what closes each level
};

JsonDocument JsonDocument::parse(std::string text) {
  JsonDocument document;
  document.text_ = std::move(text);
  document.line_starts_.push_back(0);
  const std::string_view all = document.text_;
  if (all.size() <= kBytesMax) {
    for (std::size_t at = all.find('\n'); at != std::string_view::npos;
         at = all.find('\n', at + 1)) {
      document.line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
    }
  }
  JsonParser(document).run();
  return document;
}

}  // namespace commrig::topo
