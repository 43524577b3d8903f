// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/machine.h"

#include <algorithm>
#include <utility>

#include "device/doorbell.h"

namespace commrig::device {
namespace {

// Quick works that nobody waits for are found this late. While they come at least every kLinger
// the sweeper looks by itself, so that nobody has to wake it.
constexpr Nanos kSweepPeriod{200'000};
constexpr Nanos kLinger{2'000'000};
// Threads that step each other's streams get in each other's way. So each leaves those alone that
// others synchronise, unless the others have no core, or have not come to it during so many looks:
// then they have lost theirs.
constexpr int kLooksAlone = 32;

// Whether another thread than the caller, who synchronises `own`, synchronises the stream.
bool looked_after(const StreamSlot& slot, const StreamSlot* own) {
  return slot.drivers.load(std::memory_order_seq_cst) > (&slot == own ? 1 : 0);
}

}  // namespace

Machine::Machine(Executor& executor, EventStream& events, const MemoryOptions& options)
    : executor_(executor), events_(events), memory_(options) {
  add_runner();
  started_ = executor_.spawn(Role::kService, "cr-sweeper", [this] { sweep(); });
  if (!started_) end_runner(*this);
}

Machine::~Machine() {
  closing_.store(true, std::memory_order_release);
  executor_.wake(&swept_);
  executor_.wake(&epoch_);
  const Status ended =
      executor_.wait({.key = &runners_,
                      .ready = [this] { return runners_.load(std::memory_order_acquire) == 0; },
                      .what = "the end of the machine's threads"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
  COMMRIG_CHECK(streams_.empty(), "a stream outlives its machine");
}

void Machine::end_runner(Machine& machine) {
  Executor& executor = machine.executor_;
  const void* key = &machine.runners_;
  machine.runners_.fetch_sub(1, std::memory_order_acq_rel);
  executor.wake(key);  // The machine may be gone by now; the key is only a number.
}

Result<std::unique_ptr<Stream>> Machine::create_stream(int device) {
  if (device < 0 || device >= devices()) {
    return Error::make(Code::kBadDevice, "device " + std::to_string(device) + " of " +
                                             std::to_string(devices()) + " devices");
  }
  COMMRIG_TRY(started_);
  const int number = next_stream_.fetch_add(1);
  std::unique_ptr<Stream> stream(new Stream(*this, device, number));  // tidy: allow(new) private
  stream->slot_ = &streams_.add(*stream, device);
  return stream;
}

void Machine::retire(Stream& stream) {
  const Status idle =
      drive_until([&stream] { return stream.idle(); }, "the end of a stream", kForever, &stream);
  COMMRIG_CHECK(idle.has_value(), to_string(idle.error()));
  StreamTable::remove(*stream.slot_, executor_);
}

void Machine::poke() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  executor_.wake(&epoch_);
  // While somebody drives, the sweeper would only be in the way.
  if (drivers_.load(std::memory_order_seq_cst) == 0) executor_.wake(&swept_);
}

void Machine::expect_sweep() {
  if (drivers_.load(std::memory_order_relaxed) != 0) return;
  if (lingering_.load(std::memory_order_seq_cst)) {
    left_.fetch_add(1, std::memory_order_relaxed);
  } else {
    poke();
  }
}

bool Machine::advance_all(const StreamSlot* own, bool helps) {
  bool progressed = false;
  streams_.visit([&](StreamSlot& slot) {
    if (!slot.busy() || (!helps && looked_after(slot, own))) return true;
    if (Stream* const stream = StreamTable::use(slot)) progressed |= stream->advance();
    StreamTable::release(slot, executor_);
    return true;
  });
  if (progressed) stir();
  return progressed;
}

// Whether a step of some stream would get further.
bool Machine::may_go_on(const StreamSlot* own, bool helps) {
  bool found = false;
  streams_.visit([&](StreamSlot& slot) {
    if (!slot.busy() || (!helps && looked_after(slot, own))) return true;
    if (Stream* const stream = StreamTable::use(slot)) found = stream->may_go_on();
    StreamTable::release(slot, executor_);
    return !found;
  });
  return found;
}

bool Machine::anything_left() const {
  bool left = false;
  streams_.visit([&left](StreamSlot& slot) { return !(left = slot.busy()); });
  return left;
}

// Advances until nothing moves and nothing new has come. Whoever holds a stream while another
// thread fails to claim it must look again afterwards, or what that thread came for would be lost:
// so no thread may advance without comparing the epoch from before with the one from after.
void Machine::settle() {
  std::uint64_t seen = 0;
  do {
    seen = epoch_.load(std::memory_order_seq_cst);
    while (advance_all(nullptr, true)) {
    }
  } while (epoch_.load(std::memory_order_seq_cst) != seen);
}

Status Machine::drive_until(FunctionRef<bool()> done, const char* what, Nanos deadline,
                            Stream* stream) {
  const Driver driver{done, deadline != kForever, stream};
  driving_.lock()->push_back(&driver);
  Status status = drive(driver, what, deadline);
  std::erase(*driving_.lock(), &driver);
  return status;
}

Status Machine::drive(const Driver& driver, const char* what, Nanos deadline) {
  const FunctionRef<bool()>& done = driver.done;
  drivers_.fetch_add(1, std::memory_order_seq_cst);
  drives_.fetch_add(1, std::memory_order_relaxed);
  StreamSlot* const own = driver.stream == nullptr ? nullptr : driver.stream->slot_;
  if (own != nullptr) own->drivers.fetch_add(1, std::memory_order_seq_cst);
  Status status = ok();
  std::uint64_t seen = 0;
  SleepCounter counter(*this);
  int looks = 0;
  while (true) {
    const std::uint64_t rung = this->rung();
    seen = epoch_.load(std::memory_order_seq_cst);
    const bool crowded = !drivers_have_cores();
    while (advance_all(own, crowded || looks > kLooksAlone)) {
    }
    if (done()) break;
    if (host_threads_.load(std::memory_order_acquire) != 0) tell_watchers();
    looks = 0;
    const auto changed = [&] {
      return epoch_.load(std::memory_order_seq_cst) != seen || this->rung() != rung || done() ||
             may_go_on(own, ++looks > kLooksAlone);
    };
    status = executor_.wait({.key = &epoch_,
                             .ready = changed,
                             .what = what,
                             .deadline = deadline,
                             .observer = &counter});
    if (!status) break;
  }
  // What is left, or came after the last pass, is another driver's, or else the sweeper's.
  const bool leaves_own =
      own != nullptr && own->drivers.fetch_sub(1, std::memory_order_seq_cst) == 1 && own->busy();
  const bool last = drivers_.fetch_sub(1, std::memory_order_seq_cst) == 1;
  if (leaves_own) stir();
  if (last && anything_left()) expect_sweep();
  return status;
}

// Everything is read between two looks at the epoch. A work that was enqueued before the first is
// seen on its stream; whoever enqueues one later and waits by the time that the drivers are looked
// at has moved the epoch. So at that moment no work is left that could end but those of the `busy`
// streams, and nobody is left who could enqueue one: it stays so.
bool Machine::host_waits(std::size_t busy) const {
  const int threads = host_threads_.load(std::memory_order_acquire);
  if (threads == 0) return false;
  const std::uint64_t seen = epoch_.load(std::memory_order_seq_cst);
  std::size_t working = 0;
  streams_.visit([&working](StreamSlot& slot) {
    const std::uint64_t completed = slot.completed.load(std::memory_order_acquire);
    if (completed != slot.enqueued.load(std::memory_order_acquire)) ++working;
    return true;
  });
  if (working != busy) return false;
  {
    const auto driving = driving_.lock();
    if (driving->size() < static_cast<std::size_t>(threads)) return false;
    for (const Driver* driver : *driving) {
      if (driver->has_deadline || driver->done()) return false;
    }
  }
  return epoch_.load(std::memory_order_seq_cst) == seen;
}

void Machine::watch_host(const void* owner, std::function<void()> watcher) {
  auto entry = std::make_shared<Watcher>();
  entry->owner = owner;
  entry->call = std::move(watcher);
  watchers_.lock()->push_back(std::move(entry));
}

void Machine::unwatch_host(const void* owner) {
  std::shared_ptr<Watcher> watcher;
  {
    const auto watchers = watchers_.lock();
    const auto found = std::ranges::find(*watchers, owner, [](const auto& w) { return w->owner; });
    if (found == watchers->end()) return;
    watcher = *found;
    watchers->erase(found);
  }
  const Status unused = executor_.wait(
      {.key = watcher.get(),
       .ready = [&watcher] { return watcher->users.load(std::memory_order_acquire) == 0; },
       .what = "the last call of a watcher"});
  COMMRIG_CHECK(unused.has_value(), to_string(unused.error()));
}

void Machine::tell_watchers() {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    const auto all = watchers_.lock();
    watchers = *all;
    for (const auto& watcher : watchers) watcher->users.fetch_add(1, std::memory_order_relaxed);
  }
  for (const auto& watcher : watchers) {
    watcher->call();
    if (watcher->users.fetch_sub(1, std::memory_order_acq_rel) == 1) executor_.wake(watcher.get());
  }
}

void Machine::sweep() {
  SleepCounter counter(*this);
  Nanos active = executor_.now();
  std::uint64_t left = 0;
  std::uint64_t drives = 0;
  while (true) {
    const bool lingers = executor_.now() - active < kLinger;
    lingering_.store(lingers, std::memory_order_seq_cst);
    // Threads that drive look after everything. Those that have driven meanwhile will do so again,
    // and are quicker.
    const bool driven = drives != std::exchange(drives, drives_.load(std::memory_order_relaxed));
    const bool patient = drivers_.load(std::memory_order_seq_cst) != 0 || (lingers && driven);
    // Works that were left may wait for something that comes from anywhere, as drivers do.
    const bool looks_after = !patient && anything_left();
    const std::uint64_t rung = this->rung();
    const auto wanted = [this, rung, patient] {
      return closing_.load(std::memory_order_acquire) ||
             epoch_.load(std::memory_order_seq_cst) != swept_.load(std::memory_order_relaxed) ||
             (!patient && (this->rung() != rung || may_go_on(nullptr, false)));
    };
    const Status woken =
        executor_.wait({.key = looks_after ? static_cast<const void*>(&epoch_) : &swept_,
                        .ready = wanted,
                        .what = "work",
                        .deadline = lingers ? executor_.now() + kSweepPeriod : kForever,
                        .patient = patient,
                        .observer = looks_after ? &counter : nullptr});
    if (closing_.load(std::memory_order_acquire)) break;
    const std::uint64_t left_before = std::exchange(left, left_.load(std::memory_order_relaxed));
    if (woken || left != left_before) active = executor_.now();
    swept_.store(epoch_.load(std::memory_order_seq_cst), std::memory_order_relaxed);
    while (advance_all(nullptr, !drivers_have_cores())) {
    }
  }
  end_runner(*this);
}

const Doorbell* Machine::find_doorbell(const void* word) const {
  const auto doorbells = doorbells_.lock();
  const auto found = doorbells->find(word);
  return found == doorbells->end() ? nullptr : found->second;
}

void Machine::add_doorbell(const Doorbell& doorbell) {
  const bool added = doorbells_.lock()->emplace(doorbell.word().base(), &doorbell).second;
  COMMRIG_CHECK(added, "two doorbells share a word");
}

void Machine::remove_doorbell(const Doorbell& doorbell) {
  doorbells_.lock()->erase(doorbell.word().base());
}

Status Machine::synchronize(Stream& stream, Nanos deadline) {
  const std::uint64_t target = stream.enqueued();
  if (stream.completed() < target) {
    COMMRIG_TRY(
        drive_until([&] { return stream.completed() >= target; }, "a stream", deadline, &stream));
  }
  return stream.status();
}

Status Machine::synchronize_device(int device, Nanos deadline) {
  // The streams must not be destroyed meanwhile, so they are held like an advancing thread does.
  std::vector<StreamSlot*> slots;
  streams_.visit([&](StreamSlot& slot) {
    if (slot.device.load(std::memory_order_relaxed) != device) return true;
    slots.push_back(&slot);
    return true;
  });
  Status first = ok();
  for (StreamSlot* const slot : slots) {
    Status status = ok();
    if (Stream* const stream = StreamTable::use(*slot)) {
      if (stream->device() == device) status = synchronize(*stream, deadline);
    }
    StreamTable::release(*slot, executor_);
    if (first.has_value() && !status.has_value()) first = std::move(status);
  }
  return first;
}

}  // namespace commrig::device
