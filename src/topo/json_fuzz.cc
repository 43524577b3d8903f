// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Bytes from anywhere as a rank table: no crash, no read out of bounds, places inside the text;
// what is mended has no more faults of that kind, and what can be converted can be read again.
#include <string>

#include "base/check.h"
#include "topo/check.h"
#include "topo/convert.h"
#include "topo/draw.h"
#include "topo/fix.h"
#include "topo/topology.h"
#include "topo/view.h"
#include "topo/write.h"

namespace commrig::topo {
namespace {

void require_inside(const JsonDocument& document, Span span) {
  COMMRIG_CHECK(span.begin <= span.end && span.end <= document.source().size(), "a place outside");
  const Position place = document.position(span.begin);
  COMMRIG_CHECK(document.line(place.line).size() + 2 >= place.column, "a column outside");
}

void try_document(const JsonDocument& document) {
  for (const SyntaxFault& fault : document.faults()) {
    require_inside(document, fault.span);
    if (fault.edit) require_inside(document, fault.edit->span);
  }
  for (Node node = 0; node < document.node_count() && node < 1000; ++node) {
    require_inside(document, document.span(node));
    (void)document.path(node);
    (void)document.integer(node);
    if (document.is(node, JsonKind::kString)) (void)document.text(node);
  }
}

void try_table(const CheckedTable& table) {
  for (const TableFinding& finding : table.findings) {
    require_inside(table.document, finding.span);
    (void)sentence(finding);
    (void)hccl_reaction(finding);
  }
  const FixedTable fixed = fix_table(table);
  COMMRIG_CHECK(fixed.changes.empty() == (fixed.text == table.document.source()),
                "a silent change");
  if (table.count(Severity::kError) != 0) return;
  (void)draw_html(table.cluster, "t");
  (void)rank_table_text(table.cluster);
  for (const Form form : {Form::kV10, Form::kV12, Form::kV20}) {
    const auto converted = convert_cluster(table.cluster, {.form = form, .port = "0/0"});
    if (!converted) continue;
    const auto text = write_table(converted->cluster, form);
    COMMRIG_CHECK(check_table(text.value()).document.faults().empty(),
                  "a written table is no JSON");
  }
}

}  // namespace
}  // namespace commrig::topo

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commrig::topo;  // NOLINT(google-build-using-namespace): C linkage
  const std::string text(reinterpret_cast<const char*>(data), size);
  const CheckedTable table = check_table(text);
  try_document(table.document);
  try_table(table);
  CheckedTable again = check_table(text, {.chip = Chip::k910, .rank = 0, .device = 0});
  check_against(check_topology(text).topology, again);
  return 0;
}
