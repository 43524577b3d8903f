// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

namespace commrig::cli {

// The folders of this installation with the libraries that stand in for those of vendors.
std::vector<std::string> library_folders();

}  // namespace commrig::cli
