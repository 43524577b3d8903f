// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/work_cells.h"

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace commrig::device {
namespace {

// Counts how many of its kind live.
class CountedWork : public Work {
 public:
  explicit CountedWork(std::atomic<int>& living, int mark = 0) : living_(living), mark_(mark) {
    ++living_;
  }
  ~CountedWork() override { --living_; }
  Result<Progress> step() override { return Progress::kDone; }
  int mark() const { return mark_; }

 private:
  std::atomic<int>& living_;
  int mark_;
};

class LargeWork final : public CountedWork {
 public:
  using CountedWork::CountedWork;

 private:
  [[maybe_unused]] std::array<std::byte, 4096> room_{};
};

class ThrowingWork final : public Work {
 public:
  ThrowingWork() { throw std::runtime_error("no work"); }
  Result<Progress> step() override { return Progress::kDone; }
};

TEST(WorkCellsTest, ACellIsUsedAgain) {
  WorkCells cells;
  std::atomic<int> living{0};
  WorkPtr first = cells.make<CountedWork>(living);
  const Work* const where = first.get();
  EXPECT_EQ(cells.taken(), 1);
  first.reset();
  EXPECT_EQ(cells.taken(), 0);
  EXPECT_EQ(living, 0);
  EXPECT_EQ(cells.make<CountedWork>(living).get(), where);
}

TEST(WorkCellsTest, WorksBeyondTheCellsComeFromTheHeap) {
  WorkCells cells;
  std::atomic<int> living{0};
  std::vector<WorkPtr> works;
  for (int i = 0; i < 100; ++i) works.push_back(cells.make<CountedWork>(living, i));
  EXPECT_EQ(living, 100);
  const int taken = cells.taken();
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 100);
  for (int i = 0; i < 100; ++i) {
    const auto& work = static_cast<const CountedWork&>(*works[static_cast<std::size_t>(i)]);
    EXPECT_EQ(work.mark(), i);
  }
  works.clear();
  EXPECT_EQ(living, 0);
  EXPECT_EQ(cells.taken(), 0);
}

TEST(WorkCellsTest, ALargeWorkTakesNoCell) {
  WorkCells cells;
  std::atomic<int> living{0};
  const WorkPtr work = cells.make<LargeWork>(living);
  EXPECT_EQ(cells.taken(), 0);
  EXPECT_EQ(living, 1);
}

TEST(WorkCellsTest, AWorkOfTheHeapBecomesOneOfAStream) {
  std::atomic<int> living{0};
  WorkPtr work = std::make_unique<CountedWork>(living);
  EXPECT_EQ(living, 1);
  work.reset();
  EXPECT_EQ(living, 0);
}

TEST(WorkCellsTest, AConstructorThatThrowsKeepsNoCell) {
  WorkCells cells;
  EXPECT_THROW(cells.make<ThrowingWork>(), std::runtime_error);
  EXPECT_EQ(cells.taken(), 0);
}

TEST(WorkCellsTest, ThreadsNeverShareACell) {
  WorkCells cells;
  std::atomic<int> living{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const WorkPtr one = cells.make<CountedWork>(living, t);
        const WorkPtr two = cells.make<CountedWork>(living, t + 10);
        if (static_cast<const CountedWork&>(*one).mark() != t) ++wrong;
        if (static_cast<const CountedWork&>(*two).mark() != t + 10) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(living, 0);
  EXPECT_EQ(cells.taken(), 0);
}

}  // namespace
}  // namespace commrig::device
