// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/grammar.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace commrig::cli {
namespace {

struct ValueName {
  std::string_view option;
  const char* value;
};

constexpr std::array kValueNames{
    ValueName{"--algo", "NAME"},
    ValueName{"--bytes", "SIZE"},
    ValueName{"--chip", "NAME"},
    ValueName{"--chunk-bytes", "SIZE"},
    ValueName{"--count", "N"},
    ValueName{"--counts", "N,N,..."},
    ValueName{"--deadline", "SECONDS"},
    ValueName{"--device", "N"},
    ValueName{"--device-ip", "ADDRESS"},
    ValueName{"--devices", "N"},
    ValueName{"--dtype", "TYPE"},
    ValueName{"--factor", "N"},
    ValueName{"--fix", "FILE"},
    ValueName{"--hccn-conf", "HOST=FILE"},
    ValueName{"--host", "HOST"},
    ValueName{"--host-name", "NAME"},
    ValueName{"--hosts", "FILE"},
    ValueName{"--iterations", "N"},
    ValueName{"--json", "FILE"},
    ValueName{"--layout", "NAME"},
    ValueName{"--link", "NAME"},
    ValueName{"--max-bytes", "SIZE"},
    ValueName{"--min-bytes", "SIZE"},
    ValueName{"--op", "NAME"},
    ValueName{"--output", "FILE"},
    ValueName{"--port", "PORT"},
    ValueName{"--processes", "N"},
    ValueName{"--rank", "N"},
    ValueName{"--ranks", "N"},
    ValueName{"--recheck-ms", "N"},
    ValueName{"--redop", "NAME"},
    ValueName{"--repeats", "N"},
    ValueName{"--root", "N"},
    ValueName{"--rules", "RULES"},
    ValueName{"--seed", "N"},
    ValueName{"--shape", "MxKxN"},
    ValueName{"--slot-bytes", "SIZE"},
    ValueName{"--super-pod-servers", "N"},
    ValueName{"--tile-rows", "N"},
    ValueName{"--timeout", "TIME"},
    ValueName{"--to", "VERSION"},
    ValueName{"--topology", "FILE"},
    ValueName{"--version", "VERSION"},
    ValueName{"--warm-up", "N"},
    ValueName{"file", "FILE"},
    ValueName{"first", "FILE"},
    ValueName{"id", "ID"},
    ValueName{"operation", "NAME"},
    ValueName{"program", "FILE"},
    ValueName{"second", "FILE"},
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find_command(const CLI::App& app, const std::string& word) {
  for (const CLI::App* const each : commands_of(app)) {
    if (each->check_name(word)) return each;
  }
  return nullptr;
}

std::string list_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* const each : commands_of(app)) {
    names += (names.empty() ? "" : ", ") + each->get_name();
  }
  return names;
}

}  // namespace

void understand_help(std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "help") return;
  words.erase(words.begin() + 1);
  words.emplace_back("--help");
}

Status check_commands(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* inside = &app;
  std::string before = app.get_name();
  for (std::size_t i = 1; !commands_of(*inside).empty(); ++i) {
    if (i < words.size() && words[i].starts_with('-')) return ok();
    const CLI::App* const found = i < words.size() ? find_command(*inside, words[i]) : nullptr;
    if (found == nullptr) {
      const std::string what = i < words.size()
                                   ? fmt::format("\"{}\" is no command of `{}`", words[i], before)
                                   : fmt::format("no command behind `{}`", before);
      return Error::make(Code::kBadArgument,
                         fmt::format("{}; expected one of {}", what, list_commands(*inside)));
    }
    before += " " + words[i];
    inside = found;
  }
  return ok();
}

void name_values(CLI::App& app) {
  for (CLI::Option* const option :
       app.get_options([](const CLI::Option* each) { return each->get_type_name() == "TEXT"; })) {
    for (const ValueName& each : kValueNames) {
      if (option->check_name(std::string(each.option))) option->type_name(each.value);
    }
  }
  for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; })) {
    name_values(*command);
  }
}

}  // namespace commrig::cli
