// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/json_document.h"

#include <algorithm>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

namespace commrig::topo {
namespace {

// Bytes that go on a character of UTF-8 are none of their own.
std::uint32_t count_characters(std::string_view text) {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string_view describe(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "true or false";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kBroken:
      break;
  }
  return "no JSON value";
}

std::string_view JsonDocument::text(Node node) const {
  const Entry& entry = nodes_[node];
  if (entry.decoded != kNoNode) return decoded_[entry.decoded];
  // Without the quotes; a string that is not closed has none at its end, and is always decoded.
  return cut({entry.begin + 1, entry.end - 1});
}

std::optional<std::int64_t> JsonDocument::integer(Node node) const {
  if (!is(node, JsonKind::kNumber)) return {};
  const std::string_view digits = raw(node);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return value;
}

std::string_view JsonDocument::key(Node member) const {
  const Entry& entry = nodes_[member];
  if (entry.key_decoded) {
    const auto found =
        std::ranges::lower_bound(decoded_keys_, member, {},
                                 [](const std::pair<Node, std::string>& key) { return key.first; });
    if (found != decoded_keys_.end() && found->first == member) return found->second;
  }
  return cut(key_span(member));
}

Span JsonDocument::key_span(Node member) const {
  return {nodes_[member].key_begin, nodes_[member].key_end};
}

Node JsonDocument::member(Node object, std::string_view name) const {
  if (!is(object, JsonKind::kObject)) return kNoNode;
  Node found = kNoNode;
  for (Node child = first(object); child != kNoNode; child = next(child)) {
    if (key(child) == name) found = child;
  }
  return found;
}

std::string JsonDocument::path(Node node) const {
  std::vector<std::string> parts;
  for (Node at = node; at != kNoNode && parent(at) != kNoNode; at = parent(at)) {
    if (kind(parent(at)) == JsonKind::kObject) {
      parts.push_back(fmt::format(".{}", key(at)));
      continue;
    }
    parts.push_back(fmt::format("[{}]", nodes_[at].index));
  }
  std::string path;
  for (const std::string& part : std::views::reverse(parts)) path += part;
  if (path.empty()) return "$";
  return path.front() == '.' ? path.substr(1) : path;
}

void JsonDocument::index_places() {
  line_starts_.push_back(0);
  if (text_.size() > kBytesMax) return;
  std::uint32_t characters = 0;
  for (std::size_t begin = 0; begin <= text_.size(); begin += kBlock) {
    characters_.push_back(characters);
    characters += count_characters(std::string_view(text_).substr(begin, kBlock));
  }
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
  }
}

std::size_t JsonDocument::characters_before(std::size_t offset) const {
  const std::size_t block = offset / kBlock;
  if (block >= characters_.size()) return 0;
  return characters_[block] +
         count_characters(std::string_view(text_).substr(block * kBlock, offset - block * kBlock));
}

Position JsonDocument::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto after = std::ranges::upper_bound(line_starts_, offset);
  if (after == line_starts_.begin()) return {};
  return {static_cast<std::size_t>(after - line_starts_.begin()),
          characters_before(offset) - characters_before(*(after - 1)) + 1};
}

std::string_view JsonDocument::line(std::size_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[number - 1];
  const std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  std::string_view line = std::string_view(text_).substr(begin, end - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace commrig::topo
