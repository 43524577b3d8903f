// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/communicator.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "comm/buffer_check.h"
#include "comm/card.h"
#include "comm/plan_run.h"

namespace commrig::comm {
namespace {

using coll::Collective;

static_assert(sizeof(PlanRun) <= device::WorkCells::kCellBytes, "a call would allocate memory");

PlanOptions plan_options(const CommunicatorOptions& options, const Team& team) {
  PlanOptions plans;
  plans.capabilities.shared_memory = team.shares_memory() && !options.messages_only;
  plans.capabilities.strict = options.strict;
  plans.capabilities.slot_bytes = kSlotBytes;
  plans.model.ranks_share_cores =
      static_cast<unsigned>(team.ranks()) > std::max(1U, std::thread::hardware_concurrency());
  plans.rules = options.rules;
  return plans;
}

coll::Request request_of(const Call& call, int ranks) {
  return {.collective = call.collective,
          .ranks = ranks,
          .root = coll::has_root(call.collective) ? call.root : 0,
          .count = coll::has_counts(call.collective) ? 0 : call.count,
          .element_bytes = dtype::size_of(call.dtype),
          .in_place = false,
          .counts = call.counts};
}

struct Extent {
  std::uintptr_t begin;
  std::uintptr_t end;
};

Extent extent(const void* buffer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  return {begin, begin + bytes};
}

}  // namespace

Communicator::Communicator(std::shared_ptr<Team> team, int rank, const CommunicatorOptions& options,
                           std::unique_ptr<device::Stream> stream)
    : options_(options),
      endpoint_(team, rank),
      plans_(rank, plan_options(options, *team)),
      known_calls_(team->machine().memory()),
      stream_(std::move(stream)) {
  endpoint_.board().life.now.store(Life::kAlive, std::memory_order_release);
}

Communicator::~Communicator() {
  leave();
}

Result<std::unique_ptr<Communicator>> Communicator::join(std::shared_ptr<Team> team, int rank,
                                                         const CommunicatorOptions& options) {
  const int device = rank % std::min(options.devices, team->machine().devices());
  COMMRIG_ASSIGN(std::unique_ptr<device::Stream> stream, team->machine().create_stream(device));
  std::unique_ptr<Communicator> joined;
  joined.reset(new Communicator(  // tidy: allow(new) private
      std::move(team), rank, options, std::move(stream)));
  return joined;
}

Result<std::vector<std::unique_ptr<Communicator>>> Communicator::create_all(
    device::Machine& machine, int ranks, const CommunicatorOptions& options) {
  if (ranks < 1 || ranks > coll::kRanksMax) {
    return Error::make(
        Code::kCollectiveRanks,
        fmt::format("a communicator of {} ranks; expected 1 to {}", ranks, coll::kRanksMax));
  }
  COMMRIG_ASSIGN(std::shared_ptr<Team> team, Team::create_local(machine, ranks));
  std::vector<std::unique_ptr<Communicator>> all;
  for (int rank = 0; rank < ranks; ++rank) {
    COMMRIG_ASSIGN(std::unique_ptr<Communicator> one, join(team, rank, options));
    all.push_back(std::move(one));
  }
  return all;
}

Result<std::unique_ptr<Communicator>> Communicator::create(Process& process,
                                                           bootstrap::Exchange& exchange,
                                                           const CommunicatorOptions& options) {
  COMMRIG_ASSIGN(std::shared_ptr<Team> team, set_up_team(process, exchange, options.team));
  return join(std::move(team), exchange.rank(), options);
}

Status Communicator::check_usable() const {
  if (left_) {
    return Error::make(Code::kCommunicatorState,
                       fmt::format("rank {} has finalized this communicator", rank()));
  }
  return error();
}

// Whether the call is in place; an overlap of any other kind is an error.
Result<bool> Communicator::check_buffers(const Call& call, const coll::Request& request) const {
  const std::size_t in = coll::input_count(request, rank());
  const std::size_t out = coll::output_count(request, rank());
  const device::Memory& memory = known_calls_.memory();
  COMMRIG_TRY(check_buffer(memory, call, call.input, in, HostAccess::kRead));
  COMMRIG_TRY(check_buffer(memory, call, call.output, out, HostAccess::kWrite));
  if (in == 0 || out == 0) return false;
  const std::size_t element = request.element_bytes;
  const Extent input = extent(call.input, in * element);
  const Extent output = extent(call.output, out * element);
  if (input.end <= output.begin || output.end <= input.begin) return false;
  coll::Request in_place = request;
  in_place.in_place = true;
  const coll::Overlay overlay = coll::overlay(in_place, rank());
  const bool input_inside = overlay.inner == coll::Buffer::kInput;
  const Extent& outer = input_inside ? output : input;
  const Extent& inner = input_inside ? input : output;
  const std::uintptr_t expected = outer.begin + overlay.offset * element;
  if (overlay.exists && inner.begin == expected) return true;
  const std::string form =
      overlay.exists
          ? fmt::format(
                "; the in-place form has the {} {} bytes behind the start of the {}, "
                "found {}",
                input_inside ? "input" : "output", overlay.offset * element,
                input_inside ? "output" : "input",
                static_cast<std::int64_t>(inner.begin) - static_cast<std::int64_t>(outer.begin))
          : std::string("; it has no in-place form here");
  return Error::make(Code::kBuffersMeet,
                     fmt::format("rank {}: {}{}", rank(), coll::name(call.collective), form));
}

Result<std::shared_ptr<const KnownPlan>> Communicator::plan_of(const Call& call) {
  if (coll::has_arithmetic(call.collective) && !dtype::info(call.dtype).has_arithmetic) {
    return Error::make(Code::kNoArithmetic,
                       fmt::format("rank {}: {} of {}", rank(), coll::name(call.collective),
                                   dtype::info(call.dtype).name));
  }
  coll::Request request = request_of(call, ranks());
  COMMRIG_TRY(coll::check(request));
  COMMRIG_ASSIGN(request.in_place, check_buffers(call, request));
  return plans_.find(request);
}

Status Communicator::enqueue(device::Stream& stream, Call call) {
  COMMRIG_TRY(check_usable());
  const KnownCall* const known = known_calls_.find(call);
  if (known != nullptr && known->host_buffers_are_there()) {
    return stream.emplace<PlanRun>(endpoint_, std::move(call), known->plan, known->fingerprint);
  }
  const std::uint64_t generation = known_calls_.memory().generation();
  COMMRIG_ASSIGN(std::shared_ptr<const KnownPlan> plan, plan_of(call));
  known_calls_.remember(call, plan, generation);
  const std::uint32_t print = fingerprint(call);
  return stream.emplace<PlanRun>(endpoint_, std::move(call), std::move(plan), print);
}

Status Communicator::enqueue(device::Stream& stream, std::vector<Message> messages) {
  COMMRIG_TRY(check_usable());
  const device::Memory& memory = endpoint_.team().machine().memory();
  for (const Message& message : messages) {
    const std::string_view what = message.outgoing ? "message to" : "message from";
    if (message.peer < 0 || message.peer >= ranks()) {
      return Error::make(Code::kNoSuchPeer, fmt::format("rank {}: {} rank {} of {} ranks", rank(),
                                                        what, message.peer, ranks()));
    }
    if (message.bytes == 0) continue;
    if (message.data == nullptr) {
      return Error::make(Code::kCollectiveBuffer,
                         fmt::format("rank {}: {} rank {}, {} bytes: null", rank(), what,
                                     message.peer, message.bytes));
    }
    const HostAccess access = message.outgoing ? HostAccess::kRead : HostAccess::kWrite;
    if (Status status = device::check_range(memory, message.data, message.bytes, access); !status) {
      Error error = status.error();
      error.message =
          fmt::format("rank {}: {} rank {}: {}", rank(), what, message.peer, error.message);
      return error;
    }
  }
  return stream.emplace<MessageRun>(endpoint_, std::move(messages));
}

Status Communicator::barrier() {
  std::int32_t mine = 0;
  std::int32_t all = 0;
  COMMRIG_TRY(enqueue(*stream_, Call{.collective = Collective::kAllReduce,
                                     .input = &mine,
                                     .output = &all,
                                     .count = 1,
                                     .dtype = dtype::Dtype::kInt32}));
  return endpoint_.team().machine().synchronize(*stream_);
}

Status Communicator::gather_bytes(const void* mine, void* all, std::size_t bytes) {
  COMMRIG_TRY(enqueue(*stream_, Call{.collective = Collective::kAllGather,
                                     .input = mine,
                                     .output = all,
                                     .count = bytes,
                                     .dtype = dtype::Dtype::kUint8,
                                     .internal = true}));
  return endpoint_.team().machine().synchronize(*stream_);
}

// What some ranks of a communicator exchange, through calls that all its ranks make.
class Communicator::PartExchange final : public bootstrap::Exchange {
 public:
  // Ranks of the whole in the order of the part; empty for a rank that belongs to none.
  PartExchange(Communicator& whole, const std::vector<int>& members)
      : whole_(whole), members_(members) {}

  int rank() const override {
    const auto place = std::ranges::find(members_, whole_.rank());
    return static_cast<int>(place - members_.begin());
  }
  int ranks() const override { return static_cast<int>(members_.size()); }

  Status all_gather(std::span<std::byte> blocks, std::size_t block_bytes) override {
    std::vector<std::byte> mine(block_bytes);
    if (!members_.empty()) {
      std::memcpy(mine.data(), blocks.data() + static_cast<std::size_t>(rank()) * block_bytes,
                  block_bytes);
    }
    std::vector<std::byte> all(block_bytes * static_cast<std::size_t>(whole_.ranks()));
    COMMRIG_TRY(whole_.gather_bytes(mine.data(), all.data(), block_bytes));
    for (std::size_t i = 0; i < members_.size(); ++i) {
      std::memcpy(blocks.data() + i * block_bytes,
                  all.data() + static_cast<std::size_t>(members_[i]) * block_bytes, block_bytes);
    }
    return ok();
  }
  Status barrier() override { return whole_.barrier(); }
  // The others wait in a call of the whole communicator.
  void abort(const Error& error) override { whole_.endpoint_.team().fail(error); }

 private:
  Communicator& whole_;
  const std::vector<int>& members_;
};

// Null for a rank that belongs to no part, which makes the calls of the others all the same.
Result<std::shared_ptr<Team>> Communicator::team_of_part(const std::vector<int>& members,
                                                         bool member) {
  Process& process = *endpoint_.team().process();
  PartExchange exchange(*this, members);
  if (member) return set_up_team(process, exchange, options_.team);
  COMMRIG_TRY(exchange.all_gather({}, sizeof(IdentityCard)));
  COMMRIG_TRY(exchange.all_gather({}, sizeof(AddressCard)));
  COMMRIG_TRY(exchange.barrier());
  return std::shared_ptr<Team>();
}

Result<std::unique_ptr<Communicator>> Communicator::split(int color, int key) {
  struct Wish {
    std::int32_t color;
    std::int32_t key;
    std::int32_t rank;
  };
  const Wish mine{color, key, rank()};
  std::vector<Wish> all(static_cast<std::size_t>(ranks()));
  COMMRIG_TRY(gather_bytes(&mine, all.data(), sizeof(Wish)));
  const std::uint64_t round = endpoint_.next_split();
  std::erase_if(all, [color](const Wish& wish) { return wish.color != color || color < 0; });
  std::ranges::sort(all, {}, [](const Wish& wish) { return std::pair(wish.key, wish.rank); });
  std::vector<int> members;
  for (const Wish& wish : all) members.push_back(wish.rank);
  const auto place = std::ranges::find(members, rank());
  std::shared_ptr<Team> team;
  if (endpoint_.team().process() != nullptr) {
    COMMRIG_ASSIGN(team, team_of_part(members, color >= 0));
  } else if (color >= 0) {
    const std::uint64_t number = round << 32U | static_cast<std::uint32_t>(color);
    COMMRIG_ASSIGN(team, endpoint_.team().child(number, static_cast<int>(members.size())));
  }
  if (team == nullptr) return std::unique_ptr<Communicator>();
  return join(std::move(team), static_cast<int>(place - members.begin()), options_);
}

Status Communicator::error() const {
  const AbortFlag& flag = const_cast<Endpoint&>(endpoint_).team().abort();
  if (!flag.raised()) return ok();
  return *flag.error();
}

void Communicator::abort() {
  endpoint_.team().fail(
      Error::make(Code::kAborted, fmt::format("rank {} aborted the communicator", rank())));
}

Status Communicator::finalize() {
  if (left_) return check_usable();
  device::Machine& machine = endpoint_.team().machine();
  COMMRIG_TRY(machine.drive_until([this] { return endpoint_.idle(); },
                                  "the operations of a communicator", kForever));
  leave();
  return error();
}

void Communicator::leave() {
  if (std::exchange(left_, true)) return;
  if (!endpoint_.idle()) {
    endpoint_.team().fail(Error::make(
        Code::kAborted, fmt::format("rank {} left the communicator during an operation", rank())));
    const Status ended = endpoint_.team().machine().drive_until(
        [this] { return endpoint_.idle(); }, "the operations of a communicator", kForever);
    COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
  }
  // One that has failed says so, or is about to: its peers may not have seen it yet.
  Life alive = Life::kAlive;
  if (!endpoint_.team().abort().raised()) {
    endpoint_.board().life.now.compare_exchange_strong(alive, Life::kFinalized,
                                                       std::memory_order_acq_rel);
  }
  endpoint_.team().stir();
}

}  // namespace commrig::comm
