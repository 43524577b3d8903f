// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "topo/json_document.h"
#include "topo/json_scanner.h"

namespace commrig::topo {

// Makes a document of the pieces that the scanner finds. Each step takes at least one byte or
// leaves its loop.
class JsonParser {
 public:
  explicit JsonParser(JsonDocument& document) : document_(document), scan_(document.text_) {}

  void run() {
    if (scan_.start()) read();
    std::ranges::sort(scan_.faults, {}, [](const SyntaxFault& fault) {
      return std::pair(fault.span.begin, fault.span.end);
    });
    document_.faults_ = std::move(scan_.faults);
    document_.faults_dropped_ = scan_.faults_dropped;
  }

 private:
  using Kind = JsonKind;

  void read() {
    if (!scan_.at_end()) value(kNoNode, {});
    scan_.skip_blank();
    if (!scan_.at_end() && document_.root() != kNoNode) {
      scan_.fault(SyntaxKind::kTextAfterEnd, scan_.place(), scan_.text().size(),
                  "text behind the end of the table");
    }
    find_repeated_keys();
  }

  Node add(Kind kind, Node parent, const JsonScanner::String& key) {
    const auto node = static_cast<Node>(document_.nodes_.size());
    JsonDocument::Entry entry;
    entry.kind = kind;
    entry.begin = static_cast<std::uint32_t>(scan_.place());
    entry.end = entry.begin;
    entry.key_begin = key.inside.begin;
    entry.key_end = key.inside.end;
    entry.parent = parent;
    if (key.decoded) {
      entry.key_decoded = true;
      document_.decoded_keys_.emplace_back(node, *key.decoded);
    }
    document_.nodes_.push_back(entry);
    if (parent == kNoNode) return node;
    JsonDocument::Entry& above = document_.nodes_[parent];
    Node& newest = last_[static_cast<std::size_t>(depth_ - 1)];
    document_.nodes_[node].index = above.children++;
    (above.first == kNoNode ? above.first : document_.nodes_[newest].next) = node;
    newest = node;
    return node;
  }
  void close(Node node) { document_.nodes_[node].end = static_cast<std::uint32_t>(scan_.place()); }

  // A value, which begins here: there is at least one byte.
  void value(Node parent, const JsonScanner::String& key) {
    const char first = scan_.here();
    if (first == '{' || first == '[') return nested(parent, key);
    const Node node = add(Kind::kString, parent, key);
    if (auto string = scan_.take_string()) {
      if (string->decoded) {
        document_.nodes_[node].decoded = static_cast<Node>(document_.decoded_.size());
        document_.decoded_.push_back(*std::move(string->decoded));
      }
    } else {
      document_.nodes_[node].kind = scan_.take_word();
    }
    close(node);
  }

  void nested(Node parent, const JsonScanner::String& key) {
    const bool is_object = scan_.here() == '{';
    const std::size_t start = scan_.place();
    const Node node = add(is_object ? Kind::kObject : Kind::kArray, parent, key);
    if (depth_ == JsonDocument::kDepthMax) {
      scan_.fault(SyntaxKind::kMalformed, start, start + 1,
                  fmt::format("more than {} lists and objects within each other", depth_));
      scan_.skip_nested();
      return close(node);
    }
    scan_.step();
    ++depth_;
    open_[static_cast<std::size_t>(depth_ - 1)] = is_object ? '}' : ']';
    if (!elements(node, is_object ? '}' : ']')) {
      scan_.fault(SyntaxKind::kMalformed, start, start + 1,
                  is_object ? "an object is not closed" : "a list is not closed");
    }
    --depth_;
    close(node);
  }

  // The inside of a list or object, up to and with `closing`. False where it doesn't come.
  bool elements(Node node, char closing) {
    bool separated = true;                       // no comma is due
    std::size_t comma = std::string_view::npos;  // the last token, if it was a comma
    for (;;) {
      const std::size_t before = scan_.place();
      scan_.skip_blank();
      if (scan_.at_end()) return false;
      const std::size_t start = scan_.place();
      if (scan_.here() == '}' || scan_.here() == ']') {
        const Closed closed = close_bracket(closing);
        if (closed == Closed::kStray) continue;
        if (closed == Closed::kThis && comma != std::string_view::npos) extra_comma(comma);
        return closed == Closed::kThis;
      }
      if (scan_.take(',')) {
        if (separated) extra_comma(start);
        if (!separated) comma = start;
        separated = true;
        continue;
      }
      comma = std::string_view::npos;
      if (scan_.take_ellipsis()) {
        document_.nodes_[node].elided = true;
        separated = true;
        continue;
      }
      if (!separated) {
        scan_.fault(SyntaxKind::kMissingComma, before, before, "no comma behind this value",
                    replacement(before, before, ","));
      }
      separated = closing == '}' ? !member(node) : (value(node, {}), false);
    }
  }

  // What a closing bracket closes: this list or object, one further out, because this one was
  // forgotten, or nothing.
  enum class Closed { kThis, kOuter, kStray };
  Closed close_bracket(char closing) {
    const char bracket = scan_.here();
    const std::string_view outer(open_.data(), static_cast<std::size_t>(depth_ - 1));
    if (bracket != closing && outer.find(bracket) != std::string_view::npos) {
      return Closed::kOuter;
    }
    const std::size_t start = scan_.place();
    scan_.step();
    if (bracket == closing) return Closed::kThis;
    scan_.fault(SyntaxKind::kMalformed, start, start + 1,
                fmt::format("{} closes nothing", bracket));
    return Closed::kStray;
  }
  void extra_comma(std::size_t comma) {
    scan_.fault(SyntaxKind::kExtraComma, comma, comma + 1, "a comma that separates nothing",
                replacement(comma, comma + 1, ""));
  }

  // Key, colon and value. False where it was none of that.
  bool member(Node object) {
    JsonScanner::String key;
    const std::size_t start = scan_.place();
    if (auto string = scan_.take_string()) {
      key = *std::move(string);
    } else if (const auto bare = scan_.take_bare_key()) {
      key.inside = *bare;
    } else if (scan_.here() == '{' || scan_.here() == '[') {
      scan_.fault(SyntaxKind::kMalformed, start, start + 1, "a value without a key");
      const auto here = static_cast<std::uint32_t>(start);
      value(object, {.inside = {here, here}});
      return true;
    } else {
      scan_.take_stray();
      return false;
    }
    member_value(object, key, start);
    return true;
  }

  // The rest of a member whose key starts at `start`.
  void member_value(Node object, const JsonScanner::String& key, std::size_t start) {
    const std::size_t behind = scan_.place();
    scan_.skip_blank();
    if (!scan_.take(':')) {
      scan_.fault(SyntaxKind::kMalformed, behind, behind, "no colon behind this key");
    }
    scan_.skip_blank();
    const char first = scan_.here();
    if (!scan_.at_end() && first != ',' && first != '}' && first != ']') return value(object, key);
    scan_.fault(SyntaxKind::kMalformed, start, behind, "no value behind this key");
    close(add(Kind::kBroken, object, key));
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
        scan_.fault(SyntaxKind::kDuplicateKey, key.begin, key.end,
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
  JsonScanner scan_;
  int depth_ = 0;
  std::array<Node, kDepth> last_{};  // the newest child, by depth
  std::array<char, kDepth> open_{};  // what closes each level
};

JsonDocument JsonDocument::parse(std::string text) {
  JsonDocument document;
  document.text_ = std::move(text);
  document.index_places();
  JsonParser(document).run();
  return document;
}

}  // namespace commrig::topo
