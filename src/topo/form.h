// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "topo/cluster.h"
#include "topo/json_document.h"

namespace commrig::topo {

// What the document is, by the keys that only this kind has. A version that is not known gives the
// form that its lists have.
Form recognise(const JsonDocument& document);

}  // namespace commrig::topo
