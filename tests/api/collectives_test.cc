// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <numeric>

#include <gmock/gmock.h>

#include "tests/api/ranks.h"

namespace {

using api_test::Ranks;
using commrig::Communicator;
using commrig::Dtype;
using commrig::ReduceOp;
using commrig::Stream;
using testing::ElementsAreArray;

using Numbers = std::vector<std::int64_t>;
using Counts = std::vector<std::size_t>;
constexpr int kRoot = 1;
constexpr std::size_t kCount = 3;

// The element of a rank's input; every rank and place has its own.
std::int64_t number(int rank, std::size_t i) {
  return 1000 * rank + static_cast<std::int64_t>(i);
}

Numbers numbers(int rank, std::size_t first, std::size_t count) {
  Numbers all;
  for (std::size_t i = first; i < first + count; ++i) all.push_back(number(rank, i));
  return all;
}

Numbers sums(int ranks, std::size_t first, std::size_t count) {
  Numbers all(count, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < count; ++i) all[i] += number(rank, first + i);
  }
  return all;
}

void append(Numbers& all, const Numbers& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Of rank r in the V forms: r elements, so rank 0 has none.
Counts uneven(int ranks) {
  Counts counts(static_cast<std::size_t>(ranks));
  std::iota(counts.begin(), counts.end(), 0);
  return counts;
}
std::size_t first_of(int rank) {
  return static_cast<std::size_t>(rank * (rank - 1) / 2);
}

class CollectivesTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr int kRanks = 4;

  // The output of each rank: what `call` makes of `in` elements is expected to be `expected(rank)`.
  template <class Call, class Expected>
  void run(std::size_t in, const Call& call, const Expected& expected) {
    commrig::CommunicatorOptions options;
    options.messages_only = GetParam();
    Ranks ranks(kRanks, options);
    ranks.on_threads([&](Communicator& comm, Stream& stream) {
      const Numbers input = numbers(comm.rank(), 0, in);
      const Numbers wanted = expected(comm.rank());
      Numbers output(wanted.size() + 1, -1);
      EXPECT_OK(call(comm, stream, commrig::Buffers{input.data(), output.data()}));
      EXPECT_OK(stream.synchronize());
      EXPECT_EQ(output.back(), -1) << "something wrote behind the output";
      output.pop_back();
      EXPECT_THAT(output, ElementsAreArray(wanted)) << "rank " << comm.rank();
    });
  }
};

constexpr Dtype kType = Dtype::kInt64;
using commrig::Buffers;

TEST_P(CollectivesTest, AllReduceAndReduceCombine) {
  run(
      kCount,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.all_reduce(stream, buffers, kCount, kType, ReduceOp::kSum);
      },
      [](int) { return sums(kRanks, 0, kCount); });
  run(
      kCount,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.reduce(stream, buffers, kCount, kType, ReduceOp::kMax, kRoot);
      },
      [](int rank) { return rank == kRoot ? numbers(kRanks - 1, 0, kCount) : Numbers(); });
}

TEST_P(CollectivesTest, BroadcastGatherAndScatterHaveRoots) {
  run(
      kCount,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.broadcast(stream, buffers, kCount, kType, kRoot);
      },
      [](int) { return numbers(kRoot, 0, kCount); });
  Numbers all;
  for (int rank = 0; rank < kRanks; ++rank) append(all, numbers(rank, 0, kCount));
  run(
      kCount,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.gather(stream, buffers, kCount, kType, kRoot);
      },
      [&](int rank) { return rank == kRoot ? all : Numbers(); });
  run(
      kCount * kRanks,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.scatter(stream, buffers, kCount, kType, kRoot);
      },
      [](int rank) { return numbers(kRoot, kCount * static_cast<std::size_t>(rank), kCount); });
}

TEST_P(CollectivesTest, BlocksGoWhereTheyBelong) {
  Numbers all;
  for (int rank = 0; rank < kRanks; ++rank) append(all, numbers(rank, 0, kCount));
  run(
      kCount,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.all_gather(stream, buffers, kCount, kType);
      },
      [&](int) { return all; });
  run(
      kCount * kRanks,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.reduce_scatter(stream, buffers, kCount, kType, ReduceOp::kSum);
      },
      [](int rank) { return sums(kRanks, kCount * static_cast<std::size_t>(rank), kCount); });
  run(
      kCount * kRanks,
      [](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.all_to_all(stream, buffers, kCount, kType);
      },
      [](int rank) {
        Numbers mine;
        for (int sender = 0; sender < kRanks; ++sender) {
          append(mine, numbers(sender, kCount * static_cast<std::size_t>(rank), kCount));
        }
        return mine;
      });
}

TEST_P(CollectivesTest, BlocksMayDifferInSize) {
  const Counts counts = uneven(kRanks);
  const std::size_t total = first_of(kRanks);
  Numbers all;
  for (int rank = 0; rank < kRanks; ++rank) {
    append(all, numbers(rank, 0, static_cast<std::size_t>(rank)));
  }
  run(
      total,
      [&](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.all_gather_v(stream, buffers, counts, kType);
      },
      [&](int) { return all; });
  run(
      total,
      [&](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.gather_v(stream, buffers, counts, kType, kRoot);
      },
      [&](int rank) { return rank == kRoot ? all : Numbers(); });
  run(
      total,
      [&](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.scatter_v(stream, buffers, counts, kType, kRoot);
      },
      [](int rank) { return numbers(kRoot, first_of(rank), static_cast<std::size_t>(rank)); });
  run(
      total,
      [&](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.reduce_scatter_v(stream, buffers, counts, kType, ReduceOp::kSum);
      },
      [](int rank) { return sums(kRanks, first_of(rank), static_cast<std::size_t>(rank)); });
}

TEST_P(CollectivesTest, AllToAllMayDifferForEachPair) {
  // s + r elements from rank s to rank r.
  Counts counts;
  for (std::size_t s = 0; s < kRanks; ++s) {
    for (std::size_t r = 0; r < kRanks; ++r) counts.push_back(s + r);
  }
  run(
      std::size_t{kRanks * kRanks * 2},
      [&](Communicator& comm, Stream& stream, Buffers buffers) {
        return comm.all_to_all_v(stream, buffers, counts, kType);
      },
      [](int rank) {
        Numbers mine;
        for (int sender = 0; sender < kRanks; ++sender) {
          std::size_t first = 0;
          for (int before = 0; before < rank; ++before) {
            first += static_cast<std::size_t>(sender + before);
          }
          append(mine, numbers(sender, first, static_cast<std::size_t>(sender + rank)));
        }
        return mine;
      });
}

INSTANTIATE_TEST_SUITE_P(MessagesOnly, CollectivesTest, testing::Bool());

TEST(CollectivesInPlaceTest, DeviceMemoryIsCopiedSummedAndCopiedBack) {
  Ranks ranks(3);
  for (int rank = 0; rank < 3; ++rank) {
    void* const memory = commrig::allocate(ranks.runtime(), rank % 2, sizeof(std::int64_t)).value();
    const std::int64_t mine = rank + 1;
    EXPECT_OK(commrig::copy(ranks.stream(rank), memory, &mine, sizeof(mine)));
    EXPECT_OK(ranks.stream(rank).synchronize());
    EXPECT_OK(ranks.comm(rank).all_reduce(ranks.stream(rank), {memory, memory}, 1, kType,
                                          ReduceOp::kProd));
  }
  // One thread may wait for the ranks in any order.
  for (int rank = 2; rank >= 0; --rank) EXPECT_OK(ranks.stream(rank).synchronize());
}

}  // namespace
