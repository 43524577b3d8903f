// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/communicator.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "bootstrap/environment.h"
#include "bootstrap/known_root.h"
#include "rig/runtime.h"
#include "rig/step_work.h"

namespace commrig::rig {
namespace {

using coll::Collective;

// Device memory for as long as a work needs it.
class Scratch {
 public:
  static Result<std::shared_ptr<Scratch>> make(device::Machine& machine, int device,
                                               std::size_t bytes) {
    auto made = std::make_shared<Scratch>(machine);
    COMMRIG_ASSIGN(made->data_, machine.memory().allocate(device, std::max<std::size_t>(bytes, 1)));
    return made;
  }
  explicit Scratch(device::Machine& machine) : machine_(machine) {}
  ~Scratch() {
    if (data_ != nullptr) (void)machine_.memory().release(data_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(data_) + offset; }

 private:
  device::Machine& machine_;
  void* data_ = nullptr;
};

struct Counts {
  std::size_t input;
  std::size_t output;
};

Counts counts_of(const comm::Call& call, int rank, int ranks) {
  const bool scatters = call.collective == Collective::kReduceScatter;
  const bool receives = call.collective != Collective::kReduce || call.root == rank;
  return {scatters ? call.count * static_cast<std::size_t>(ranks) : call.count,
          receives ? call.count : 0};
}

// The caller's buffers, which the call itself doesn't see when it works on scratch.
Status check_buffer(const device::Memory& memory, const void* buffer, std::size_t bytes,
                    const char* which, HostAccess access = HostAccess::kRead) {
  if (bytes == 0) return ok();
  if (buffer == nullptr) {
    return Error::make(Code::kCollectiveBuffer, fmt::format("{} of {} bytes: null", which, bytes));
  }
  return device::check_range(memory, buffer, bytes, access);
}

Status check_size(const comm::Call& call, int ranks) {
  constexpr std::size_t kWidest = 8;
  if (call.count <= SIZE_MAX / kWidest / static_cast<std::size_t>(ranks)) return ok();
  return Error::make(Code::kCollectiveSize, fmt::format("{} elements a rank", call.count));
}

Status multiply_input(const device::Memory& memory, const comm::Call& call, const Scale& scale,
                      std::byte* target, std::size_t count) {
  const void* scalar = scale.scalar.data();
  if (scale.scalar_at != nullptr) {
    scalar = scale.scalar_at;
    COMMRIG_TRY(check_buffer(memory, scalar, dtype::size_of(call.dtype), "scalar"));
  }
  return multiply(call.dtype, call.input, scalar, target, count);
}

}  // namespace

Result<std::vector<Communicator::Ptr>> Communicator::create_all(std::span<const int> devices) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  for (const int device : devices) COMMRIG_TRY(check_device(device));
  COMMRIG_ASSIGN(auto made,
                 comm::Communicator::create_all(found->machine(), static_cast<int>(devices.size()),
                                                {.devices = found->machine().devices()}));
  std::vector<Ptr> all;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    all.push_back(std::make_shared<Communicator>(std::move(made[i]), devices[i]));
  }
  return all;
}

Result<bootstrap::UniqueId::Bytes> Communicator::make_id() {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  const auto told = bootstrap::process_environment("NCCL_COMM_ID").value_or("");
  if (!told.empty()) {
    const Result<bootstrap::UniqueId> known = bootstrap::known_root(told);
    if (known) return known->bytes();
    return Error::make(known.error().code, "NCCL_COMM_ID: " + known.error().message);
  }
  COMMRIG_ASSIGN(const bootstrap::UniqueId id, found->lobby().make_id());
  return id.bytes();
}

Result<Communicator::Ptr> Communicator::join(const bootstrap::UniqueId::Bytes& id, int rank,
                                             int ranks, int device, const JoinOptions& options) {
  COMMRIG_TRY(check_not_in_callback());
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  COMMRIG_ASSIGN(const bootstrap::UniqueId known, bootstrap::UniqueId::from_bytes(id));
  const comm::DevicePlace place{.number = options.shares_device ? -1 : device,
                                .is_own = devices_are_own(found->machine().devices())};
  COMMRIG_ASSIGN(std::unique_ptr<comm::Communicator> made,
                 found->lobby().join(known, rank, ranks,
                                     {.communicator = {.team = {.device = place},
                                                       .devices = found->machine().devices()},
                                      .abort = options.abort}));
  return std::make_shared<Communicator>(std::move(made), device);
}

void Communicator::raise(AbortFlag& abort) {
  const Result<Runtime*> found = runtime();
  if (!found) return;
  abort.raise(Error::make(Code::kAborted, "the set-up of the communicator was aborted"),
              (*found)->executor());
}

Communicator::~Communicator() {
  (void)finalize();
}

int Communicator::rank() const {
  return communicator_->rank();
}

int Communicator::ranks() const {
  return communicator_->ranks();
}

void Communicator::note(const std::shared_ptr<device::Stream>& stream) {
  issued_[stream.get()] = {stream, stream->enqueued()};
}

Status Communicator::enqueue(void* stream, comm::Call call, const Scale& scale) {
  COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> on, stream_for_work(stream, device_));
  COMMRIG_TRY(on->status());
  Status status = scale.scaling == Scaling::kNone ? communicator_->enqueue(*on, std::move(call))
                                                  : enqueue_scaled(on, std::move(call), scale);
  note(on);
  return status;
}

// Before the call: its input, multiplied or widened, into scratch. Behind it: its output out of
// scratch. Scratch lives as long as the last of these works, so one follows in any case.
Status Communicator::enqueue_scaled(const std::shared_ptr<device::Stream>& stream, comm::Call call,
                                    const Scale& scale) {
  device::Machine& machine = stream->machine();
  const device::Memory& memory = machine.memory();
  COMMRIG_TRY(check_size(call, ranks()));
  const Counts counts = counts_of(call, rank(), ranks());
  const std::size_t element = dtype::size_of(call.dtype);
  COMMRIG_TRY(check_buffer(memory, call.input, counts.input * element, "input"));
  COMMRIG_TRY(
      check_buffer(memory, call.output, counts.output * element, "output", HostAccess::kWrite));
  const comm::Call outer = call;
  call.dtype = scaling_type(outer.dtype);
  call.op = dtype::ReduceOp::kSum;
  const std::size_t wide = dtype::size_of(call.dtype);
  const bool widened = call.dtype != outer.dtype;
  const bool multiplied = scale.scaling == Scaling::kMultiply;
  const std::int64_t divisor = scale.scaling == Scaling::kAverage ? ranks() : 1;

  std::shared_ptr<Scratch> scratch;
  if (widened || multiplied) {
    const std::size_t input_bytes = (counts.input * wide + 511) / 512 * 512;
    COMMRIG_ASSIGN(scratch, Scratch::make(machine, device_, input_bytes + counts.output * wide));
    call.input = scratch->at(0);
    if (widened) call.output = scratch->at(input_bytes);
    COMMRIG_TRY(stream->enqueue(std::make_unique<StepWork>(
        [&memory, outer, scale, multiplied, scratch, count = counts.input]() -> Status {
          if (!multiplied) return widen(outer.dtype, outer.input, scratch->at(0), count);
          return multiply_input(memory, outer, scale, scratch->at(0), count);
        })));
  }
  void* const sum = call.output;
  COMMRIG_TRY(communicator_->enqueue(*stream, std::move(call)));
  return stream->enqueue(
      std::make_unique<StepWork>([outer, sum, divisor, scratch, count = counts.output] {
        return divide(outer.dtype, sum, divisor, outer.output, count);
      }));
}

Status Communicator::enqueue(std::span<const StreamMessage> messages) {
  std::vector<std::shared_ptr<device::Stream>> streams;
  std::vector<comm::Message> run;
  for (const StreamMessage& each : messages) {
    COMMRIG_ASSIGN(std::shared_ptr<device::Stream> on, stream_for_work(each.stream, device_));
    COMMRIG_TRY(on->status());
    if (std::ranges::find(streams, on) == streams.end()) streams.push_back(std::move(on));
    run.push_back(each.message);
  }
  if (streams.empty()) return ok();
  // The run stands on the first; the others wait for it as it waits for them.
  for (std::size_t i = 1; i < streams.size(); ++i) COMMRIG_TRY(put_after(*streams[0], *streams[i]));
  Status status = communicator_->enqueue(*streams[0], std::move(run));
  note(streams[0]);
  COMMRIG_TRY(std::move(status));
  for (std::size_t i = 1; i < streams.size(); ++i) COMMRIG_TRY(put_after(*streams[i], *streams[0]));
  return ok();
}

Result<Communicator::Ptr> Communicator::split(int color, int key) {
  COMMRIG_TRY(check_not_in_callback());
  COMMRIG_ASSIGN(std::unique_ptr<comm::Communicator> part, communicator_->split(color, key));
  if (part == nullptr) return Ptr();
  return std::make_shared<Communicator>(std::move(part), device_);
}

// A work may still touch the communicator for a moment after its operation has ended; when it is
// off its stream, it does not.
Status Communicator::finalize() {
  COMMRIG_TRY(check_not_in_callback());
  Status status = communicator_->finalize();
  const auto done = [this] {
    return std::ranges::all_of(issued_, [](const auto& each) {
      return each.second.stream->completed() >= each.second.count;
    });
  };
  COMMRIG_TRY(wait_until(done, "the works of a communicator"));
  return status;
}

Status Communicator::error() const {
  return communicator_->error();
}

void Communicator::abort() {
  communicator_->abort();
}

}  // namespace commrig::rig
