// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/integration/random_program.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "tests/integration/pattern.h"

namespace commrig::integration {
namespace {

using coll::Collective;
using dtype::Dtype;
using dtype::ReduceOp;

// Memory for one buffer, in the device or the host, with guards behind it that must stay.
class Memory {
 public:
  Memory(device::Machine& machine, std::size_t bytes, bool in_device)
      : machine_(machine), bytes_(bytes) {
    if (in_device && bytes != 0) {
      Result<void*> allocated = machine.memory().allocate(0, bytes + kGuard);
      COMMRIG_CHECK(allocated.has_value(), "no device memory");
      device_ = static_cast<std::byte*>(*allocated);
    } else {
      host_.resize(bytes + kGuard + kAlignment);
    }
    std::fill_n(data() + bytes_, kGuard, kGuardByte);
  }
  ~Memory() {
    if (device_ == nullptr) return;
    const Status released = machine_.memory().release(device_);
    COMMRIG_CHECK(released.has_value(), to_string(released.error()));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() {
    if (device_ != nullptr) return device_;
    const auto address = reinterpret_cast<std::uintptr_t>(host_.data());
    return host_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }
  std::span<std::byte> bytes() { return {data(), bytes_}; }
  bool guard_holds() {
    return std::all_of(data() + bytes_, data() + bytes_ + kGuard,
                       [](std::byte byte) { return byte == kGuardByte; });
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::size_t kAlignment = 16;
  static constexpr std::byte kGuardByte{0xA5};
  device::Machine& machine_;
  std::size_t bytes_;
  std::byte* device_ = nullptr;
  std::vector<std::byte> host_;
};

// An operation that was enqueued, and how to look at what came out.
struct Pending {
  std::string text;
  std::vector<std::unique_ptr<Memory>> memory;
  std::function<Status()> check;
};

class Program {
 public:
  Program(const ProgramOptions& options, comm::Communicator& world, device::Machine& machine)
      : options_(options), world_(world), machine_(machine), rng_(options.seed) {}

  Status run();

 private:
  Status split();
  Status collective(comm::Communicator& comm);
  Status messages();
  Status settle();
  std::size_t random_count(std::size_t bytes_max, std::size_t element);
  coll::Request random_request(int ranks, std::size_t element);
  device::Stream& random_stream() { return *streams_[draw_.below(streams_.size())]; }

  ProgramOptions options_;
  comm::Communicator& world_;
  device::Machine& machine_;
  Rng rng_;      // in the same state on all ranks
  Rng draw_{0};  // of one operation: in the same state on the ranks that take part
  int number_ = 0;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::vector<std::unique_ptr<comm::Communicator>> parts_;
  std::vector<Pending> pending_;
};

Error wrong(const std::string& text) {
  return Error::make(Code::kWrongResult, text);
}

Status Program::split() {
  // Every rank draws the same numbers, whichever part it belongs to.
  const auto colors = static_cast<int>(1 + rng_.below(3));
  const int turn = static_cast<int>(rng_.below(2));
  const int color = (world_.rank() + turn) % colors;
  const int key = rng_.below(2) == 0 ? world_.rank() : -world_.rank();
  COMMRIG_ASSIGN(std::unique_ptr<comm::Communicator> part, world_.split(color, key));
  parts_.push_back(std::move(part));
  return ok();
}

std::size_t Program::random_count(std::size_t bytes_max, std::size_t element) {
  // As many small ones as large ones, by the logarithm of the size; sometimes none.
  const std::size_t most = std::max<std::size_t>(1, bytes_max / element);
  const auto bits = static_cast<std::uint64_t>(std::bit_width(most));
  const std::size_t below = std::min(most, std::size_t{1} << draw_.below(bits + 1));
  return draw_.below(below + 1);
}

coll::Request Program::random_request(int ranks, std::size_t element) {
  coll::Request request;
  request.collective = static_cast<Collective>(draw_.below(coll::kCollectives));
  request.ranks = ranks;
  request.element_bytes = element;
  if (coll::has_root(request.collective)) {
    request.root = static_cast<int>(draw_.below(static_cast<std::uint64_t>(ranks)));
  }
  const auto n = static_cast<std::size_t>(ranks);
  // The larger buffer of most collectives holds a block for each rank.
  const bool whole = request.collective == Collective::kAllReduce ||
                     request.collective == Collective::kReduce ||
                     request.collective == Collective::kBroadcast;
  const std::size_t most = whole ? options_.bytes_max : options_.bytes_max / n;
  if (!coll::has_counts(request.collective)) {
    request.count = random_count(most, element);
    return request;
  }
  const std::size_t blocks = request.collective == Collective::kAllToAllV ? n * n : n;
  for (std::size_t i = 0; i < blocks; ++i) request.counts.push_back(random_count(most, element));
  return request;
}

// Where rank r's part of a packed buffer begins.
std::size_t offset_of(const coll::Request& request, int rank) {
  if (request.counts.empty()) return static_cast<std::size_t>(rank) * request.count;
  return std::accumulate(request.counts.begin(), request.counts.begin() + rank, std::size_t{0});
}

// Elements that `sender` has for `receiver`, and where they begin in the sender's input.
struct Part {
  std::size_t first;
  std::size_t count;
};
Part part_for(const coll::Request& request, int sender, int receiver) {
  if (request.counts.empty()) {
    return {static_cast<std::size_t>(receiver) * request.count, request.count};
  }
  const std::size_t* const row =
      request.counts.data() + static_cast<std::size_t>(sender * request.ranks);
  return {std::accumulate(row, row + receiver, std::size_t{0}), row[receiver]};
}

// Compares a rank's whole output with what the collective means.
Status check_output(const coll::Request& request, const Pattern& pattern, int rank,
                    std::span<const std::byte> output) {
  const std::size_t element = request.element_bytes;
  std::size_t at = 0;
  const auto expect = [&](int source, std::size_t first, std::size_t count) -> Status {
    const std::span<const std::byte> found = output.subspan(at * element, count * element);
    const std::size_t bad = pattern.first_wrong(source, first, found);
    if (bad != count) return wrong(fmt::format("element {} of the output is wrong", at + bad));
    at += count;
    return ok();
  };
  const std::size_t count = output.size() / element;
  switch (coll::base_form(request.collective)) {
    case Collective::kAllReduce:
    case Collective::kReduce:
      return expect(Pattern::kAll, 0, count);
    case Collective::kReduceScatter:
      return expect(Pattern::kAll, offset_of(request, rank), count);
    case Collective::kBroadcast:
      return expect(request.root, 0, count);
    case Collective::kScatter:
      return expect(request.root, offset_of(request, rank), count);
    case Collective::kAllGather:
    case Collective::kGather:
      if (count == 0) return ok();
      for (int peer = 0; peer < request.ranks; ++peer) {
        COMMRIG_TRY(expect(peer, 0, coll::input_count(request, peer)));
      }
      return ok();
    case Collective::kAllToAll:
      for (int peer = 0; peer < request.ranks; ++peer) {
        const Part part = part_for(request, peer, rank);
        COMMRIG_TRY(expect(peer, part.first, part.count));
      }
      return ok();
    default:
      return wrong("a collective without a reference");
  }
}

Status Program::collective(comm::Communicator& comm) {
  const auto type = dtype::kDtypes[draw_.below(dtype::kDtypes.size())];
  coll::Request request = random_request(comm.ranks(), type.bytes);
  const auto op = static_cast<ReduceOp>(draw_.below(dtype::kReduceOps.size()));
  const bool wants_in_place = draw_.below(3) == 0;
  const bool in_device = draw_.below(2) == 0;
  device::Stream& stream = random_stream();
  const bool combines = coll::has_arithmetic(request.collective);
  if (combines && !type.has_arithmetic) return ok();
  // A sum of 64 ones has too many digits for 8 bits of floating point.
  if (combines && type.bytes == 1 && type.element_class == dtype::Class::kFloat &&
      op == ReduceOp::kSum) {
    return ok();
  }
  const int rank = comm.rank();
  const Pattern pattern(options_.seed ^ static_cast<std::uint64_t>(number_) << 40U, type.dtype,
                        combines, op, comm.ranks());
  const std::size_t in = coll::input_count(request, rank) * type.bytes;
  const std::size_t out = coll::output_count(request, rank) * type.bytes;
  request.in_place = wants_in_place;
  const coll::Overlay overlay = coll::overlay(request, rank);
  Pending pending;
  comm::Call call{.collective = request.collective,
                  .count = request.count,
                  .dtype = type.dtype,
                  .op = op,
                  .root = request.root,
                  .counts = request.counts};
  std::byte* input = nullptr;
  std::byte* output = nullptr;
  if (wants_in_place && overlay.exists && in != 0 && out != 0) {
    pending.memory.push_back(std::make_unique<Memory>(machine_, std::max(in, out), in_device));
    std::byte* const outer = pending.memory[0]->data();
    std::byte* const inner = outer + overlay.offset * type.bytes;
    input = overlay.inner == coll::Buffer::kInput ? inner : outer;
    output = overlay.inner == coll::Buffer::kInput ? outer : inner;
  } else {
    pending.memory.push_back(std::make_unique<Memory>(machine_, in, in_device));
    pending.memory.push_back(std::make_unique<Memory>(machine_, out, in_device));
    input = pending.memory[0]->data();
    output = pending.memory[1]->data();
  }
  pattern.fill(rank, 0, {input, in});
  call.input = input;
  call.output = output;
  pending.text = fmt::format("operation {}: {} of {} {} over {} ranks{}, rank {}", number_,
                             coll::name(request.collective), request.count, type.name, comm.ranks(),
                             wants_in_place ? " in place" : "", rank);
  pending.check = [request, pattern, rank, output, out] {
    return check_output(request, pattern, rank, {output, out});
  };
  COMMRIG_TRY(comm.enqueue(stream, call));
  pending_.push_back(std::move(pending));
  return ok();
}

Status Program::messages() {
  device::Stream& stream = random_stream();
  const auto n = static_cast<std::uint64_t>(world_.ranks());
  const std::size_t count = 1 + draw_.below(2 * n);
  const bool in_device = draw_.below(2) == 0;
  std::vector<comm::Message> mine;
  Pending pending;
  pending.text = fmt::format("operation {}: {} messages, rank {}", number_, count, world_.rank());
  std::vector<std::function<Status()>> checks;
  for (std::size_t i = 0; i < count; ++i) {
    const int sender = static_cast<int>(draw_.below(n));
    const int receiver = static_cast<int>(draw_.below(n));
    const std::size_t bytes = random_count(options_.bytes_max / n, 1);
    const Pattern pattern(options_.seed ^ static_cast<std::uint64_t>(number_) << 40U ^ i << 20U,
                          Dtype::kUint8, false, ReduceOp::kSum, world_.ranks());
    if (sender == world_.rank()) {
      pending.memory.push_back(std::make_unique<Memory>(machine_, bytes, in_device));
      pattern.fill(sender, 0, pending.memory.back()->bytes());
      mine.push_back({true, receiver, pending.memory.back()->data(), bytes});
    }
    if (receiver == world_.rank()) {
      pending.memory.push_back(std::make_unique<Memory>(machine_, bytes, in_device));
      std::byte* const data = pending.memory.back()->data();
      mine.push_back({false, sender, data, bytes});
      checks.emplace_back([pattern, sender, data, bytes, i]() -> Status {
        const std::size_t bad = pattern.first_wrong(sender, 0, {data, bytes});
        if (bad == bytes) return ok();
        return wrong(fmt::format("byte {} of message {} from rank {} is wrong", bad, i, sender));
      });
    }
  }
  pending.check = [checks]() -> Status {
    for (const auto& check : checks) COMMRIG_TRY(check());
    return ok();
  };
  if (mine.empty()) return ok();
  COMMRIG_TRY(world_.enqueue(stream, std::move(mine)));
  pending_.push_back(std::move(pending));
  return ok();
}

Status Program::settle() {
  for (const auto& stream : streams_) COMMRIG_TRY(machine_.synchronize(*stream));
  for (const Pending& pending : pending_) {
    Status status = pending.check();
    for (const auto& memory : pending.memory) {
      if (status && !memory->guard_holds()) status = wrong("something wrote behind a buffer");
    }
    if (!status) {
      Error error = status.error();
      error.message = pending.text + ": " + error.message;
      return error;
    }
  }
  pending_.clear();
  return ok();
}

Status Program::run() {
  for (int i = 0; i < 2; ++i) {
    COMMRIG_ASSIGN(std::unique_ptr<device::Stream> stream, machine_.create_stream(0));
    streams_.push_back(std::move(stream));
  }
  for (number_ = 0; number_ < options_.operations; ++number_) {
    const std::uint64_t kind = rng_.below(100);
    draw_ = Rng(rng_.next());
    if (kind < 2 && parts_.size() < 4) {
      COMMRIG_TRY(settle());
      COMMRIG_TRY(split());
    } else if (kind < 12) {
      COMMRIG_TRY(messages());
    } else {
      const std::uint64_t which = rng_.below(parts_.size() + 2);
      COMMRIG_TRY(collective(which < parts_.size() ? *parts_[which] : world_));
    }
    if (rng_.below(4) == 0) COMMRIG_TRY(settle());
  }
  return settle();
}

}  // namespace

int operations_from_environment(int usual) {
  const char* const text = std::getenv("COMMRIG_OPERATIONS");  // NOLINT(concurrency-mt-unsafe)
  if (text != nullptr) return std::atoi(text);
#if defined(COMMRIG_SANITIZED)
  return (usual + 3) / 4;
#else
  return usual;
#endif
}

Status run_random_program(const ProgramOptions& options, comm::Communicator& world,
                          device::Machine& machine) {
  Program program(options, world, machine);
  Status status = program.run();
  if (!status) world.abort();  // or the others would wait
  return status;
}

}  // namespace commrig::integration
