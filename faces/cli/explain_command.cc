// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/codes.h"
#include "base/log.h"
#include "base/result.h"
#include "faces/cli/commands.h"

namespace commrig::cli {
namespace {

int list_all() {
  for (const CodeInfo& row : all_codes()) {
    std::printf("%s\n", fmt::format("{:<9} {}", row.id, row.title).c_str());
  }
  return kExitOk;
}

int explain(const std::string& id) {
  const CodeInfo* const row = find_code(id);
  if (row == nullptr) {
    const Error error = Error::make(
        Code::kBadArgument, fmt::format("\"{}\" is no id; `commrig explain` lists all", id));
    log(LogLevel::kError, to_string(error));
    return kExitUsage;
  }
  std::printf("%s\n", fmt::format("{}: {}\n\n{}\n\nWhat to do: {}.", row->id, row->title,
                                  row->explanation, row->advice)
                          .c_str());
  return kExitOk;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("explain", "What an error id means, or the list of all");
  const auto id = std::make_shared<std::string>();  // shared with the callback below
  command->add_option("id", *id, "for example CR-MC210");
  command->callback([id, &exit_code] { exit_code = id->empty() ? list_all() : explain(*id); });
}

}  // namespace commrig::cli
