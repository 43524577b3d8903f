// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// One function for each command of `commrig`. Each adds its options to the application and sets
// what is done when it is chosen; `exit_code` must outlive the application and is set by the
// command.
namespace commrig::cli {

void add_mc2_command(CLI::App& app, int& exit_code);
// `words`: the whole command line, of which the first is commrig itself.
void add_bench_command(CLI::App& app, int& exit_code, std::vector<std::string> words);
void add_plan_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_env_command(CLI::App& app, int& exit_code);
void add_doctor_command(CLI::App& app, int& exit_code);
void add_ranktable_command(CLI::App& app, int& exit_code);

// What a run starts is no business of the parser: takes the program and its arguments off the words
// of the command line, of which the first is commrig itself; nothing where it is no run.
std::vector<std::string> split_run_command(std::vector<std::string>& words);
void add_run_command(CLI::App& app, int& exit_code, std::vector<std::string> program);

}  // namespace commrig::cli
