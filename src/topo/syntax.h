// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "topo/json_document.h"
#include "topo/table_finding.h"

namespace commrig::topo {

// The faults of a text as findings, with their edits.
void add_syntax(const JsonDocument& document, Findings& findings);

}  // namespace commrig::topo
