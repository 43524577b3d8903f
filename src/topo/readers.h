// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "topo/reading.h"

// One reader for each form: fills the cluster and finds what is wrong with single values. What is
// wrong between values is found by checks.h.
namespace commrig::topo {

void read_concise(Reading& reading);  // 1.0 and 1.2
void read_nodes(Reading& reading);    // 1.1
void read_old(Reading& reading);      // the old template, both forms
void read_levels(Reading& reading);   // 2.0

// The physical number of a device in its device_id, for every form before 2.0.
void read_device_id(Reading& reading, const Fields& fields, Rank& rank);
// The largest device_id that some chip of the form has, or the chip at hand.
std::uint32_t device_most(Form form, Chip chip);

}  // namespace commrig::topo
