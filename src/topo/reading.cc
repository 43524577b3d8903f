// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/reading.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/edit_distance.h"

namespace commrig::topo {
namespace {

// Without case, dashes and underscores, so that serverId is server_id.
std::string plain(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '_' || c == '-' || c == ' ') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

constexpr std::size_t kKeyBytesCompared = 40;

bool looks_like(std::string_view key, std::string_view known) {
  if (key.size() > kKeyBytesCompared || key.empty()) return false;
  const std::string plain_known = plain(known);
  const std::size_t most = plain_known.size() >= 8 ? 2 : plain_known.size() / 6;
  return edit_distance(plain(key), plain_known) <= most;
}

}  // namespace

Node Reading::place(Node object, std::string_view member) const {
  const Node node = document.member(object, member);
  return node != kNoNode ? node : object;
}

std::string_view Reading::text(Node node) const {
  if (node == kNoNode) return {};
  if (document.is(node, JsonKind::kString)) return document.text(node);
  return document.is(node, JsonKind::kNumber) ? document.raw(node) : std::string_view();
}

Fields::Fields(Reading& reading, Node object, std::span<const Key> keys)
    : reading_(&reading), object_(object), keys_(keys) {
  COMMRIG_CHECK(keys.size() <= kKeysMax, "more keys than an object has room for");
  nodes_.fill(kNoNode);
  const JsonDocument& document = reading.document;
  if (!document.is(object, JsonKind::kObject)) {
    if (!document.is(object, JsonKind::kBroken)) {
      reading.findings.add_value(Rule::kWrongType, object, "an object");
    }
    return;
  }
  for (Node member = document.first(object); member != kNoNode; member = document.next(member)) {
    const std::string_view key = document.key(member);
    const auto row = std::ranges::find(keys, key, &Key::name);
    if (row == keys.end()) {
      judge_unknown(member);
    } else {
      judge(static_cast<std::size_t>(row - keys.begin()), member);
    }
  }
  if (document.elided(object)) {
    reading.elided = true;
  } else {
    require();
  }
}

void Fields::require() {
  const JsonDocument& document = reading_->document;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Key& key = keys_[i];
    const bool needed = key.need == Need::kRequired || key.need == Need::kAdvised;
    if (!needed || nodes_[i] != kNoNode) continue;
    if (document.member(object_, key.name) != kNoNode) continue;  // it is there and was judged
    TableFinding& finding = reading_->findings.add(Rule::kMissingKey, object_);
    finding.variable = std::string(key.name);
    finding.expected = fmt::format("\"{}\"", key.name);
    if (key.need == Need::kAdvised) {
      finding.severity = Severity::kWarning;
      finding.detail = "documents require it, HCCL reads the table without it";
    }
  }
}

void Fields::judge(std::size_t index, Node member) {
  const JsonDocument& document = reading_->document;
  const Key& key = keys_[index];
  const JsonKind kind = document.kind(member);
  if (key.need == Need::kUndocumented && is_first_of_its_kind(member)) {
    reading_->findings.add_key(Rule::kUndocumented, member).found = fmt::format("\"{}\"", key.name);
  }
  if (key.need == Need::kIgnored || key.type == Type::kAny) {
    nodes_[index] = member;
  } else if (kind == JsonKind::kBroken) {
    // It is a fault of the text already.
  } else if (key.type == Type::kList) {
    judge_list(index, member);
  } else if (key.type == Type::kInteger) {
    judge_integer(index, member);
  } else if (kind == (key.type == Type::kText ? JsonKind::kString : JsonKind::kObject)) {
    nodes_[index] = member;
  } else {
    TableFinding& finding = reading_->findings.add_value(
        Rule::kWrongType, member, key.type == Type::kText ? "a string" : "an object");
    if (key.type != Type::kText || kind != JsonKind::kNumber) return;
    nodes_[index] = member;
    finding.edit = Edit{document.span(member), fmt::format("\"{}\"", document.raw(member))};
  }
}

void Fields::judge_list(std::size_t index, Node member) {
  const JsonDocument& document = reading_->document;
  if (document.is(member, JsonKind::kArray)) {
    nodes_[index] = member;
    if (document.elided(member)) reading_->elided = true;
    if (document.size(member) != 0 || document.elided(member)) return;
  }
  const bool absent = document.is(member, JsonKind::kNull) || document.is(member, JsonKind::kArray);
  reading_->findings.add_value(absent ? Rule::kEmptyList : Rule::kWrongType, member,
                               "a list with at least one entry");
}

void Fields::judge_integer(std::size_t index, Node member) {
  const JsonDocument& document = reading_->document;
  if (document.integer(member)) {
    nodes_[index] = member;
    return;
  }
  TableFinding& finding =
      reading_->findings.add_value(Rule::kWrongType, member, "a number without quotes");
  if (document.is(member, JsonKind::kNumber)) {
    finding.severity = Severity::kWarning;
    finding.accepted = true;
    finding.detail = "HCCL cuts off what stands behind the point";
  } else if (const auto number = decimal(reading_->text(member))) {
    finding.edit = Edit{document.span(member), std::to_string(*number)};
  }
}

bool Fields::is_first_of_its_kind(Node member) {
  return reading_->odd_keys.emplace(keys_.data(), std::string(reading_->document.key(member)))
      .second;
}

void Fields::judge_unknown(Node member) {
  const std::string_view key = reading_->document.key(member);
  if (!is_first_of_its_kind(member)) return;
  const auto near = std::ranges::find_if(keys_, [&](const Key& known) {
    return looks_like(key, known.name) && reading_->document.member(object_, known.name) == kNoNode;
  });
  TableFinding& finding = reading_->findings.add_key(
      near == keys_.end() ? Rule::kUnknownKey : Rule::kMisspeltKey, member);
  finding.found = fmt::format("\"{}\"", key.substr(0, kKeyBytesCompared));
  if (near != keys_.end()) finding.expected = fmt::format("\"{}\"", near->name);
}

Node Fields::node(std::string_view key) const {
  const auto row = std::ranges::find(keys_, key, &Key::name);
  COMMRIG_CHECK(row != keys_.end(), "a key that is in no table");
  return nodes_[static_cast<std::size_t>(row - keys_.begin())];
}

std::optional<std::uint32_t> decimal(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool signs = text.empty() || text.front() < '0' || text.front() > '9';
  if (signs || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<std::uint32_t> read_number(Reading& reading, Node node) {
  const std::string_view text = reading.text(node);
  const auto strict = decimal(text);
  if (strict || !reading.document.is(node, JsonKind::kString)) return strict;
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
  const auto number = decimal(text.substr(begin, end - begin));
  if (number) {
    reading.findings.add_value(Rule::kUndocumented, node, fmt::format("\"{}\"", *number)).detail =
        "HCCL reads the leading digits";
  }
  return number;
}

int read_port(Reading& reading, const Fields& fields, std::string_view key) {
  const Node node = fields.node(key);
  if (node == kNoNode) return 0;
  const auto port = read_number(reading, node);
  if (!port || *port == 0 || *port > 65535) {
    reading.findings.add_value(Rule::kPort, node, "1 to 65535");
    return 0;
  }
  if (*port < 1024) reading.findings.add_value(Rule::kLowPort, node, "1024 to 65535");
  return static_cast<int>(*port);
}

std::string read_name(Reading& reading, const Fields& fields, std::string_view key,
                      std::size_t least, std::size_t most) {
  const Node node = fields.node(key);
  if (node == kNoNode) return {};
  const std::string_view text = reading.text(node);
  if (text.size() < least || text.size() > most) {
    reading.findings
        .add_value(Rule::kTextLength, node, fmt::format("{} to {} characters", least, most))
        .detail = fmt::format("it has {}", text.size());
  }
  return std::string(text);
}

int read_rank(Reading& reading, const Fields& fields, std::string_view key) {
  const Node node = fields.node(key);
  if (node == kNoNode) return -1;
  const auto rank = read_number(reading, node);
  if (rank && *rank <= 0x7fffffffU) return static_cast<int>(*rank);
  reading.findings.add_value(Rule::kRankNumber, node, "a decimal number from 0");
  return -1;
}

void check_count(Reading& reading, const Fields& fields, std::string_view key, std::size_t size,
                 std::string_view of_what) {
  const Node node = fields.node(key);
  if (node == kNoNode || reading.elided) return;
  const auto count = read_number(reading, node);
  if (count == size && size != 0) return;
  reading.findings.add_value(Rule::kCount, node,
                             fmt::format("{}, the number of {}", size, of_what));
}

int add_server(Cluster& cluster, Server server) {
  cluster.servers.push_back(std::move(server));
  return static_cast<int>(cluster.servers.size()) - 1;
}

void add_rank(Cluster& cluster, Rank rank) {
  cluster.servers[static_cast<std::size_t>(rank.server)].ranks.push_back(
      static_cast<std::uint32_t>(cluster.ranks.size()));
  cluster.ranks.push_back(std::move(rank));
}

}  // namespace commrig::topo
