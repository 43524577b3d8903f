// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/launch.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/address.h"
#include "bootstrap/hash.h"

namespace commrig::bootstrap {
namespace {

struct Launcher {
  std::string_view name;
  std::string_view rank;
  std::string_view ranks;
  std::string_view local_rank;
  std::string_view local_ranks;
  // Its variables are inherited by what it starts other launchers for, and may be set in part.
  bool outer = false;
  // What names a job of it on a host, and the number of its hosts where that has a variable.
  std::array<std::string_view, 2> job{};
  std::string_view hosts{};
};

constexpr std::array kLaunchers{
    Launcher{"commrig", "COMMRIG_RANK", "COMMRIG_RANKS", "COMMRIG_LOCAL_RANK",
             "COMMRIG_LOCAL_RANKS"},
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    Launcher{"Open MPI",
             "OMPI_COMM_WORLD_RANK",
             "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK",
             "OMPI_COMM_WORLD_LOCAL_SIZE",
             false,
             {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    Launcher{"PMI",
             "PMI_RANK",
             "PMI_SIZE",
             "MPI_LOCALRANKID",
             "MPI_LOCALNRANKS",
             false,
             {"PMI_JOBID", "PMI_PORT"}},
    Launcher{"Slurm",
             "SLURM_PROCID",
             "SLURM_NTASKS",
             "SLURM_LOCALID",
             "",
             true,
             {"SLURM_JOB_ID", "SLURM_STEP_ID"},
             "SLURM_STEP_NUM_NODES"},
};
constexpr int kPortMax = 65535;
constexpr std::string_view kTorchrunMark = "TORCHELASTIC_RUN_ID";

Error wrong(std::string text) {
  return Error::make(Code::kLaunchEnvironment, std::move(text));
}

std::string shown(std::string_view name, const std::optional<std::string>& value) {
  return value ? fmt::format("{}={}", name, *value) : fmt::format("{} is not set", name);
}

// The number in a variable, between `low` and `high`; nothing where it is not set.
Result<std::optional<int>> number(Environment environment, std::string_view name, int low,
                                  int high) {
  if (name.empty()) return std::optional<int>();
  const auto text = environment(name);
  if (!text) return std::optional<int>();
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < low || value > high) {
    return wrong(fmt::format("{}=\"{}\", expected a number from {} to {}", name, *text, low, high));
  }
  return std::optional(value);
}

// What one launcher says; nothing where it was not at work.
Result<std::optional<Launch>> read_one(const Launcher& launcher, Environment environment) {
  constexpr int kRanksMax = 1 << 24;
  const auto rank_text = environment(launcher.rank);
  const auto ranks_text = environment(launcher.ranks);
  if (!rank_text && (!ranks_text || launcher.outer)) return std::optional<Launch>();
  if (!rank_text || !ranks_text) {
    return wrong(fmt::format(
        "{}: {}, but {}", launcher.name,
        rank_text ? shown(launcher.rank, rank_text) : shown(launcher.ranks, ranks_text),
        rank_text ? shown(launcher.ranks, ranks_text) : shown(launcher.rank, rank_text)));
  }
  Launch launch;
  launch.launcher = launcher.name;
  COMMRIG_ASSIGN(const auto ranks, number(environment, launcher.ranks, 1, kRanksMax));
  launch.ranks = *ranks;
  COMMRIG_ASSIGN(const auto rank, number(environment, launcher.rank, 0, kRanksMax));
  launch.rank = *rank;
  if (launch.rank >= launch.ranks) {
    return wrong(fmt::format("{}: {} is not below {}", launcher.name,
                             shown(launcher.rank, rank_text), shown(launcher.ranks, ranks_text)));
  }
  COMMRIG_ASSIGN(const auto local_ranks,
                 number(environment, launcher.local_ranks, 1, launch.ranks));
  launch.local_ranks = local_ranks.value_or(-1);
  COMMRIG_ASSIGN(const auto local_rank, number(environment, launcher.local_rank, 0,
                                               local_ranks.value_or(launch.ranks) - 1));
  launch.local_rank = local_rank.value_or(-1);
  return std::optional(launch);
}

const Launcher& row_of(const Launch& launch) {
  for (const Launcher& each : kLaunchers) {
    if (each.name == launch.launcher) return each;
  }
  return kLaunchers.front();
}

// The first of those found, if the others may differ or agree.
Result<Launch> settle(const std::vector<Launch>& found, Environment environment) {
  const Launch& first = found.front();
  const bool innermost = first.launcher == kLaunchers[0].name ||
                         (first.launcher == kLaunchers[1].name && environment(kTorchrunMark));
  if (innermost) return first;
  for (const Launch& other : std::span(found).subspan(1)) {
    const Launcher& a = row_of(first);
    const Launcher& b = row_of(other);
    if (b.outer || (other.rank == first.rank && other.ranks == first.ranks)) continue;
    return wrong(fmt::format("{} says {}={} {}={}, {} says {}={} {}={}", a.name, a.rank, first.rank,
                             a.ranks, first.ranks, b.name, b.rank, other.rank, b.ranks,
                             other.ranks));
  }
  return first;
}

// A port for what the hash names, from a range that Linux takes none from for outgoing connections.
std::uint16_t port_of(std::uint64_t hash, int avoided) {
  constexpr int kFirst = 20000;
  constexpr int kPorts = 10000;
  const int port = kFirst + static_cast<int>(hash % kPorts);
  if (port != avoided) return static_cast<std::uint16_t>(port);
  return static_cast<std::uint16_t>(port + 1 < kFirst + kPorts ? port + 1 : kFirst);
}

// Where ranks of one host meet by the name that their launcher gives to the job; nothing where it
// gives none, or has started ranks on other hosts.
Result<std::optional<Meeting>> meet_on_this_host(Environment environment, const Launch& launch) {
  const Launcher& row = row_of(launch);
  COMMRIG_ASSIGN(const auto hosts, number(environment, row.hosts, 1, launch.ranks));
  const bool one_host = launch.local_ranks == launch.ranks || hosts == 1;
  std::uint64_t hash = djb2(fmt::format("{}|{}|{}", row.name, launch.ranks, ::getuid()));
  bool named = false;
  for (const std::string_view name : row.job) {
    const auto value = name.empty() ? std::nullopt : environment(name);
    if (!value || value->empty()) continue;
    named = true;
    hash = djb2(fmt::format("|{}", *value), hash);
  }
  if (!one_host || !named) return std::optional<Meeting>();
  COMMRIG_ASSIGN(const auto own_port, number(environment, "COMMRIG_PORT", 1, kPortMax));
  const std::uint16_t port = own_port ? static_cast<std::uint16_t>(*own_port) : port_of(hash, 0);
  return std::optional(Meeting{"127.0.0.1", port, hash});
}

Result<std::optional<Meeting>> read_meeting(Environment environment, const Launch& launch) {
  const auto host = environment("MASTER_ADDR");
  const auto port_text = environment("MASTER_PORT");
  if (!host && !port_text) return meet_on_this_host(environment, launch);
  if (!host || !port_text || host->empty()) {
    return wrong(
        fmt::format("{}, but {}", shown("MASTER_ADDR", host), shown("MASTER_PORT", port_text)));
  }
  COMMRIG_ASSIGN(const auto port, number(environment, "MASTER_PORT", 1, kPortMax));
  COMMRIG_ASSIGN(const auto own_port, number(environment, "COMMRIG_PORT", 1, kPortMax));
  if (own_port == port) {
    return wrong(
        fmt::format("COMMRIG_PORT={} is MASTER_PORT, where torch's store listens", *own_port));
  }
  std::uint64_t hash = djb2(fmt::format("{}|{}|{}", *host, *port, launch.ranks));
  // All ranks of one attempt have these alike, and the next attempt others.
  for (const std::string_view name : {kTorchrunMark, std::string_view("TORCHELASTIC_RESTART_COUNT"),
                                      std::string_view("SLURM_JOB_ID")}) {
    hash = djb2(fmt::format("|{}", environment(name).value_or("")), hash);
  }
  const int derived = port_of(hash, *port);
  return std::optional(
      Meeting{*host, static_cast<std::uint16_t>(own_port.value_or(derived)), hash});
}

}  // namespace

Result<std::optional<Launch>> read_launch(Environment environment) {
  std::vector<Launch> found;
  for (const Launcher& launcher : kLaunchers) {
    COMMRIG_ASSIGN(const std::optional<Launch> launch, read_one(launcher, environment));
    if (launch) found.push_back(*launch);
  }
  if (found.empty()) return std::optional<Launch>();
  COMMRIG_ASSIGN(Launch launch, settle(found, environment));
  if (const auto id = environment("COMMRIG_ID")) {
    const auto parsed = UniqueId::parse(*id);
    if (!parsed) {
      return Error::make(parsed.error().code, "COMMRIG_ID: " + parsed.error().message);
    }
    launch.id = *parsed;
  }
  COMMRIG_ASSIGN(launch.meeting, read_meeting(environment, launch));
  return std::optional(launch);
}

Result<UniqueId> find_meeting(const Meeting& meeting) {
  const auto address = resolve(meeting.host, meeting.port);
  if (!address) {
    return Error::make(Code::kLaunchEnvironment, "MASTER_ADDR: " + address.error().message);
  }
  return UniqueId(meeting.magic, *address);
}

}  // namespace commrig::bootstrap
