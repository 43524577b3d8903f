// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

namespace CLI {
class App;
}

// The commands below `commrig ranktable`; `exit_code` must outlive the application.
namespace commrig::cli {

void add_check_command(CLI::App& ranktable, int& exit_code);
void add_make_command(CLI::App& ranktable, int& exit_code);
void add_convert_command(CLI::App& ranktable, int& exit_code);
void add_merge_command(CLI::App& ranktable, int& exit_code);
// show, diff, draw and wait
void add_view_commands(CLI::App& ranktable, int& exit_code);

}  // namespace commrig::cli
