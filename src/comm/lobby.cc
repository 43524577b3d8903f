// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/lobby.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/interfaces.h"
#include "bootstrap/identity.h"
#include "bootstrap/interface_choice.h"
#include "bootstrap/known_root.h"
#include "bootstrap/ring.h"
#include "comm/tally.h"

namespace commrig::comm {
namespace {

Result<Address> choose_address(const Lobby::Variables& environment) {
  COMMRIG_ASSIGN(const auto rule, bootstrap::read_interface_rule(environment));
  COMMRIG_ASSIGN(const auto present, list_interfaces());
  COMMRIG_ASSIGN(const auto choice, bootstrap::choose_interface(present, rule));
  return choice.chosen.address.with_port(0);
}

// Numbers of the worlds of one launch, which all ranks count alike.
std::uint64_t magic_of_world(std::uint64_t magic, std::uint64_t world) {
  return magic + world * 0x9E3779B97F4A7C15U;
}

Result<Address> all_addresses(int family, std::uint16_t port) {
  return Address::parse(fmt::format("{}:{}", family == AF_INET6 ? "[::]" : "0.0.0.0", port));
}

}  // namespace

Lobby::Lobby(ThreadExecutor& executor, device::Machine& machine, Variables environment)
    : executor_(executor), machine_(machine), environment_(std::move(environment)) {}

Lobby::~Lobby() = default;

Result<Lobby::Settled*> Lobby::settle() {
  const auto settled = settled_.lock();
  if (!settled->process) {
    COMMRIG_ASSIGN(settled->listen, choose_address(environment_));
    COMMRIG_ASSIGN(const auto facts, bootstrap::gather_host_facts(environment_));
    COMMRIG_ASSIGN(settled->process,
                   Process::create(executor_, machine_, bootstrap::identify(facts)));
  }
  return &*settled;
}

Result<Process*> Lobby::process() {
  COMMRIG_ASSIGN(Settled* const settled, settle());
  return settled->process.get();
}

Result<bootstrap::UniqueId> Lobby::make_id(const IdOptions& options) {
  COMMRIG_ASSIGN(const Settled* const settled, settle());
  return open_root(
      {.listen = options.listen.value_or(settled->listen), .ranks_within = options.ranks_within});
}

Result<bootstrap::UniqueId> Lobby::open_root(const bootstrap::RootOptions& options) {
  COMMRIG_ASSIGN(auto root, bootstrap::Root::open(executor_, options));
  const bootstrap::UniqueId id = root->id();
  roots_.lock()->emplace(id.magic(), std::move(root));
  return id;
}

// The root's own ranks end it before any rank goes on: so it is not there any more when a rank
// comes to the same address for its next communicator.
Status Lobby::close_root(const bootstrap::UniqueId& id, const JoinOptions& options) {
  Roots::node_type taken = roots_.lock()->extract(id.magic());
  if (taken.empty()) return ok();
  return taken.mapped()->wait_served(options.abort);
}

// Ends roots on the port: those of earlier worlds, whose ranks did not all come.
void Lobby::leave_port(std::uint16_t port) {
  Roots taken;
  {
    const auto roots = roots_.lock();
    for (auto each = roots->begin(); each != roots->end();) {
      const auto here = each++;
      if (here->second->id().root().port() == port) taken.insert(roots->extract(here));
    }
  }
}

Result<std::unique_ptr<Communicator>> Lobby::join(const bootstrap::UniqueId& id, int rank,
                                                  int ranks, const JoinOptions& options) {
  if (!bootstrap::is_known_root(id)) return enter(id, rank, ranks, Refused::kFails, options);
  if (rank == 0) COMMRIG_TRY(open_meeting(id, options));
  return enter(id, rank, ranks, Refused::kTriesAgain, options);
}

Result<std::unique_ptr<Communicator>> Lobby::enter(const bootstrap::UniqueId& id, int rank,
                                                   int ranks, Refused refused,
                                                   const JoinOptions& options) {
  COMMRIG_ASSIGN(Settled* const settled, settle());
  // Ranks of a root that only this host reaches are on this host.
  const Address listen =
      id.root().is_loopback() ? Address::loopback(id.root().family()) : settled->listen;
  Result<std::unique_ptr<bootstrap::Exchange>> joined =
      bootstrap::join_ring(executor_, id, rank, ranks,
                           {.listen = listen,
                            .abort = options.abort,
                            .root_within = options.root_within,
                            .refused = refused});
  if (!joined) {
    process_tally().add_finding(id.magic());
    return joined.error();
  }
  const std::unique_ptr<bootstrap::Exchange> ring = std::move(joined).value();
  COMMRIG_TRY(ring->barrier());  // Nobody needs the root any more.
  COMMRIG_TRY(close_root(id, options));
  CommunicatorOptions with_address = options.communicator;
  with_address.team.listen = listen;
  return Communicator::create(*settled->process, *ring, with_address);
}

Result<std::unique_ptr<Communicator>> Lobby::join(const bootstrap::Launch& launch,
                                                  const JoinOptions& options) {
  const std::uint64_t world = worlds_.fetch_add(1);
  if (launch.id) return join(*launch.id, launch.rank, launch.ranks, options);
  if (launch.ranks == 1) {
    COMMRIG_ASSIGN(const auto id, make_id({.listen = Address::loopback(AF_INET)}));
    return join(id, 0, 1, options);
  }
  if (!launch.meeting) {
    return Error::make(
        Code::kLaunchEnvironment,
        fmt::format("{} has started {} ranks, but neither COMMRIG_ID nor MASTER_ADDR and "
                    "MASTER_PORT say where they meet, and they are not all on this host by a name "
                    "that it has given to the job",
                    launch.launcher, launch.ranks));
  }
  bootstrap::Meeting meeting = *launch.meeting;
  meeting.magic = magic_of_world(meeting.magic, world);
  COMMRIG_ASSIGN(const bootstrap::UniqueId id, bootstrap::find_meeting(meeting));
  if (launch.rank == 0) COMMRIG_TRY(open_meeting(id, options));
  return enter(id, launch.rank, launch.ranks, Refused::kTriesAgain, options);
}

Result<std::unique_ptr<Communicator>> Lobby::join_world(const JoinOptions& options) {
  COMMRIG_ASSIGN(const auto launch, bootstrap::read_launch(environment_));
  return join(launch.value_or(bootstrap::Launch{}), options);
}

Status Lobby::open_meeting(const bootstrap::UniqueId& id, const JoinOptions& options) {
  const std::uint16_t port = id.root().port();
  leave_port(port);
  Address listen = id.root();  // nobody comes from outside to a loopback address
  if (!listen.is_loopback()) {
    COMMRIG_ASSIGN(listen, all_addresses(id.root().family(), port));
  }
  const auto opened =
      open_root({.listen = listen, .magic = id.magic(), .ranks_within = options.root_within});
  if (opened) return ok();
  return Error::make(opened.error().code,
                     fmt::format("{}; rank 0 meets the others there, on the port that "
                                 "COMMRIG_PORT or NCCL_COMM_ID names, or that follows from "
                                 "MASTER_ADDR and MASTER_PORT or the launcher's job",
                                 opened.error().message));
}

}  // namespace commrig::comm
