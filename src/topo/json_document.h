// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace commrig::topo {

// A value of a JsonDocument, by number. The numbers of one document mean nothing in another.
using Node = std::uint32_t;
inline constexpr Node kNoNode = 0xffffffff;

enum class JsonKind : std::uint8_t {
  kNull,
  kBool,
  kNumber,
  kString,
  kArray,
  kObject,
  kBroken  // something stands there that is no JSON value, or nothing
};
// "a number", "a list", ...
std::string_view describe(JsonKind kind);

// Bytes of a document: from `begin` up to `end`, without it.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

// Bytes to be replaced by others.
struct Edit {
  Span span;
  std::string text;
};

// What the strict grammar of JSON (RFC 8259) does not allow.
enum class SyntaxKind : std::uint8_t {
  kComment,
  kExtraComma,
  kMissingComma,
  kQuotes,        // quotes, colons and commas of another kind, or no quotes
  kEllipsis,      // "..." where values were left out
  kMalformed,     // everything else
  kDuplicateKey,  // allowed; readers take one of the values
  kTextAfterEnd
};

struct SyntaxFault {
  SyntaxKind kind = SyntaxKind::kMalformed;
  Span span;
  std::string what;            // one clause: "an object is not closed"
  std::optional<Edit> edit{};  // mends it without guessing what was meant
};

// Line and column count from 1; the column counts characters, not bytes.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

// JSON text with the place of every value, read as far as it can be understood: every deviation is
// a fault, and reading goes on behind it. Immutable after parse(); any number of threads may read.
// Views live as long as the document and survive its being moved.
class JsonDocument {
 public:
  // Objects and lists within each other; deeper ones are skipped, with a fault.
  static constexpr int kDepthMax = 64;
  // Faults that are kept; the rest is counted.
  static constexpr std::size_t kFaultsMax = 1000;
  // Longer texts are a single fault.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 30;

  // Never fails: what is no JSON at all gives a document with faults and without a root.
  static JsonDocument parse(std::string text);

  Node root() const { return nodes_.empty() ? kNoNode : 0; }
  // Nodes are 0 to node_count() - 1, each before what it holds.
  std::size_t node_count() const { return nodes_.size(); }
  JsonKind kind(Node node) const { return nodes_[node].kind; }
  bool is(Node node, JsonKind kind) const { return node != kNoNode && nodes_[node].kind == kind; }
  Span span(Node node) const { return {nodes_[node].begin, nodes_[node].end}; }
  // The bytes as they stand in the text.
  std::string_view raw(Node node) const { return cut(span(node)); }
  // What a string says, its escapes resolved; the node must be a string.
  std::string_view text(Node node) const;
  // The value of a number without fraction and exponent that fits; nothing for everything else.
  std::optional<std::int64_t> integer(Node node) const;

  // Elements of a list, members of an object; 0 for everything else.
  std::size_t size(Node node) const { return nodes_[node].children; }
  Node first(Node node) const { return nodes_[node].first; }
  Node next(Node node) const { return nodes_[node].next; }
  Node parent(Node node) const { return nodes_[node].parent; }
  // "..." stands directly in this list or object.
  bool elided(Node node) const { return nodes_[node].elided; }
  std::string_view key(Node member) const;
  Span key_span(Node member) const;
  // The last member of that name, as most readers have it; kNoNode where there is none or `object`
  // is no object.
  Node member(Node object, std::string_view name) const;

  // "server_list[0].device[3].rank_id"; "$" for the root.
  std::string path(Node node) const;
  Position position(std::size_t offset) const;
  // Line `number` without its end, empty where there is none.
  std::string_view line(std::size_t number) const;

  std::string_view source() const { return text_; }
  // In the order of their places.
  const std::vector<SyntaxFault>& faults() const { return faults_; }
  std::size_t faults_dropped() const { return faults_dropped_; }

 private:
  friend class JsonParser;
  // Small: large tables have a million.
  struct Entry {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t key_begin = 0;
    std::uint32_t key_end = 0;
    Node parent = kNoNode;
    Node first = kNoNode;
    Node next = kNoNode;
    std::uint32_t children = 0;
    std::uint32_t index = 0;          // among its parent's children
    std::uint32_t decoded = kNoNode;  // index into decoded_; kNoNode: the text itself
    JsonKind kind = JsonKind::kBroken;
    bool key_decoded = false;  // the key has escapes; see decoded_keys_
    bool elided = false;
  };
  void index_places();
  std::size_t characters_before(std::size_t offset) const;
  std::string_view cut(Span span) const {
    return std::string_view(text_).substr(span.begin, span.end - span.begin);
  }

  std::string text_;
  std::vector<Entry> nodes_;
  std::vector<std::string> decoded_;
  std::vector<std::pair<Node, std::string>> decoded_keys_;  // by rising node; there are few
  std::vector<std::uint32_t> line_starts_;
  // Characters before every kBlock bytes: a table may be a single line of many MiB.
  static constexpr std::size_t kBlock = 4096;
  std::vector<std::uint32_t> characters_;
  std::vector<SyntaxFault> faults_;
  std::size_t faults_dropped_ = 0;
};

}  // namespace commrig::topo
