// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/rank_environment.h"

#include <array>
#include <string_view>
#include <utility>

namespace commrig::cli::run {
namespace {

constexpr std::string_view kLibraryPath = "LD_LIBRARY_PATH";
constexpr std::array kRankNames{"COMMRIG_RANK",
                                "COMMRIG_LOCAL_RANK",
                                "RANK",
                                "LOCAL_RANK",
                                "OMPI_COMM_WORLD_RANK",
                                "OMPI_COMM_WORLD_LOCAL_RANK",
                                "OMPI_COMM_WORLD_NODE_RANK"};
constexpr std::array kRanksNames{"COMMRIG_RANKS",        "COMMRIG_LOCAL_RANKS",
                                 "WORLD_SIZE",           "LOCAL_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"};
// They would say that another launcher has started this rank.
constexpr std::array kForeignNames{
    "COMMRIG_ID", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
    "GROUP_RANK", "ROLE_RANK",           "PMI_RANK",
    "PMI_SIZE",   "MPI_LOCALRANKID",     "MPI_LOCALNRANKS"};

bool names(std::string_view variable, std::string_view name) {
  return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
}

}  // namespace

void unset(Variables& variables, const std::string& name) {
  std::erase_if(variables, [&](const std::string& each) { return names(each, name); });
}

void set(Variables& variables, const std::string& name, const std::string& value) {
  unset(variables, name);
  variables.push_back(name + "=" + value);
}

Variables rank_environment(Variables variables, const JobPlace& job, int rank) {
  for (const char* const name : kForeignNames) unset(variables, name);
  for (const char* const name : kRankNames) set(variables, name, std::to_string(rank));
  for (const char* const name : kRanksNames) set(variables, name, std::to_string(job.ranks));
  set(variables, "MASTER_ADDR", "127.0.0.1");
  set(variables, "MASTER_PORT", std::to_string(job.master_port));
  set(variables, "COMMRIG_PORT", std::to_string(job.port));
  set(variables, "COMMRIG_SEED", std::to_string(job.seed));
  if (job.devices) set(variables, "COMMRIG_DEVICES", std::to_string(*job.devices));
  return variables;
}

void add_library_folders(Variables& variables, const std::vector<std::string>& folders) {
  std::string path;
  for (const std::string& folder : folders) path += (path.empty() ? "" : ":") + folder;
  if (path.empty()) return;
  for (const std::string& each : variables) {
    if (!names(each, kLibraryPath)) continue;
    const std::string before = each.substr(kLibraryPath.size() + 1);
    if (!before.empty()) path += ":" + before;
    break;
  }
  set(variables, std::string(kLibraryPath), path);
}

}  // namespace commrig::cli::run
