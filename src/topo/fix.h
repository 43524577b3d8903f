// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "topo/check.h"

namespace commrig::topo {

// A table after all edits that guess nothing.
struct FixedTable {
  std::string text;
  // "3:12 CR-TAB02: `,` is removed", in the order of the old text.
  std::vector<std::string> changes;
};

// Applies the edits of the findings. Where two meet, the first is applied: check and fix again.
FixedTable fix_table(const CheckedTable& table);

}  // namespace commrig::topo
