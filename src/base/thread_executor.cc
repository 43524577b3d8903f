// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/thread_executor.h"

#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "base/fence.h"
#include "base/pause.h"

namespace commrig {
namespace {

constexpr Nanos kSpin{2000};
constexpr int kYields = 100;
constexpr int kFewPerCore = 4;
// Whoever has stopped waiting no longer ago than this may wait again at once.
constexpr Nanos kBetweenWaits{5000};
constexpr int kLooksPerClockRead = 32;

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

// Of all processes, wherever this one may run.
unsigned host_cores() {
  return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// Of `threads` in this process. The thread sanitizer starts one when the process starts its first.
int threads_of_sanitizer([[maybe_unused]] int threads) {
#ifdef COMMRIG_TSAN
  return threads > 1 ? 1 : 0;
#else
  return 0;
#endif
}

bool aborted(const WaitSpec& spec) {
  return spec.abort != nullptr && spec.abort->raised();
}

// Asks for short time slices for a service, so that a woken one need not wait until a computing
// rank has used up its own (3 ms by default); for the default ones otherwise. From Linux 6.12 on; a
// kernel that does not know it refuses, and everything works without.
void set_slice(Role role) {
  struct Attributes {  // struct sched_attr of the kernel's interface, which glibc has from 2.41 on
    std::uint32_t size = sizeof(Attributes);
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime_ns = 0;
    std::uint64_t deadline_ns = 0;
    std::uint64_t period_ns = 0;
  };
  constexpr std::uint64_t kServiceSliceNs = 100'000;  // the least that is accepted
  Attributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  attributes.size = sizeof(attributes);
  attributes.runtime_ns = role == Role::kService ? kServiceSliceNs : 0;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// Posts what is waited for and tells the observer, as long as it lives.
class Posted {
 public:
  explicit Posted(const WaitSpec& spec)
      : post_(spec.condition != nullptr ? spec.post : nullptr), observer_(spec.observer) {
    if (post_ != nullptr) post_->post(*spec.condition, spec.what);
    if (observer_ != nullptr) observer_->on_blocked();
  }
  ~Posted() {
    if (post_ != nullptr) post_->clear();
    if (observer_ != nullptr) observer_->on_resumed();
  }
  // The sleeper woke up for nothing and will sleep on.
  void renew() const {
    if (observer_ == nullptr) return;
    observer_->on_resumed();
    observer_->on_blocked();
  }
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;

 private:
  WaitPost* post_;
  WaitObserver* observer_;
};

}  // namespace

ThreadExecutor::ThreadExecutor(unsigned cores)
    : cores_(cores != 0 ? cores : usable_cores()), host_cores_(cores != 0 ? cores : host_cores()) {}

ThreadExecutor::~ThreadExecutor() {
  {
    const std::lock_guard lock(pool_mutex_);
    closing_ = true;
  }
  pool_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status ThreadExecutor::spawn(Role role, std::string name, std::function<void()> body) {
  const std::lock_guard lock(pool_mutex_);
  jobs_.push_back(Job{role, std::move(name), std::move(body)});
  if (role == Role::kUserCode) ++user_jobs_;
  if (idle_ >= jobs_.size()) {
    pool_wake_.notify_one();
    return ok();
  }
  try {
    threads_.emplace_back([this] { serve_pool(); });
  } catch (const std::exception& exception) {  // How the standard library says it.
    const std::string thread = jobs_.back().name;
    jobs_.pop_back();
    if (role == Role::kUserCode) --user_jobs_;
    return Error::make(Code::kSystemCall,
                       fmt::format("starting thread {} of this process for {}: {}",
                                   threads_.size() + 1, thread, exception.what()));
  }
  return ok();
}

void ThreadExecutor::serve_pool() {
  Role role = Role::kUserCode;
  std::unique_lock lock(pool_mutex_);
  while (true) {
    while (jobs_.empty()) {
      if (closing_) return;
      ++idle_;
      pool_wake_.wait(lock);
      --idle_;
    }
    {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      pthread_setname_np(pthread_self(), job.name.substr(0, 15).c_str());
      if (role != job.role) set_slice(job.role);
      role = job.role;
      job.body();
    }
    lock.lock();
    if (role == Role::kUserCode) --user_jobs_;
  }
}

int ThreadExecutor::outsiders() {
  struct stat tasks{};
  const std::lock_guard lock(pool_mutex_);
  if (user_jobs_ != 0 || ::stat("/proc/self/task", &tasks) != 0) return -1;
  // A folder has two links, and one more for each folder in it: a thread.
  const int threads = static_cast<int>(tasks.st_nlink) - 2;
  return threads - static_cast<int>(threads_.size()) - threads_of_sanitizer(threads);
}

void ThreadExecutor::enter_user_code() {
  running_.fetch_add(1, std::memory_order_relaxed);
  go_on_computing();
}

void ThreadExecutor::leave_user_code() {
  stop_computing();
  running_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadExecutor::enter_service() {
  stop_computing();
}

void ThreadExecutor::leave_service() {
  go_on_computing();
}

void ThreadExecutor::stop_computing() {
  computing_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadExecutor::go_on_computing() {
  went_on_.store(now().count(), std::memory_order_relaxed);
  computing_.fetch_add(1, std::memory_order_relaxed);
}

bool ThreadExecutor::somebody_computes() const {
  return computing_.load(std::memory_order_relaxed) > 0 &&
         now().count() - went_on_.load(std::memory_order_relaxed) > kBetweenWaits.count();
}

int ThreadExecutor::spare_cores() const {
  return std::max(0, static_cast<int>(cores_) - computing_.load(std::memory_order_relaxed));
}

Status ThreadExecutor::wait(const WaitSpec& spec) {
  if (spec.ready()) return ok();
  if (spec.in_user_code) stop_computing();
  Status status = !spec.patient && (spin(spec) || yield(spec)) ? ok() : sleep(spec);
  if (spec.in_user_code) go_on_computing();
  return status;
}

void ThreadExecutor::know_of_host_ranks(int ranks) {
  int known = host_ranks_.load(std::memory_order_relaxed);
  while (known < ranks &&
         !host_ranks_.compare_exchange_weak(known, ranks, std::memory_order_relaxed)) {
  }
}

bool ThreadExecutor::spins() const {
  return running_.load(std::memory_order_relaxed) <= static_cast<int>(cores_) &&
         host_ranks_.load(std::memory_order_relaxed) <= static_cast<int>(host_cores_);
}

// Both return true when the wait is over, and leave abort and deadline to sleep().
bool ThreadExecutor::spin(const WaitSpec& spec) const {
  if (!spins()) return false;
  const Nanos end = std::min(now() + kSpin, spec.deadline);
  do {
    for (int look = 0; look < kLooksPerClockRead; ++look) {
      if (spec.ready()) return true;
      pause_core();
    }
    if (aborted(spec)) return false;
  } while (now() < end);
  return false;
}

bool ThreadExecutor::yield(const WaitSpec& spec) {
  // A yield among many threads comes back only after all the others have had the core, and the
  // system makes one that has worked longer wait until the others have yielded as long. So of many,
  // only enough yield to keep the cores awake.
  const int cores = static_cast<int>(cores_);
  const bool few = running_.load(std::memory_order_relaxed) <= kFewPerCore * cores;
  bool done = false;
  if (yielding_.fetch_add(1, std::memory_order_relaxed) < cores || few) {
    for (int i = 0; i < kYields && !done && !somebody_computes(); ++i) {
      if (aborted(spec) || (spec.deadline != kForever && now() >= spec.deadline)) break;
      sched_yield();
      done = spec.ready();
    }
  }
  yielding_.fetch_sub(1, std::memory_order_relaxed);
  return done;
}

Status ThreadExecutor::sleep(const WaitSpec& spec) {
  const Posted posted(spec);
  while (true) {
    Bucket& bucket = bucket_of(spec.key);
    // The read of the sequence comes before the announcement, and both before the last look: a
    // wake that this look misses finds either the sleeper or a sequence that has moved on.
    const std::uint32_t sequence = bucket.sequence.load(std::memory_order_acquire);
    bucket.sleepers.fetch_add(1, std::memory_order_seq_cst);
    full_fence();
    if (spec.ready()) return ok();
    if (&bucket_of(spec.key) != &bucket) continue;  // A door was hung meanwhile.
    if (aborted(spec)) {
      if (std::optional<Error> error = spec.abort->error()) return *std::move(error);
    }
    Nanos timeout = kForever;
    if (spec.deadline != kForever) {
      timeout = spec.deadline - now();
      if (timeout <= Nanos::zero()) {
        return Error::make(Code::kDeadline, fmt::format("waited for {}", spec.what));
      }
    }
    help_to_wake();
    futex_wait(bucket.sequence, sequence, timeout, reach_of(bucket));
    help_to_wake();
    if (!spec.ready()) posted.renew();
  }
}

void ThreadExecutor::use_door(const void* key, std::shared_ptr<Door> door) {
  Bucket& before = bucket_of(key);
  kept_door_ = std::move(door);
  door_.store(kept_door_.get(), std::memory_order_release);
  door_key_.store(key, std::memory_order_release);
  full_fence();
  wake_bucket(before);  // Whoever sleeps there moves to the door.
}

ThreadExecutor::Bucket& ThreadExecutor::bucket_of(const void* key) {
  if (key == door_key_.load(std::memory_order_acquire)) {
    if (Door* const door = door_.load(std::memory_order_acquire)) return door->place;
  }
  // Fibonacci hashing; keys are at least 4 bytes apart.
  const auto bits = reinterpret_cast<std::uintptr_t>(key);
  return (*buckets_)[(bits * 0x9E3779B97F4A7C15U) >> 54U];
}

Reach ThreadExecutor::reach_of(const Bucket& bucket) const {
  const Door* const door = door_.load(std::memory_order_acquire);
  return door != nullptr && &bucket == &door->place ? Reach::kHost : Reach::kProcess;
}

void ThreadExecutor::wake_bucket(Bucket& bucket) const {
  if (announce(bucket)) futex_wake_all(bucket.sequence, reach_of(bucket));
}

// Waking many takes the longest part of a small operation among many ranks, so the first ones that
// run on another core share it.
void ThreadExecutor::wake_each(std::span<const void* const> keys) {
  {
    const auto unwoken = unwoken_.lock();
    for (const void* const key : keys) {
      Bucket& bucket = bucket_of(key);
      if (announce(bucket)) unwoken->push_back(&bucket);
    }
    unwoken_count_.store(unwoken->size(), std::memory_order_release);
  }
  while (help_to_wake()) {
  }
}

// Wakes the sleepers of one bucket; false when none was left.
bool ThreadExecutor::help_to_wake() {
  if (unwoken_count_.load(std::memory_order_acquire) == 0) return false;
  Bucket* bucket = nullptr;
  {
    const auto unwoken = unwoken_.lock();
    if (unwoken->empty()) return false;
    bucket = unwoken->front();
    unwoken->pop_front();
    unwoken_count_.store(unwoken->size(), std::memory_order_release);
  }
  futex_wake_all(bucket->sequence, reach_of(*bucket));
  return true;
}

void ThreadExecutor::wake(const void* key) {
  Bucket& bucket = bucket_of(key);
  wake_bucket(bucket);
  // Sleepers move to a door that is hung meanwhile.
  if (Bucket& now = bucket_of(key); &now != &bucket) wake_bucket(now);
}

void ThreadExecutor::wake_all() {
  for (Bucket& bucket : *buckets_) wake_bucket(bucket);
  if (Door* const door = door_.load(std::memory_order_acquire)) wake_bucket(door->place);
  pollers_.wake_all();
}

}  // namespace commrig
