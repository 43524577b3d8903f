// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "topo/cluster.h"
#include "topo/json_document.h"
#include "topo/table_finding.h"

namespace commrig::topo {

// What depends on the machines and the environment that the table is for.
struct CheckOptions {
  Chip chip = Chip::kAny;
  bool allow_initializing = false;  // a table that is not completed is no error
  std::optional<int> rank{};        // of the process, RANK_ID
  std::optional<int> device{};      // of the process, the physical number
  bool retry = true;                // backup addresses are used (HCCL_OP_RETRY_ENABLE)
  bool intra_roce = false;          // HCCL_INTRA_ROCE_ENABLE
  bool inter_hccs = true;           // not HCCL_INTER_HCCS_DISABLE
};

enum class Need : std::uint8_t {
  kRequired,
  kAdvised,  // the documents demand it, the reader does not
  kOptional,
  kUndocumented,  // optional; HCCL reads it, no document has it
  kIgnored        // not read by HCCL, and known from other programs
};
enum class Type : std::uint8_t { kText, kInteger, kList, kObject, kAny };

// A key of an object, as a row of the tables that describe each version.
struct Key {
  std::string_view name;
  Need need = Need::kOptional;
  Type type = Type::kText;
};
inline constexpr std::size_t kKeysMax = 24;

// One table on its way from a document into a cluster, with what is found on the way.
struct Reading {
  const JsonDocument& document;
  const CheckOptions& options;
  Findings& findings;
  Cluster& cluster;
  bool elided = false;  // values were left out somewhere
  // Keys that are not documented or not known, once for each kind of object.
  std::set<std::pair<const Key*, std::string>> odd_keys{};

  // `member` of `object` if it is there, else the object: where a finding about it points to.
  Node place(Node object, std::string_view member) const;
  // The value of a text or of a number, as text.
  std::string_view text(Node node) const;
};

// The members of one object, found, and their presence and types checked, in one pass.
class Fields {
 public:
  // Findings: kMissingKey, kWrongType, kEmptyList, kUnknownKey, kMisspeltKey. `object` may be any
  // node; what is no object is a finding and has no fields. At most kKeysMax keys.
  Fields(Reading& reading, Node object, std::span<const Key> keys);

  // kNoNode where it is absent or of a type that cannot be used.
  Node node(std::string_view key) const;
  bool has(std::string_view key) const { return node(key) != kNoNode; }
  std::string_view text(std::string_view key) const { return reading_->text(node(key)); }
  Node object() const { return object_; }

 private:
  void judge(std::size_t index, Node member);
  void judge_list(std::size_t index, Node member);
  void judge_integer(std::size_t index, Node member);
  void judge_unknown(Node member);
  bool is_first_of_its_kind(Node member);
  void require();

  Reading* reading_;
  Node object_;
  std::span<const Key> keys_;
  std::array<Node, kKeysMax> nodes_;
};

// A decimal number without sign, blanks or anything behind it, of 32 bits.
std::optional<std::uint32_t> decimal(std::string_view text);

// The number in `node`, which may be kNoNode. Where HCCL reads only the leading digits of a text,
// they are the number, and kUndocumented a finding.
std::optional<std::uint32_t> read_number(Reading& reading, Node node);
// A port in `key`: 0 where it is absent or wrong.
int read_port(Reading& reading, const Fields& fields, std::string_view key);
// The text in `key`; kTextLength unless it has `least` to `most` bytes.
std::string read_name(Reading& reading, const Fields& fields, std::string_view key,
                      std::size_t least, std::size_t most);
// The rank in `key`, -1 where it is no number.
int read_rank(Reading& reading, const Fields& fields, std::string_view key);
// A count in `key`; kCount unless it equals `size`.
void check_count(Reading& reading, const Fields& fields, std::string_view key, std::size_t size,
                 std::string_view of_what);

}  // namespace commrig::topo
