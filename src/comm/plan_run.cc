// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/plan_run.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/fence.h"
#include "comm/circle.h"
#include "comm/tally.h"
#include "dtype/reduce.h"

namespace commrig::comm {
namespace {

using coll::Buffer;
using coll::Place;
using coll::Step;
using coll::StepKind;
using device::Progress;

// What is read again soon, for several targets, should still lie in the nearest caches.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
// So little is done by whoever enqueues it.
constexpr std::size_t kQuickBytes = std::size_t{64} << 10U;

// "rank 2: all-gather of 4 fp32; ranks 0,1,3: all-reduce of 4 fp32, sum"
std::string list_by_call(const std::map<std::string, std::vector<int>>& ranks_of) {
  std::string text;
  for (const auto& [call, ranks] : ranks_of) {
    if (!text.empty()) text += "; ";
    text +=
        fmt::format("{} {}: {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ","), call);
  }
  return text;
}

}  // namespace

PlanRun::PlanRun(Endpoint& endpoint, Call call, std::shared_ptr<const KnownPlan> plan,
                 std::uint32_t print)
    : Operation(endpoint),
      call_(std::move(call)),
      plan_(std::move(plan)),
      number_(plan_->collective ? endpoint.next_number() : 0),
      fingerprint_(print ^ plan_->salt) {}

bool PlanRun::quick() const {
  return call_.count * dtype::info(call_.dtype).bytes <= kQuickBytes && call_.counts.empty();
}

Status PlanRun::begin() {
  Team& team = endpoint().team();
  const std::size_t element = dtype::size_of(call_.dtype);
  if (plan_->plan.private_count != 0) {
    private_ = endpoint().private_memory(plan_->plan.private_count * element);
  }
  if (number_ == 0) return ok();
  if (plan_->exposes_buffers && team.needs_device_memory()) {
    const device::Memory& memory = team.machine().memory();
    const bool host = (plan_->input_count != 0 && !memory.is_device_address(call_.input)) ||
                      (plan_->output_count != 0 && !memory.is_device_address(call_.output));
    if (host) {
      COMMRIG_ASSIGN(staging_,
                     Staging::create(endpoint().staging_area(), call_, plan_->input_count * element,
                                     plan_->output_count * element));
      staging_->begin(call_);
    }
    COMMRIG_TRY(team.share_memory());
  }
  post(call_, number_, endpoint().board().calls[parity()]);
  endpoint().board().state.begun.store(number_, std::memory_order_seq_cst);
  return ok();
}

void PlanRun::finish() {
  Board& board = endpoint().board();
  if (staging_.has_value() && !failed() && at_ == plan_->plan.steps.size()) staging_->end();
  if (!failed() && at_ == plan_->plan.steps.size()) {
    const std::uint64_t bytes = plan_->input_count * dtype::size_of(call_.dtype);
    process_tally().add_collective(call_.internal ? 0 : bytes,
                                   !call_.internal && endpoint().rank() == 0);
  }
  if (number_ != 0) board.state.finished.store(number_, std::memory_order_release);
}

Result<Progress> PlanRun::go_on() {
  const std::vector<Step>& steps = plan_->plan.steps;
  if (!outbox().empty()) COMMRIG_TRY(outbox().advance());
  while (at_ < steps.size()) {
    COMMRIG_ASSIGN(const Progress progress, run(steps[at_]));
    if (progress == Progress::kPending) return progress;
    ++at_;
  }
  if (outbox().empty()) return Progress::kDone;
  COMMRIG_ASSIGN(const transport::Progress sent, outbox().advance());
  return sent == transport::Progress::kDone ? Progress::kDone : Progress::kPending;
}

Result<Progress> PlanRun::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kReduce:
      COMMRIG_TRY(move(step));
      return Progress::kDone;
    case StepKind::kSignal:
      signal(step);
      return Progress::kDone;
    case StepKind::kWait:
      return wait_for_phase(step);
    case StepKind::kReclaim:
      return reclaim(step);
    case StepKind::kSend:
      return begin_send(step);
    case StepKind::kRecv:
      return recv(step);
    case StepKind::kDrain: {
      COMMRIG_ASSIGN(const transport::Progress sent, outbox().advance());
      return sent == transport::Progress::kDone ? Progress::kDone : Progress::kPending;
    }
  }
  COMMRIG_CHECK(false, "a step of no kind");
}

Result<std::byte*> PlanRun::address(const Place& place, std::size_t count) const {
  Team& team = endpoint().team();
  const bool own = place.rank == endpoint().rank();
  const std::size_t element = dtype::size_of(call_.dtype);
  const std::size_t offset = place.offset * element;
  const CallLine& theirs = team.board(place.rank).calls[parity()];
  switch (place.buffer) {
    case Buffer::kScratch:
      return (plan_->scratch_in_line ? team.board(place.rank).flags[parity()].payload.data()
                                     : team.slot(place.rank, parity())) +
             offset;
    case Buffer::kPrivate:
      return private_ + offset;
    case Buffer::kInput:
      if (own)
        return static_cast<std::byte*>(const_cast<void*>(call_.input)) + offset;  // only read
      return team.peer_buffer(place.rank, theirs.input.load(std::memory_order_relaxed) + offset,
                              count * element);
    case Buffer::kOutput:
      if (own) return static_cast<std::byte*>(call_.output) + offset;
      return team.peer_buffer(place.rank, theirs.output.load(std::memory_order_relaxed) + offset,
                              count * element);
  }
  COMMRIG_CHECK(false, "a place in no buffer");
}

Status PlanRun::find_places(const Step& step) const {
  Endpoint::Places& places = endpoint().places();
  places.sources.clear();
  for (const Place& place : plan_->plan.sources(step)) {
    COMMRIG_ASSIGN(const std::byte* const each, address(place, step.count));
    places.sources.push_back(each);
  }
  places.targets.clear();
  for (const Place& place : plan_->plan.targets(step)) {
    COMMRIG_ASSIGN(std::byte* const each, address(place, step.count));
    places.targets.push_back(each);
  }
  return ok();
}

bool PlanRun::touches_others(const Step& step) const {
  const auto foreign = [this](const Place& place) {
    return place.rank != endpoint().rank() && place.buffer != Buffer::kScratch;
  };
  return std::ranges::any_of(plan_->plan.sources(step), foreign) ||
         std::ranges::any_of(plan_->plan.targets(step), foreign);
}

// The mark comes before the look at the flag, and an error is raised before the marks are looked
// at (Failing): so a peer that has ended with an error knows whether its buffers are in use.
Status PlanRun::move(const Step& step) {
  const bool marked = touches_others(step);
  std::atomic<std::uint32_t>& mark = endpoint().board().state.touching;
  if (marked) {
    mark.store(1, std::memory_order_relaxed);
    full_fence();
    if (endpoint().team().abort().raised()) {
      mark.store(0, std::memory_order_release);
      return *endpoint().team().abort().error();
    }
  }
  Status status = find_places(step);
  if (status && step.kind == StepKind::kCopy) copy(step);
  if (status && step.kind == StepKind::kReduce) status = reduce(step);
  if (marked) {
    mark.store(0, std::memory_order_release);
    if (endpoint().team().abort().raised()) endpoint().team().stir();
  }
  return status;
}

void PlanRun::copy(const Step& step) const {
  const std::size_t bytes = step.count * dtype::size_of(call_.dtype);
  const auto* const source = static_cast<const std::byte*>(endpoint().places().sources[0]);
  const std::vector<std::byte*>& targets = endpoint().places().targets;
  const dtype::Stores stores = dtype::stores_for(bytes * (1 + targets.size()));
  for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, bytes - done);
    for (std::byte* const target : targets) {
      if (target != source) dtype::copy(target + done, source + done, piece, stores);
    }
  }
}

// Past the caches go sums that nobody reads before the end of a call whose data no cache holds.
// Copies are another matter: the processor's own way of moving bytes reads no line that it writes.
dtype::Stores PlanRun::stores_for(const Step& step) const {
  const bool last = !plan_->reads_outputs &&
                    std::ranges::all_of(plan_->plan.targets(step), [](const Place& place) {
                      return place.buffer == Buffer::kOutput;
                    });
  return last ? dtype::stores_for(plan_->working_set * dtype::size_of(call_.dtype))
              : dtype::Stores::kOrdinary;
}

// For several targets a piece is folded into the first one, or aside if that is written past the
// caches, and copied on while it is still at hand.
Status PlanRun::reduce(const Step& step) const {
  const std::size_t element = dtype::size_of(call_.dtype);
  auto& [sources, targets] = endpoint().places();
  const std::size_t bytes = step.count * element;
  const dtype::Stores stores = stores_for(step);
  if (targets.size() == 1) {
    return dtype::reduce(call_.op, call_.dtype, sources, targets[0], step.count, stores);
  }
  const bool aside = stores == dtype::Stores::kStreaming;
  std::byte* const room = aside ? endpoint().piece_memory(kPieceBytes) : nullptr;
  for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, bytes - done);
    std::byte* const folded = aside ? room : targets[0] + done;
    COMMRIG_TRY(dtype::reduce(call_.op, call_.dtype, sources, folded, piece / element,
                              dtype::Stores::kOrdinary));
    for (std::size_t i = aside ? 0 : 1; i < targets.size(); ++i) {
      dtype::copy(targets[i] + done, folded, piece, stores);
    }
    for (const void*& source : sources) source = static_cast<const std::byte*>(source) + piece;
  }
  return ok();
}

void PlanRun::signal(const Step& step) {
  const Flag flag(number_, fingerprint_, step.phase);
  endpoint().board().flags[parity()].flag.store(flag.bits(), std::memory_order_release);
  endpoint().team().stir();
}

bool PlanRun::has_ended(int peer) const {
  return endpoint().team().board(peer).state.finished.load(std::memory_order_acquire) >= number_;
}

Result<bool> PlanRun::reached(int peer, std::uint32_t phase) const {
  const std::atomic<std::uint64_t>& word = endpoint().team().board(peer).flags[parity()].flag;
  const Flag flag(word.load(std::memory_order_acquire));
  const std::int32_t ahead = flag.ahead_of(number_);
  if (ahead != 0) return ahead > 0;
  if (flag.fingerprint() != (fingerprint_ & 0xFFFFFFU)) [[unlikely]]
    return mismatch();
  return flag.phase() >= phase || has_ended(peer);
}

// Everybody who is in an operation of this number, by what it is.
Error PlanRun::mismatch() const {
  Team& team = endpoint().team();
  std::map<std::string, std::vector<int>> ranks_of;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    const CallLine& line = team.board(rank).calls[parity()];
    const Flag flag(team.board(rank).flags[parity()].flag.load(std::memory_order_acquire));
    const bool here = rank == endpoint().rank() || flag.ahead_of(number_) == 0;
    if (here) ranks_of[describe(line)].push_back(rank);
  }
  return Error::make(Code::kCollectiveMismatch, fmt::format("call {} of the communicator: {}",
                                                            number_, list_by_call(ranks_of)));
}

// A peer that will not come any more; looked at after the flag was found missing.
Status PlanRun::check_alive(int peer, std::uint32_t phase) const {
  const Board& board = endpoint().team().board(peer);
  const Life life = board.life.now.load(std::memory_order_acquire);
  if (life == Life::kAlive || life == Life::kAbsent) return ok();
  if (endpoint().team().has_failed(peer)) return endpoint().team().failure_of(peer);
  COMMRIG_ASSIGN(const bool reached, this->reached(peer, phase));
  if (reached) return ok();
  return left(peer);
}

Error PlanRun::left(int peer) const {
  const Board& board = endpoint().team().board(peer);
  const Life life = board.life.now.load(std::memory_order_acquire);
  if (endpoint().team().has_failed(peer)) return endpoint().team().failure_of(peer);
  return Error::make(
      Code::kPeerLeft,
      fmt::format("rank {} waits in call {} ({}); rank {} has {} after call {}", endpoint().rank(),
                  number_, describe(endpoint().board().calls[parity()]), peer,
                  life == Life::kDead ? "died" : "left the communicator",
                  board.state.finished.load(std::memory_order_acquire)));
}

Result<Progress> PlanRun::wait_on(int peer, std::uint64_t number) {
  const Awaited awaited{.kind = Awaited::Kind::kCollective,
                        .peer = peer,
                        .number = static_cast<std::uint32_t>(number)};
  if (number_ == 0 || !endpoint().await(awaited)) return Progress::kPending;
  // Collectives alone form no circle: their order is the same on all ranks.
  if (endpoint().board().life.messages.load(std::memory_order_seq_cst) == 0) {
    return Progress::kPending;
  }
  if (const auto circle = find_circle(endpoint().team(), endpoint().rank())) return *circle;
  return Progress::kPending;
}

Result<Progress> PlanRun::wait_for_phase(const Step& step) {
  const bool all = step.peer == coll::kEveryone;
  const int last = all ? endpoint().ranks() - 1 : step.peer;
  for (int peer = all ? peer_at_ : step.peer; peer <= last; ++peer) {
    if (peer == endpoint().rank()) continue;
    COMMRIG_ASSIGN(const bool reached, this->reached(peer, step.phase));
    if (!reached) {
      COMMRIG_TRY(check_alive(peer, step.phase));
      peer_at_ = all ? peer : 0;
      return wait_on(peer, number_);
    }
    endpoint().learn_ended(peer, number_ - 1);
  }
  peer_at_ = 0;
  return Progress::kDone;
}

Result<Progress> PlanRun::reclaim(const Step& step) {
  if (number_ <= 2) return Progress::kDone;
  const std::uint64_t needed = number_ - 2;
  const bool all = step.peer == coll::kEveryone;
  const int last = all ? endpoint().ranks() - 1 : step.peer;
  for (int peer = all ? peer_at_ : step.peer; peer <= last; ++peer) {
    if (peer == endpoint().rank() || endpoint().known_ended(peer) >= needed) continue;
    const StateLine& state = endpoint().team().board(peer).state;
    const std::uint64_t ended = state.finished.load(std::memory_order_acquire);
    endpoint().learn_ended(peer, ended);
    if (ended < needed) {
      peer_at_ = all ? peer : 0;
      return wait_on(peer, needed);
    }
  }
  peer_at_ = 0;
  return Progress::kDone;
}

Result<Progress> PlanRun::begin_send(const Step& step) {
  COMMRIG_ASSIGN(transport::Link* const link, endpoint().team().link(endpoint().rank(), step.peer));
  if (link == nullptr) return Progress::kPending;
  COMMRIG_ASSIGN(std::byte* const data, address(plan_->plan.sources(step)[0], step.count));
  outbox().add(*link, {.data = data, .bytes = step.count * dtype::size_of(call_.dtype)});
  COMMRIG_TRY(outbox().advance());
  return Progress::kDone;
}

Result<Progress> PlanRun::recv(const Step& step) {
  const bool gone = endpoint().team().is_gone(step.peer);  // before a look at what it has sent
  COMMRIG_ASSIGN(transport::Link* const link, endpoint().team().link(endpoint().rank(), step.peer));
  if (link == nullptr) return wait_on(step.peer, number_);
  if (incoming_.data == nullptr) {
    COMMRIG_ASSIGN(std::byte* const data, address(plan_->plan.targets(step)[0], step.count));
    incoming_ = {.data = data, .bytes = step.count * dtype::size_of(call_.dtype)};
  }
  COMMRIG_ASSIGN(const transport::Progress received, link->recv(incoming_));
  if (received != transport::Progress::kDone) {
    if (gone) return left(step.peer);
    return wait_on(step.peer, number_);
  }
  incoming_ = {};
  return Progress::kDone;
}

// What a wait polls: links say by their wakers that they may go on.
bool PlanRun::has_come() const {
  const std::vector<Step>& steps = plan_->plan.steps;
  if (at_ >= steps.size()) return false;
  const Step& step = steps[at_];
  if (step.kind == StepKind::kRecv) {
    return incoming_.data != nullptr && endpoint().team().is_gone(step.peer);
  }
  if (step.kind != StepKind::kWait && step.kind != StepKind::kReclaim) return false;
  const int peer = step.peer == coll::kEveryone ? peer_at_ : step.peer;
  const Board& board = endpoint().team().board(peer);
  const Life life = board.life.now.load(std::memory_order_acquire);
  if (life != Life::kAlive && life != Life::kAbsent) return true;
  if (step.kind == StepKind::kReclaim) {
    return board.state.finished.load(std::memory_order_acquire) + 2 >= number_;
  }
  const Flag flag(board.flags[parity()].flag.load(std::memory_order_acquire));
  const std::int32_t ahead = flag.ahead_of(number_);
  return ahead > 0 || (ahead == 0 && flag.phase() >= step.phase) || has_ended(peer);
}

}  // namespace commrig::comm
