// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/launch.h"

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
};

constexpr std::array kLaunchers{
    Launcher{"commrig", "COMMRIG_RANK", "COMMRIG_RANKS", "COMMRIG_LOCAL_RANK",
             "COMMRIG_LOCAL_RANKS"},
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", true},
};
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

Result<std::optional<Meeting>> read_meeting(Environment environment, int ranks) {
  constexpr int kPortMax = 65535;
  const auto host = environment("MASTER_ADDR");
  const auto port_text = environment("MASTER_PORT");
  if (!host && !port_text) return std::optional<Meeting>();
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
  constexpr int kFirst = 20000;
  constexpr int kPorts = 10000;
  std::uint64_t hash = djb2(fmt::format("{}|{}|{}", *host, *port, ranks));
  // All ranks of one attempt have these alike, and the next attempt others.
  for (const std::string_view name : {kTorchrunMark, std::string_view("TORCHELASTIC_RESTART_COUNT"),
                                      std::string_view("SLURM_JOB_ID")}) {
    hash = djb2(fmt::format("|{}", environment(name).value_or("")), hash);
  }
  int derived = kFirst + static_cast<int>(hash % kPorts);
  if (derived == *port) derived = derived + 1 < kFirst + kPorts ? derived + 1 : kFirst;
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
  COMMRIG_ASSIGN(launch.meeting, read_meeting(environment, launch.ranks));
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
