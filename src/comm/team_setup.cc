// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/team_setup.h"

#include <poll.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/unix_socket.h"
#include "comm/card.h"
#include "comm/tally.h"

namespace commrig::comm {
namespace {

// Who connects says so first.
struct Greeting {
  static constexpr std::uint64_t kMagic = 0x3174656572676372U;
  std::uint64_t magic = kMagic;
  std::uint64_t number = 0;  // of the communicator
  std::int32_t rank = 0;
  std::int32_t to = 0;
};

std::span<const std::byte> bytes_of(const Greeting& greeting) {
  return std::as_bytes(std::span(&greeting, 1));
}

class Setup {
 public:
  Setup(Process& process, bootstrap::Exchange& exchange, const TeamOptions& options)
      : process_(process),
        exchange_(exchange),
        options_(options),
        waiting_{.executor = process.executor(),
                 .deadline = process.executor().now() + options.connect_within} {}

  Result<std::shared_ptr<Team>> run();
  std::uint64_t number() const { return number_; }

 private:
  int rank() const { return exchange_.rank(); }
  const IdentityCard& who(int rank) const { return identities_[static_cast<std::size_t>(rank)]; }
  bool is_sibling(int peer) const { return who(peer).same_process(who(rank())); }
  bool is_near(int peer) const {
    return is_sibling(peer) ||
           (!options_.tcp_between_processes && who(peer).shares_memory(who(rank())));
  }
  int leader_of(int peer) const;
  bool leads() const { return leader_of(rank()) == rank(); }
  std::vector<int> ranks_of_process(int peer) const;

  Status introduce();
  Status check_devices() const;
  Status listen();
  Result<std::shared_ptr<Team>> make();
  Result<std::map<int, Socket>> meet_processes();
  Result<std::unique_ptr<Neighbour>> meet(Team& team, int leader, Socket socket);
  Status connect_far(Team& team);
  Result<std::optional<Greeting>> greeting_of(const Socket& socket) const;

  Process& process_;
  bootstrap::Exchange& exchange_;
  TeamOptions options_;
  Waiting waiting_;
  std::vector<IdentityCard> identities_;
  std::vector<AddressCard> addresses_;
  std::uint64_t number_ = 0;
  Listener near_;  // of a process's first rank
  Listener far_;   // of a rank that others reach through TCP
};

int Setup::leader_of(int peer) const {
  for (int first = 0; first < peer; ++first) {
    if (who(first).same_process(who(peer))) return first;
  }
  return peer;
}

std::vector<int> Setup::ranks_of_process(int peer) const {
  std::vector<int> ranks;
  for (int each = 0; each < exchange_.ranks(); ++each) {
    if (who(each).same_process(who(peer))) ranks.push_back(each);
  }
  return ranks;
}

Status Setup::introduce() {
  const bootstrap::Identity& identity = process_.identity();
  const IdentityCard mine{.host = identity.host,
                          .process = identity.process,
                          .shared_memory = identity.shared_memory,
                          .number = process_.next_number(),
                          .device = options_.device.number,
                          .device_is_own = options_.device.is_own ? 1 : 0};
  COMMRIG_ASSIGN(identities_, exchange_cards(exchange_, mine));
  number_ = identities_.front().number;
  return check_devices();
}

// All ranks see the same cards, so all find the same pair.
Status Setup::check_devices() const {
  for (int last = 1; last < exchange_.ranks(); ++last) {
    for (int first = 0; first < last; ++first) {
      if (!who(first).same_device(who(last))) continue;
      return Error::make(
          Code::kSameDevice,
          fmt::format("ranks {} and {} are both on device {} of one {}", first, last,
                      who(first).device, who(first).same_process(who(last)) ? "process" : "host"));
    }
  }
  return ok();
}

Status Setup::listen() {
  bool near = false;
  bool far = false;
  for (int peer = 0; peer < exchange_.ranks(); ++peer) {
    if (is_sibling(peer)) continue;
    (is_near(peer) ? near : far) = true;
  }
  AddressCard mine;
  if (near && leads()) {
    COMMRIG_ASSIGN(near_, Listener::open_unix());
    put(mine.unix_name, near_.unix_name());
  }
  if (far) {
    COMMRIG_ASSIGN(far_, Listener::open(options_.listen));
    put(mine.tcp, far_.address().to_string());
  }
  COMMRIG_ASSIGN(addresses_, exchange_cards(exchange_, mine));
  return ok();
}

// Nothing for somebody who is none of us.
Result<std::optional<Greeting>> Setup::greeting_of(const Socket& socket) const {
  Greeting greeting;
  const Status read =
      socket.read_all(std::as_writable_bytes(std::span(&greeting, 1)), "a greeting", waiting_);
  if (!read && read.error().code == Code::kDeadline) return read.error();
  if (!read || greeting.magic != Greeting::kMagic || greeting.number != number_ ||
      greeting.rank < 0 || greeting.rank >= exchange_.ranks()) {
    return std::optional<Greeting>();
  }
  return std::optional<Greeting>(greeting);
}

// A connection to each other process of this host: a connection is there once the system has
// queued it, so everybody connects first and accepts then.
Result<std::map<int, Socket>> Setup::meet_processes() {
  std::map<int, Socket> met;
  std::size_t expected = 0;
  for (int peer = 0; peer < exchange_.ranks(); ++peer) {
    if (is_sibling(peer) || !is_near(peer) || leader_of(peer) != peer) continue;
    ++expected;
    if (peer > rank()) continue;
    const AddressCard& card = addresses_[static_cast<std::size_t>(peer)];
    COMMRIG_ASSIGN(Socket socket, connect_unix(get(card.unix_name), waiting_));
    const Greeting greeting{.number = number_, .rank = rank(), .to = peer};
    COMMRIG_TRY(socket.write_all(bytes_of(greeting), "a greeting", waiting_));
    met.emplace(peer, std::move(socket));
  }
  while (met.size() < expected) {
    COMMRIG_ASSIGN(Socket socket, near_.accept("ranks of this host", waiting_));
    COMMRIG_ASSIGN(const std::optional<Greeting> greeting, greeting_of(socket));
    if (greeting.has_value()) met.emplace(greeting->rank, std::move(socket));
  }
  return met;
}

Result<std::unique_ptr<Neighbour>> Setup::meet(Team& team, int leader, Socket socket) {
  auto neighbour = std::make_unique<Neighbour>();
  neighbour->ranks = ranks_of_process(leader);
  const int descriptor = socket.descriptor();
  COMMRIG_ASSIGN(neighbour->memory,
                 transport::PeerMemory::create({.rank = leader,
                                                .socket = std::move(socket),
                                                .memory = &process_.machine().memory(),
                                                .door = &process_.door()}));
  // Messages of a link are tagged with two ranks; these with the end of their range.
  const transport::Tag mine{~std::uint64_t{0}, static_cast<std::uint64_t>(rank())};
  const transport::Tag theirs{~std::uint64_t{0}, static_cast<std::uint64_t>(leader)};
  COMMRIG_TRY(neighbour->memory->give(mine, team.segment()));
  while (true) {
    COMMRIG_ASSIGN(const bool has_met, neighbour->memory->meet());
    if (has_met) {
      COMMRIG_ASSIGN(std::optional<transport::Segment> segment, neighbour->memory->take(theirs));
      if (segment.has_value()) {
        neighbour->segment = std::move(*segment);
        return neighbour;
      }
    }
    COMMRIG_TRY(waiting_.until(descriptor, POLLIN, "memory of a rank of this host"));
  }
}

Result<std::shared_ptr<Team>> Setup::make() {
  COMMRIG_ASSIGN(std::shared_ptr<Team> team,
                 Team::create(process_, exchange_.ranks(), ranks_of_process(rank())));
  team->set_number(number_);
  COMMRIG_ASSIGN(auto met, meet_processes());
  for (auto& [leader, socket] : met) {
    COMMRIG_ASSIGN(std::unique_ptr<Neighbour> neighbour, meet(*team, leader, std::move(socket)));
    COMMRIG_TRY(team->add(std::move(neighbour)));
  }
  return team;
}

Status Setup::connect_far(Team& team) {
  std::size_t expected = 0;
  for (int peer = 0; peer < exchange_.ranks(); ++peer) {
    if (is_near(peer)) continue;
    if (peer > rank()) {
      ++expected;
      continue;
    }
    const AddressCard& card = addresses_[static_cast<std::size_t>(peer)];
    COMMRIG_ASSIGN(const Address address, Address::parse(get(card.tcp)));
    COMMRIG_ASSIGN(Socket socket, connect(address, waiting_));
    const Greeting greeting{.number = number_, .rank = rank(), .to = peer};
    COMMRIG_TRY(socket.write_all(bytes_of(greeting), "a greeting", waiting_));
    team.add(rank(), peer, std::move(socket));
  }
  while (expected > 0) {
    COMMRIG_ASSIGN(Socket socket, far_.accept("ranks of other processes", waiting_));
    COMMRIG_ASSIGN(const std::optional<Greeting> greeting, greeting_of(socket));
    if (!greeting.has_value()) continue;
    team.add(rank(), greeting->rank, std::move(socket));
    --expected;
  }
  return ok();
}

Result<std::shared_ptr<Team>> Setup::run() {
  COMMRIG_TRY(introduce());
  COMMRIG_TRY(listen());
  Result<std::shared_ptr<Team>> team = Error::make(Code::kAborted, "no team");
  if (leads()) {
    team = make();
    process_.show(number_, team, static_cast<int>(ranks_of_process(rank()).size()) - 1);
  } else {
    team = process_.take(number_);
  }
  if (!team) return team;
  COMMRIG_TRY(connect_far(**team));
  COMMRIG_TRY(exchange_.barrier());
  return team;
}

}  // namespace

Result<std::shared_ptr<Team>> set_up_team(Process& process, bootstrap::Exchange& exchange,
                                          const TeamOptions& options) {
  Setup setup(process, exchange, options);
  Result<std::shared_ptr<Team>> team = setup.run();
  if (!team) {
    process_tally().add_finding(setup.number());
    exchange.abort(team.error());
  }
  return team;
}

}  // namespace commrig::comm
