// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/event.h"

#include "device/machine.h"

namespace commrig::device {
namespace {

class RecordWork final : public Work {
 public:
  RecordWork(std::shared_ptr<Event::Point> point, Executor& executor)
      : point_(std::move(point)), executor_(executor) {}
  Result<Progress> step() override {
    reach();
    return Progress::kDone;
  }
  void cancel(const Error& reason) override {
    point_->failed = reason;
    reach();
  }

 private:
  void reach() {
    point_->time = executor_.now();
    point_->reached.store(true, std::memory_order_release);
  }
  std::shared_ptr<Event::Point> point_;
  Executor& executor_;
};

class AwaitWork final : public Work {
 public:
  explicit AwaitWork(std::shared_ptr<Event::Point> point) : point_(std::move(point)) {}
  Result<Progress> step() override {
    if (!point_->reached.load(std::memory_order_acquire)) return Progress::kPending;
    if (point_->failed.has_value()) return *point_->failed;
    return Progress::kDone;
  }
  bool may_go_on() const override { return point_->reached.load(std::memory_order_acquire); }
  bool waits_for_works() const override { return true; }

 private:
  std::shared_ptr<Event::Point> point_;
};

}  // namespace

Status Event::record(Stream& stream) {
  auto point = std::make_shared<Point>();
  COMMRIG_TRY(stream.enqueue(std::make_unique<RecordWork>(point, stream.machine().executor())));
  *latest_.lock() = std::move(point);
  return ok();
}

Status Event::make_wait(Stream& stream) const {
  auto point = latest();
  if (point == nullptr) return ok();
  return stream.enqueue(std::make_unique<AwaitWork>(std::move(point)));
}

Result<bool> Event::query() const {
  const auto point = latest();
  if (point == nullptr) return Error::make(Code::kEventState, "the event was never recorded");
  return point->reached.load(std::memory_order_acquire);
}

Status Event::synchronize(Machine& machine) const {
  const auto point = latest();
  if (point == nullptr) return Error::make(Code::kEventState, "the event was never recorded");
  COMMRIG_TRY(machine.drive_until(
      [&point] { return point->reached.load(std::memory_order_acquire); }, "an event", kForever));
  if (point->failed.has_value()) return *point->failed;
  return ok();
}

Result<Nanos> Event::elapsed(const Event& start, const Event& end) {
  const auto first = start.latest();
  const auto last = end.latest();
  for (const auto& point : {first, last}) {
    if (point == nullptr || !point->reached.load(std::memory_order_acquire)) {
      return Error::make(Code::kEventState, "elapsed time was asked between two events");
    }
  }
  return last->time - first->time;
}

}  // namespace commrig::device
