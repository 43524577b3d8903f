// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

// What the parser of the command line is not told well enough by itself.
namespace commrig::cli {

// "commrig help run" is "commrig run --help".
void understand_help(std::vector<std::string>& words);

// Whether the words, of which the first is the program's name, begin with a command where one is
// expected, and the same inside it; what begins with "-" is left to the parser. kBadArgument names
// what was found and lists the commands.
Status check_commands(const CLI::App& app, const std::vector<std::string>& words);

// Gives the values of all options names, in place of the parser's TEXT.
void name_values(CLI::App& app);

}  // namespace commrig::cli
