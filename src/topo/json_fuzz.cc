// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Bytes from anywhere as a JSON text: no crash, no read out of bounds, places inside the text.
#include <string>

#include "base/check.h"
#include "topo/json_document.h"

namespace {

void require_inside(const commrig::topo::JsonDocument& document, commrig::topo::Span span) {
  COMMRIG_CHECK(span.begin <= span.end && span.end <= document.source().size(), "a place outside");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commrig::topo;  // NOLINT(google-build-using-namespace): C linkage
  const auto document = JsonDocument::parse(std::string(reinterpret_cast<const char*>(data), size));
  for (const SyntaxFault& fault : document.faults()) {
    require_inside(document, fault.span);
    if (fault.edit) require_inside(document, fault.edit->span);
    const Position place = document.position(fault.span.begin);
    COMMRIG_CHECK(document.line(place.line).size() + 2 >= place.column, "a column outside");
  }
  std::size_t nodes = 0;
  for (Node node = document.root(); node != kNoNode && nodes < 1000; ++nodes) {
    require_inside(document, document.span(node));
    (void)document.path(node);
    (void)document.integer(node);
    if (document.is(node, JsonKind::kString)) (void)document.text(node);
    node = document.first(node) != kNoNode ? document.first(node) : document.next(node);
  }
  return 0;
}
