// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/machine.h"

#include <algorithm>

#include "device/doorbell.h"

namespace commrig::device {

Machine::Machine(Executor& executor, EventStream& events, const MemoryOptions& options)
    : executor_(executor), events_(events), memory_(options) {
  add_runner();
  started_ = executor_.spawn(Role::kService, "cr-sweeper", [this] { sweep(); });
  if (!started_) end_runner(*this);
}

Machine::~Machine() {
  closing_.store(true, std::memory_order_release);
  executor_.wake(&swept_);
  const Status ended =
      executor_.wait({.key = &runners_,
                      .ready = [this] { return runners_.load(std::memory_order_acquire) == 0; },
                      .what = "the end of the machine's threads"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
  COMMRIG_CHECK(streams_.lock()->empty(), "a stream outlives its machine");
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
  auto entry = std::make_shared<Entry>();
  entry->stream = stream.get();
  entry->device = device;
  streams_.lock()->push_back(std::move(entry));
  return stream;
}

void Machine::retire(Stream& stream) {
  const Status idle =
      drive_until([&stream] { return stream.idle(); }, "the end of a stream", kForever);
  COMMRIG_CHECK(idle.has_value(), to_string(idle.error()));
  std::shared_ptr<Entry> entry;
  {
    const auto streams = streams_.lock();
    const auto found =
        std::ranges::find(*streams, &stream, [](const auto& each) { return each->stream; });
    COMMRIG_CHECK(found != streams->end(), "a stream retires twice");
    entry = *found;
    streams->erase(found);
  }
  const Status unused = executor_.wait(
      {.key = entry.get(),
       .ready = [&entry] { return entry->users.load(std::memory_order_acquire) == 0; },
       .what = "the last advance of a stream"});
  COMMRIG_CHECK(unused.has_value(), to_string(unused.error()));
}

void Machine::poke() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  executor_.wake(&epoch_);
  // While somebody drives, the sweeper would only be in the way.
  if (drivers_.load(std::memory_order_seq_cst) == 0) executor_.wake(&swept_);
}

std::shared_ptr<Machine::Entry> Machine::use_entry(std::size_t index) {
  const auto streams = streams_.lock();
  if (index >= streams->size()) return nullptr;
  std::shared_ptr<Entry> entry = (*streams)[index];
  entry->users.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

bool Machine::advance_all() {
  bool progressed = false;
  for (std::size_t i = 0; const std::shared_ptr<Entry> entry = use_entry(i); ++i) {
    progressed |= entry->stream->advance();
    if (entry->users.fetch_sub(1, std::memory_order_acq_rel) == 1) executor_.wake(entry.get());
  }
  if (progressed) poke();
  return progressed;
}

// Advances until nothing moves and nothing new has come. Whoever holds a stream while another
// thread fails to claim it must look again afterwards, or what that thread came for would be lost:
// so no thread may advance without comparing the epoch from before with the one from after.
void Machine::settle() {
  std::uint64_t seen = 0;
  do {
    seen = epoch_.load(std::memory_order_seq_cst);
    while (advance_all()) {
    }
  } while (epoch_.load(std::memory_order_seq_cst) != seen);
}

Status Machine::drive_until(FunctionRef<bool()> done, const char* what, Nanos deadline) {
  const Driver driver{done, deadline != kForever};
  driving_.lock()->push_back(&driver);
  Status status = drive(driver, what, deadline);
  std::erase(*driving_.lock(), &driver);
  return status;
}

Status Machine::drive(const Driver& driver, const char* what, Nanos deadline) {
  const FunctionRef<bool()>& done = driver.done;
  drivers_.fetch_add(1, std::memory_order_seq_cst);
  Status status = ok();
  std::uint64_t seen = 0;
  while (true) {
    seen = epoch_.load(std::memory_order_seq_cst);
    while (advance_all()) {
    }
    if (done()) break;
    if (host_threads_.load(std::memory_order_acquire) != 0) tell_watchers();
    const auto changed = [&] { return epoch_.load(std::memory_order_seq_cst) != seen || done(); };
    status = executor_.wait({.key = &epoch_, .ready = changed, .what = what, .deadline = deadline});
    if (!status) break;
  }
  drivers_.fetch_sub(1, std::memory_order_seq_cst);
  // Whatever came after the last pass is the sweeper's.
  if (epoch_.load(std::memory_order_seq_cst) != seen) executor_.wake(&swept_);
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
  {
    const auto streams = streams_.lock();
    for (const auto& entry : *streams) {
      const std::uint64_t completed = entry->stream->completed();
      if (completed != entry->stream->enqueued()) ++working;
    }
  }
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
  while (true) {
    const auto wanted = [this] {
      return closing_.load(std::memory_order_acquire) ||
             epoch_.load(std::memory_order_seq_cst) != swept_.load(std::memory_order_relaxed);
    };
    const Status woken = executor_.wait({.key = &swept_, .ready = wanted, .what = "work"});
    if (!woken.has_value() || closing_.load(std::memory_order_acquire)) break;
    swept_.store(epoch_.load(std::memory_order_seq_cst), std::memory_order_relaxed);
    while (advance_all()) {
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
  COMMRIG_TRY(drive_until([&] { return stream.completed() >= target; }, "a stream", deadline));
  return stream.status();
}

Status Machine::synchronize_device(int device, Nanos deadline) {
  // The streams must not be destroyed meanwhile, so they are held like an advancing thread does.
  std::vector<std::shared_ptr<Entry>> entries;
  {
    const auto streams = streams_.lock();
    std::ranges::copy_if(*streams, std::back_inserter(entries),
                         [device](const auto& entry) { return entry->device == device; });
    for (const auto& entry : entries) entry->users.fetch_add(1, std::memory_order_relaxed);
  }
  Status first = ok();
  for (const auto& entry : entries) {
    Status status = synchronize(*entry->stream, deadline);
    if (first.has_value() && !status.has_value()) first = std::move(status);
    if (entry->users.fetch_sub(1, std::memory_order_acq_rel) == 1) executor_.wake(entry.get());
  }
  return first;
}

}  // namespace commrig::device
