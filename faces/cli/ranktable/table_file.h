// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "topo/table_finding.h"

namespace commrig::cli {

// The bytes of a file, a pipe or, as "-", of standard input; kBadArgument where it cannot be read
// or has more than 1 GiB.
Result<std::string> read_table_file(const std::string& path);

// What HCCL and others do not like about the file itself: its name behind all links (CR-TAB09),
// that it is a link (CR-TAB10). Findings without a place.
std::vector<topo::TableFinding> check_file(const std::string& path);

// Puts `text` into `path`: into a file beside it first, which is renamed when it is complete, so
// that no reader sees half a table. A link stays a link, and what is no file, such as a pipe, is
// written into. "-" is standard output. kBadArgument where the path is not writable, kSystemCall
// where the disk is full.
Status write_table_file(const std::string& path, const std::string& text);

}  // namespace commrig::cli
