// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "faces/nccl/include/nccl.h"

namespace commrig::nccl {

// What a communicator is set up with.
struct Config {
  bool blocking = true;
};

// Reads the struct of whatever release of the header the program was compiled with, by its size and
// version; null means `inherited`, an unset field its default. NCCL_COMM_BLOCKING wins over both. A
// struct that wasn't initialised and a value out of its range are ncclInvalidArgument, with a text
// that names the field.
ncclResult_t read_config(const ncclConfig_t* given, const Config& inherited, Config& config);

// Whether NCCL_MULTI_RANK_GPU_ENABLE=1 lets ranks be on one device.
bool ranks_may_share_devices();

}  // namespace commrig::nccl
