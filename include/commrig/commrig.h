// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

// The whole interface: runs communication code for accelerators on a machine that has none. Needs
// C++17. There is no promise of a stable ABI before version 1.0.
#include "commrig/communicator.h"
#include "commrig/error.h"
#include "commrig/group.h"
#include "commrig/memory.h"
#include "commrig/runtime.h"
#include "commrig/stream.h"
#include "commrig/types.h"
#include "commrig/unique_id.h"
