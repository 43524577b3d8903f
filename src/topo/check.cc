// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/check.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "topo/checks.h"
#include "topo/form.h"
#include "topo/ip.h"
#include "topo/readers.h"
#include "topo/syntax.h"

namespace commrig::topo {
namespace {

constexpr std::size_t kTextBytesMax = std::size_t{40} << 20;  // of a table before 2.0

// What comes of giving HCCL a file that is made for another program.
std::string_view reaction_to(Form form) {
  switch (form) {
    case Form::kJobSummary:
      return "none: it waits, since the status of a summary is never \"completed\"";
    case Form::kLocalResource:
      return "none: not read in this form; as a rank table it lacks rank_id (EI0017)";
    default:
      return {};
  }
}

// What is no rank table: named, and looked through for values that nobody knew.
void report_foreign(Reading& reading) {
  const JsonDocument& document = reading.document;
  const Form form = reading.cluster.form;
  TableFinding& finding = reading.findings.add(
      form == Form::kNone ? Rule::kNoTable : Rule::kForeignFile, document.root());
  finding.found = form == Form::kNone && document.root() != kNoNode
                      ? std::string(describe(document.kind(document.root())))
                      : std::string(describe(form));
  finding.reaction = reaction_to(form);
  if (document.root() == kNoNode) {
    finding.found = "nothing";
    finding.reaction = "EI0004: the file is no JSON";
  }
  const auto size = static_cast<Node>(document.node_count());
  for (Node node = 0; node < size; ++node) {
    if (!document.is(node, JsonKind::kString) || document.parent(node) == kNoNode) continue;
    const std::string_view key = document.key(node);
    if (key != "device_ip" && key != "super_device_id") continue;
    if (!is_placeholder(document.text(node))) continue;
    reading.findings.add_value(Rule::kPlaceholder, node, "the value of the device").reaction =
        "none: a producer refuses it, or copies it into the table";
  }
}

struct Versions {
  Form form;
  std::string_view version;
  std::string_view chips;  // those that documents have for it
};
constexpr std::array kVersions{Versions{Form::kCloud, "", "910"},
                               Versions{Form::kLab, "", "910 310p"},
                               Versions{Form::kV10, "1.0", "910 310p a2 a3"},
                               Versions{Form::kV11, "1.1", "a2 a3"},
                               Versions{Form::kV12, "1.2", "a2 a3"},
                               Versions{Form::kV20, "2.0", "950"}};

const Versions& versions_of(Form form) {
  return *std::ranges::find(kVersions, form, &Versions::form);
}

void check_version(Reading& reading) {
  const JsonDocument& document = reading.document;
  const Node node = document.member(document.root(), "version");
  const Versions& row = versions_of(reading.cluster.form);
  if (node == kNoNode || row.version.empty()) {
    if (node != kNoNode) {
      reading.findings.add_value(Rule::kVersion, node, "no version in the old template");
    }
    return;
  }
  const std::string_view version = reading.text(node);
  if (version == row.version) return;
  const bool known = !version.empty() &&
                     std::ranges::find(kVersions, version, &Versions::version) != kVersions.end();
  TableFinding& finding = reading.findings.add_value(
      Rule::kVersion, node,
      known ? fmt::format("\"{}\"", row.version) : "\"1.0\", \"1.1\", \"1.2\" or \"2.0\"");
  finding.detail = fmt::format("the keys are those of {}", row.version);
}

void check_chip(Reading& reading) {
  const JsonDocument& document = reading.document;
  const Chip chip = reading.options.chip;
  const Versions& row = versions_of(reading.cluster.form);
  const Node place = reading.place(document.root(), "version");
  if (chip == Chip::kAny) {
    TableFinding& finding = reading.findings.add(Rule::kChipUnknown, document.root());
    finding.detail = fmt::format("only those that all chips of this form share ({})", row.chips);
    return;
  }
  if (row.chips.find(name(chip)) != std::string_view::npos) return;
  const bool refused = (chip == Chip::k950) != (reading.cluster.form == Form::kV20);
  TableFinding& finding = reading.findings.add(Rule::kVersionChip, place);
  finding.found =
      place == document.root() ? std::string("no version") : std::string(document.raw(place));
  finding.expected =
      chip == Chip::k950 ? "\"2.0\" on 950" : fmt::format("\"1.0\" on {}", name(chip));
  if (refused) return;
  finding.severity = Severity::kWarning;
  finding.accepted = true;
  finding.detail = "no document has this form for this chip, the reader takes it";
}

// False where what stands in the table is not meant to be read yet.
bool check_status(Reading& reading) {
  const JsonDocument& document = reading.document;
  const Node node = document.member(document.root(), "status");
  reading.cluster.status = reading.text(node);
  if (!document.is(node, JsonKind::kString) || reading.cluster.status == "completed") return true;
  TableFinding& finding = reading.findings.add_value(Rule::kNotCompleted, node, "\"completed\"");
  if (reading.cluster.form == Form::kV20) {
    finding.severity = Severity::kWarning;
    finding.accepted = true;
    return true;
  }
  if (reading.options.allow_initializing) finding.severity = Severity::kNote;
  return reading.cluster.status != "initializing";
}

void read_form(Reading& reading) {
  switch (reading.cluster.form) {
    case Form::kV10:
    case Form::kV12:
      return read_concise(reading);
    case Form::kV11:
      return read_nodes(reading);
    case Form::kCloud:
    case Form::kLab:
      return read_old(reading);
    case Form::kV20:
      return read_levels(reading);
    default:
      return;
  }
}

void apply_rules(Reading& reading) {
  check_version(reading);
  check_chip(reading);
  if (!check_status(reading)) return;
  read_form(reading);
  check_ranks(reading);
  check_devices(reading);
  check_servers(reading);
  check_addresses(reading);
  check_pods(reading);
  check_backups(reading);
  check_levels(reading);
  if (reading.elided) reading.findings.add(Rule::kElided, reading.document.root());
}

void check_length(Reading& reading) {
  const std::size_t size = reading.document.source().size();
  if (size <= kTextBytesMax || reading.cluster.form == Form::kV20) return;
  TableFinding& finding = reading.findings.add(Rule::kTooLong, reading.document.root());
  finding.severity = Severity::kWarning;
  finding.found = fmt::format("{} bytes", size);
  finding.expected = fmt::format("at most {} where it is given as text", kTextBytesMax);
}

// The reader of 2.0 has no codes for much that the others have one for.
void use_reactions_of_20(std::vector<TableFinding>& findings) {
  constexpr std::string_view kException = "none: the text of an exception";
  for (TableFinding& finding : findings) {
    const bool is_number = finding.rule == Rule::kDeviceId || finding.rule == Rule::kLayer ||
                           finding.rule == Rule::kPort;
    if (is_number && finding.found.starts_with('-')) {
      finding.reaction = "EI0014: the value is negative";
      continue;
    }
    switch (finding.rule) {
      case Rule::kWrongType:
        finding.reaction = finding.expected.starts_with("a list")
                               ? "EI0014: the value of the list is wrong"
                               : kException;
        break;
      case Rule::kDeviceId:
      case Rule::kEmptyList:
      case Rule::kPlaceholder:
      case Rule::kPort:
        finding.reaction = kException;
        break;
      case Rule::kLocalId:
        if (const auto found = decimal(finding.found); found && *found > 64) {
          finding.reaction = kException;
        }
        break;
      case Rule::kEid:
        if (finding.found == "\"\"") finding.reaction = "EI0014: the value \"\" of addr is wrong";
        break;
      default:
        break;
    }
  }
}

}  // namespace

std::size_t CheckedTable::count(Severity severity) const {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &TableFinding::severity));
}

CheckedTable check_table(std::string text, const CheckOptions& options) {
  CheckedTable table;
  table.document = JsonDocument::parse(std::move(text));
  table.cluster.form = recognise(table.document);
  Findings findings(table.document);
  add_syntax(table.document, findings);
  Reading reading{.document = table.document,
                  .options = options,
                  .findings = findings,
                  .cluster = table.cluster};
  if (table.is_table()) {
    check_length(reading);
    apply_rules(reading);
  } else {
    report_foreign(reading);
  }
  table.findings = std::move(findings).take();
  if (table.cluster.form == Form::kV20) use_reactions_of_20(table.findings);
  return table;
}

Result<CheckedTable> require_table(NamedText file, const CheckOptions& options) {
  CheckedTable table = check_table(std::move(file.text), options);
  const auto error = std::ranges::find(table.findings, Severity::kError, &TableFinding::severity);
  if (error == table.findings.end()) return table;
  const Position place = table.document.position(error->span.begin);
  return Error::make(
      Code::kBadArgument,
      fmt::format("{}:{}:{}: {}: {} (errors in all: {}; see commrig ranktable check {})", file.name,
                  place.line, place.column, info(error->rule).id, sentence(*error),
                  table.count(Severity::kError), file.name));
}

}  // namespace commrig::topo
