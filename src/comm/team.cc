// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/team.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <numeric>

#include <fmt/format.h>

#include "comm/tally.h"
#include "transport/shm_link.h"
#include "transport/tcp_link.h"
#include "transport/thread_link.h"

namespace commrig::comm {
namespace {

// Of a communicator that lives in this process alone.
std::uint64_t local_number() {
  static std::atomic<std::uint32_t> made{0};
  return static_cast<std::uint64_t>(::getpid()) << 32U | ++made;
}

}  // namespace

Team::Team(device::Machine& machine, Process* process, int ranks, std::vector<int> locals)
    : machine_(machine),
      process_(process),
      waker_(machine),
      locals_(std::move(locals)),
      local_(static_cast<std::size_t>(ranks)),
      boards_(static_cast<std::size_t>(ranks)),
      slots_(static_cast<std::size_t>(ranks)),
      mail_(static_cast<std::size_t>(ranks)),
      neighbour_of_(static_cast<std::size_t>(ranks)),
      abort_(&machine.abort_flag()) {
  for (const int rank : locals_) local_[static_cast<std::size_t>(rank)] = true;
}

Team::~Team() {
  if (peers_ == nullptr) return;
  for (const auto& neighbour : neighbours_) peers_->forget(neighbour->ranks.front());
}

Result<std::shared_ptr<Team>> Team::create_local(device::Machine& machine, int ranks) {
  std::vector<int> locals(static_cast<std::size_t>(ranks));
  std::iota(locals.begin(), locals.end(), 0);
  std::shared_ptr<Team> team(
      new Team(machine, nullptr, ranks, std::move(locals)));  // tidy: allow(new) private
  // Pages that nobody touches cost nothing, so that many ranks with few operations stay small.
  COMMRIG_ASSIGN(transport::Segment segment,
                 transport::Segment::create("commrig-boards", segment_bytes(ranks, ranks)));
  COMMRIG_TRY(team->map_local(std::move(segment)));
  team->set_number(local_number());
  return team;
}

Result<std::shared_ptr<Team>> Team::create(Process& process, int ranks, std::vector<int> locals) {
  const auto count = static_cast<int>(locals.size());
  Process* const home = &process;
  std::shared_ptr<Team> team(
      new Team(process.machine(), home, ranks, std::move(locals)));  // tidy: allow(new) private
  COMMRIG_ASSIGN(transport::Segment segment,
                 transport::Segment::create("commrig-boards", segment_bytes(count, ranks)));
  COMMRIG_TRY(team->map_local(std::move(segment)));
  team->peers_ = std::make_unique<transport::Peers>(process.poller());
  return team;
}

Status Team::map_local(transport::Segment segment) {
  segment_ = std::move(segment);
  map(segment_.base(), locals_, true);
  return ok();
}

// Boards of the ranks one behind the other, then their slots, then their mail.
void Team::map(std::byte* base, std::span<const int> ranks, bool fresh) {
  std::byte* const slots = base + ranks.size() * sizeof(Board);
  std::byte* const mail = slots + ranks.size() * 2 * kSlotBytes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    std::byte* const place = base + i * sizeof(Board);
    boards_[rank] = fresh ? new (place) Board  // tidy: allow(new) placement
                          : std::launder(reinterpret_cast<Board*>(place));
    slots_[rank] = slots + i * 2 * kSlotBytes;
    // Fresh memory is zeroed, as its counters are to be; so pages that nobody uses stay untouched.
    mail_[rank] = std::launder(reinterpret_cast<Mail*>(mail + i * boards_.size() * sizeof(Mail)));
  }
  shares_memory_ =
      std::ranges::all_of(boards_, [](const Board* board) { return board != nullptr; });
}

Status Team::add(std::unique_ptr<Neighbour> neighbour) {
  Neighbour& added = *neighbour;
  map(added.segment.base(), added.ranks, false);
  for (const int rank : added.ranks) neighbour_of_[static_cast<std::size_t>(rank)] = &added;
  neighbours_.push_back(std::move(neighbour));
  std::size_t near = locals_.size();
  for (const auto& each : neighbours_) near += each->ranks.size();
  process_->executor().know_of_host_ranks(static_cast<int>(near));
  return peers_->watch(
      {.rank = added.ranks.front(),
       .process = added.memory->process(),
       .socket = added.memory->socket()},
      [this, &added](const transport::WatchedPeer&, const Error& error) { lose(added, error); });
}

void Team::add(int rank, int peer, Socket socket) {
  links_.lock()->sockets.emplace(Pair{rank, peer}, std::move(socket));
}

// A process that has left the communicator before may end. One that has failed before tells why.
void Team::lose(Neighbour& neighbour, const Error& error) {
  neighbour.lost.store(true, std::memory_order_relaxed);
  std::optional<Error> cause;
  for (const int rank : neighbour.ranks) {
    std::atomic<Life>& life = board(rank).life.now;
    const Life last = life.load(std::memory_order_acquire);
    if (last == Life::kFinalized) continue;
    const bool failed = has_failed(rank);  // another process may have called it dead before
    const int lost = failed ? board(rank).failure.lost.load(std::memory_order_relaxed) : rank;
    int nobody = transport::Link::kNobody;
    first_lost_.compare_exchange_strong(nobody, lost);
    if (!cause) cause = failed ? failure_of(rank) : error;
    life.store(Life::kDead, std::memory_order_release);
  }
  if (cause) fail(*cause);
}

bool Team::has_failed(int rank) const {
  const Board& of = board(rank);
  const Life life = of.life.now.load(std::memory_order_acquire);
  if (life == Life::kFailed) return true;
  return life == Life::kDead && of.failure.code.load(std::memory_order_acquire) != 0;
}

Error Team::failure_of(int rank) const {
  const FailureLines& failure = board(rank).failure;
  return Error::make(static_cast<Code>(failure.code.load(std::memory_order_relaxed) - 1),
                     failure.text.data());
}

void Team::look_for_circles(int rank) {
  if (board(rank).life.messages.load(std::memory_order_relaxed) != 0) return;
  for (Board* const each : boards_) {
    if (each != nullptr) each->life.messages.store(1, std::memory_order_seq_cst);
  }
}

std::optional<Error> Team::failure_elsewhere() const {
  for (const auto& neighbour : neighbours_) {
    for (const int rank : neighbour->ranks) {
      if (has_failed(rank)) return failure_of(rank);
    }
  }
  return std::nullopt;
}

bool Team::is_gone(int rank) const {
  const Board* const board = boards_[static_cast<std::size_t>(rank)];
  if (board == nullptr) return false;
  const Life life = board->life.now.load(std::memory_order_acquire);
  return life != Life::kAlive && life != Life::kAbsent;
}

Result<std::byte*> Team::peer_buffer(int rank, std::uint64_t address, std::size_t bytes) {
  Neighbour* const neighbour = neighbour_of(rank);
  if (neighbour == nullptr) return reinterpret_cast<std::byte*>(address);
  return neighbour->memory->translate(address, bytes);
}

Status Team::share_memory() {
  for (const auto& neighbour : neighbours_) COMMRIG_TRY(neighbour->memory->share_new());
  return ok();
}

Result<transport::Link*> Team::link(int rank, int peer) {
  const auto links = links_.lock();
  auto& link = links->made[{rank, peer}];
  if (link == nullptr) {
    COMMRIG_ASSIGN(link, connect(*links, rank, peer));
    if (link != nullptr && abort_.raised()) link->abort(lost_rank(*links));
  }
  return link.get();
}

Result<std::unique_ptr<transport::Link>> Team::connect(Links& links, int rank, int peer) {
  if (rank == peer) return transport::make_self_link({rank, waker_});
  if (is_local(peer)) {
    const auto found = links.waiting.find({rank, peer});
    if (found != links.waiting.end()) {
      std::unique_ptr<transport::Link> mine = std::move(found->second);
      links.waiting.erase(found);
      return mine;
    }
    auto [mine, theirs] = transport::make_thread_link({rank, waker_}, {peer, waker_});
    links.waiting.emplace(Pair{peer, rank}, std::move(theirs));
    return std::move(mine);
  }
  if (Neighbour* const neighbour = neighbour_of(peer)) return connect_near(rank, peer, *neighbour);
  const auto socket = links.sockets.find({rank, peer});
  COMMRIG_CHECK(socket != links.sockets.end(), "no way to a rank of another process");
  Socket connection = std::move(socket->second);
  links.sockets.erase(socket);
  return transport::TcpLink::create({.ends = {.rank = rank, .peer = peer},
                                     .socket = std::move(connection),
                                     .poller = process_->poller(),
                                     .waker = waker_});
}

// The lower rank makes what the two share, and the other one takes it.
Result<std::unique_ptr<transport::Link>> Team::connect_near(int rank, int peer,
                                                            Neighbour& neighbour) {
  const int low = std::min(rank, peer);
  const int high = std::max(rank, peer);
  const transport::Tag tag{static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
  const transport::ShmLinkOptions options{.ends = {.rank = rank, .peer = peer},
                                          .side = rank == low ? 0 : 1,
                                          .peer = *neighbour.memory,
                                          .waker = waker_};
  if (rank == low) {
    COMMRIG_ASSIGN(transport::Segment segment, transport::make_shm_segment());
    COMMRIG_TRY(neighbour.memory->give(tag, segment));
    COMMRIG_ASSIGN(std::unique_ptr<transport::Link> link,
                   transport::make_shm_link(std::move(segment), options));
    neighbour.memory->waker().wake();
    return link;
  }
  COMMRIG_ASSIGN(std::optional<transport::Segment> segment, neighbour.memory->take(tag));
  if (!segment.has_value()) return std::unique_ptr<transport::Link>();
  return transport::make_shm_link(std::move(*segment), options);
}

Result<std::shared_ptr<Team>> Team::child(std::uint64_t number, int ranks) {
  const auto children = children_.lock();
  Child& child = (*children)[number];
  if (child.team == nullptr) {
    COMMRIG_ASSIGN(child.team, create_local(machine_, ranks));
  }
  std::shared_ptr<Team> team = child.team;
  if (++child.taken == ranks) children->erase(number);
  return team;
}

// Who is to be named to those that see neither its end nor its links. What others have found out
// before they ended themselves counts first.
int Team::lost_rank(const Links& links) const {
  if (const int first = first_lost_.load(); first >= 0) return first;
  for (const auto& neighbour : neighbours_) {
    for (const int rank : neighbour->ranks) {
      const Board& theirs = board(rank);
      if (theirs.life.now.load(std::memory_order_acquire) != Life::kFailed) continue;
      const int lost = theirs.failure.lost.load(std::memory_order_relaxed);
      if (lost >= 0) return lost;
    }
  }
  for (const auto& [pair, link] : links.made) {
    if (link != nullptr && link->lost_rank() >= 0) return link->lost_rank();
  }
  return transport::Link::kNobody;
}

void Team::fail(const Error& error) {
  const bool first = !abort_.raised();
  abort_.raise(error, machine_.executor());
  if (first && code_info(error.code).kind != Kind::kAborted) process_tally().add_finding(number_);
  if (first) {
    const auto links = links_.lock();
    const int lost = lost_rank(*links);
    for (const int rank : locals_) {
      Board& own = board(rank);
      std::uint32_t none = 0;
      const auto code = static_cast<std::uint32_t>(error.code) + 1;
      if (!own.failure.code.compare_exchange_strong(none, code)) continue;
      const std::size_t length = std::min(error.message.size(), own.failure.text.size() - 1);
      std::copy_n(error.message.data(), length, own.failure.text.data());
      own.failure.lost.store(lost, std::memory_order_relaxed);
      Life alive = Life::kAlive;
      own.life.now.compare_exchange_strong(alive, Life::kFailed, std::memory_order_acq_rel);
    }
    for (const auto& [pair, link] : links->made) {
      if (link != nullptr) link->abort(lost);
    }
  }
  machine_.poke();
  for (const auto& neighbour : neighbours_) neighbour->memory->waker().wake();
}

}  // namespace commrig::comm
