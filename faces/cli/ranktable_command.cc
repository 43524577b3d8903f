// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <CLI/CLI.hpp>

#include "faces/cli/commands.h"
#include "faces/cli/ranktable/commands.h"

namespace commrig::cli {

void add_ranktable_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("ranktable", "Rank tables (hccl.json): check, make, convert, draw");
  command->require_subcommand(1);
  add_check_command(*command, exit_code);
  add_make_command(*command, exit_code);
  add_convert_command(*command, exit_code);
  add_merge_command(*command, exit_code);
  add_view_commands(*command, exit_code);
}

}  // namespace commrig::cli
