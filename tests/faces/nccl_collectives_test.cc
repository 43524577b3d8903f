// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cmath>

#include "tests/faces/ranks.h"

// Every collective, type and operation, against what it is defined to give.
namespace commrig::faces {
namespace {

constexpr std::size_t kCount = 67;  // elements a rank; no multiple of anything

struct Op {
  ncclRedOp_t op;
  const char* name;
};
constexpr Op kOps[] = {
    {ncclSum, "sum"}, {ncclProd, "prod"}, {ncclMax, "max"}, {ncclMin, "min"}, {ncclAvg, "avg"}};

// Small numbers whose sums, products and averages every type holds; products of 8-bit integers
// wrap.
double input(ncclRedOp_t op, int ranks, int rank, std::size_t i) {
  if (op == ncclProd) return static_cast<double>((static_cast<std::size_t>(rank) + i) % 2 + 1);
  if (op == ncclAvg) return rank == 0 ? ranks * static_cast<double>(i % 2 + 1) : 0;
  return static_cast<double>((static_cast<std::size_t>(rank) + i) % 3 == 0);
}

double reduced(ncclRedOp_t op, int ranks, std::size_t i) {
  double result = input(op, ranks, 0, i);
  for (int r = 1; r < ranks; ++r) {
    const double next = input(op, ranks, r, i);
    if (op == ncclProd) {
      result *= next;
    } else if (op == ncclMax || op == ncclMin) {
      result = op == ncclMax ? std::max(result, next) : std::min(result, next);
    } else {
      result += next;
    }
  }
  return op == ncclAvg ? result / ranks : result;
}

// A value of its own for each rank and element, within 8 bits.
double mark(int rank, std::size_t i) {
  return static_cast<double>((static_cast<std::size_t>(rank) * 3 + i) % 8);
}

class Collectives : public ::testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }
  std::size_t all() const { return kCount * static_cast<std::size_t>(ranks()); }

  // A buffer for each rank, of `count` elements that `value` gives.
  std::vector<Buffer> buffers(const Type& type, std::size_t count,
                              const std::function<double(int, std::size_t)>& value) const {
    std::vector<Buffer> made;
    for (int r = 0; r < ranks(); ++r) {
      made.emplace_back(r, elements(type, count, [&](std::size_t i) { return value(r, i); }));
    }
    return made;
  }
  std::vector<Buffer> empty(const Type& type, std::size_t count) const {
    return buffers(type, count, [](int, std::size_t) { return 5; });
  }
};

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(Collectives, AllReduceGivesAllRanksTheReduction) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    for (const Op& op : kOps) {
      SCOPED_TRACE(std::string(type.name) + " " + op.name);
      const auto value = [&](int r, std::size_t i) { return input(op.op, ranks(), r, i); };
      const auto in = buffers(type, kCount, value);
      const auto out = empty(type, kCount);
      const auto both = buffers(type, kCount, value);
      group.together([&](int r) {
        return ncclAllReduce(in[r].at(), out[r].at(), kCount, type.type, op.op, group.comms[r],
                             group.streams[r]);
      });
      group.together([&](int r) {
        return ncclAllReduce(both[r].at(), both[r].at(), kCount, type.type, op.op, group.comms[r],
                             group.streams[r]);
      });
      group.synchronize();
      const auto expected =
          elements(type, kCount, [&](std::size_t i) { return reduced(op.op, ranks(), i); });
      for (int r = 0; r < ranks(); ++r) {
        EXPECT_EQ(out[r].read(), expected) << r;
        EXPECT_EQ(both[r].read(), expected) << r << " in place";
      }
    }
  }
}

TEST_P(Collectives, ReduceGivesTheRootTheReductionAndLeavesOthersAlone) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    for (const Op& op : kOps) {
      for (int root = 0; root < ranks(); ++root) {
        SCOPED_TRACE(std::string(type.name) + " " + op.name + " root " + std::to_string(root));
        const auto in = buffers(type, kCount,
                                [&](int r, std::size_t i) { return input(op.op, ranks(), r, i); });
        const auto out = empty(type, kCount);
        group.together([&](int r) {
          return ncclReduce(in[r].at(), out[r].at(), kCount, type.type, op.op, root, group.comms[r],
                            group.streams[r]);
        });
        group.synchronize();
        for (int r = 0; r < ranks(); ++r) {
          EXPECT_EQ(out[r].read(), elements(type, kCount,
                                            [&](std::size_t i) {
                                              return r == root ? reduced(op.op, ranks(), i) : 5;
                                            }))
              << r;
        }
      }
    }
  }
}

TEST_P(Collectives, ReduceScatterGivesEachRankItsBlockOfTheReduction) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    for (const Op& op : kOps) {
      SCOPED_TRACE(std::string(type.name) + " " + op.name);
      const auto value = [&](int r, std::size_t i) { return input(op.op, ranks(), r, i); };
      const auto in = buffers(type, all(), value);
      const auto out = empty(type, kCount);
      const auto both = buffers(type, all(), value);
      const auto own = [&](int r) { return static_cast<std::size_t>(r) * kCount * type.bytes; };
      group.together([&](int r) {
        return ncclReduceScatter(in[r].at(), out[r].at(), kCount, type.type, op.op, group.comms[r],
                                 group.streams[r]);
      });
      group.together([&](int r) {
        return ncclReduceScatter(both[r].at(), both[r].at(own(r)), kCount, type.type, op.op,
                                 group.comms[r], group.streams[r]);
      });
      group.synchronize();
      for (int r = 0; r < ranks(); ++r) {
        const auto expected = elements(type, kCount, [&](std::size_t i) {
          return reduced(op.op, ranks(), static_cast<std::size_t>(r) * kCount + i);
        });
        EXPECT_EQ(out[r].read(), expected) << r;
        std::vector<std::byte> mine = both[r].read();
        mine = {mine.begin() + static_cast<std::ptrdiff_t>(own(r)),
                mine.begin() + static_cast<std::ptrdiff_t>(own(r) + kCount * type.bytes)};
        EXPECT_EQ(mine, expected) << r << " in place";
      }
    }
  }
}

TEST_P(Collectives, BroadcastGivesAllRanksWhatTheRootHas) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    for (int root = 0; root < ranks(); ++root) {
      SCOPED_TRACE(std::string(type.name) + " root " + std::to_string(root));
      const auto in = buffers(type, kCount, mark);
      const auto out = empty(type, kCount);
      group.together([&](int r) {
        return ncclBroadcast(r == root ? in[r].at() : nullptr, out[r].at(), kCount, type.type, root,
                             group.comms[r], group.streams[r]);
      });
      group.together([&](int r) {
        return ncclBcast(in[r].at(), kCount, type.type, root, group.comms[r], group.streams[r]);
      });
      group.synchronize();
      const auto expected = elements(type, kCount, [&](std::size_t i) { return mark(root, i); });
      for (int r = 0; r < ranks(); ++r) {
        EXPECT_EQ(out[r].read(), expected) << r;
        EXPECT_EQ(in[r].read(), expected) << r << " ncclBcast";
      }
    }
  }
}

TEST_P(Collectives, AllGatherGivesAllRanksEveryBlock) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    const auto in = buffers(type, kCount, mark);
    const auto out = empty(type, all());
    // In place, a rank's block lies where it belongs in the output.
    const auto both =
        buffers(type, all(), [](int r, std::size_t i) { return mark(r, i % kCount); });
    group.together([&](int r) {
      return ncclAllGather(in[r].at(), out[r].at(), kCount, type.type, group.comms[r],
                           group.streams[r]);
    });
    group.together([&](int r) {
      return ncclAllGather(both[r].at(static_cast<std::size_t>(r) * kCount * type.bytes),
                           both[r].at(), kCount, type.type, group.comms[r], group.streams[r]);
    });
    group.synchronize();
    const auto expected = elements(
        type, all(), [](std::size_t i) { return mark(static_cast<int>(i / kCount), i % kCount); });
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(out[r].read(), expected) << r;
      EXPECT_EQ(both[r].read(), expected) << r << " in place";
    }
  }
}

TEST_P(Collectives, AlltoAllGivesEachRankItsBlockOfEveryRank) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    const auto in = buffers(type, all(), mark);
    const auto out = empty(type, all());
    group.together([&](int r) {
      return ncclAlltoAll(in[r].at(), out[r].at(), kCount, type.type, group.comms[r],
                          group.streams[r]);
    });
    group.synchronize();
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(out[r].read(), elements(type, all(),
                                        [&](std::size_t i) {
                                          return mark(
                                              static_cast<int>(i / kCount),
                                              static_cast<std::size_t>(r) * kCount + i % kCount);
                                        }))
          << r;
    }
  }
}

TEST_P(Collectives, GatherAndScatterMoveBlocksToAndFromTheRoot) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    for (int root = 0; root < ranks(); ++root) {
      SCOPED_TRACE(std::string(type.name) + " root " + std::to_string(root));
      const auto in = buffers(type, kCount, mark);
      const auto gathered = empty(type, all());
      const auto scattered = empty(type, kCount);
      group.together([&](int r) {
        return ncclGather(in[r].at(), r == root ? gathered[r].at() : nullptr, kCount, type.type,
                          root, group.comms[r], group.streams[r]);
      });
      group.together([&](int r) {
        return ncclScatter(r == root ? gathered[r].at() : nullptr, scattered[r].at(), kCount,
                           type.type, root, group.comms[r], group.streams[r]);
      });
      group.synchronize();
      EXPECT_EQ(gathered[root].read(), elements(type, all(), [](std::size_t i) {
                  return mark(static_cast<int>(i / kCount), i % kCount);
                }));
      for (int r = 0; r < ranks(); ++r) EXPECT_EQ(scattered[r].read(), in[r].read()) << r;
    }
  }
}

TEST_P(Collectives, MessagesInAGroupGoAroundARing) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    const auto in = buffers(type, kCount, mark);
    const auto out = empty(type, kCount);
    ASSERT_NCCL(ncclGroupStart());
    for (int r = 0; r < ranks(); ++r) {
      ASSERT_NCCL(ncclSend(in[r].at(), kCount, type.type, (r + 1) % ranks(), group.comms[r],
                           group.streams[r]));
      ASSERT_NCCL(ncclRecv(out[r].at(), kCount, type.type, (r + ranks() - 1) % ranks(),
                           group.comms[r], group.streams[r]));
    }
    ASSERT_NCCL(ncclGroupEnd());
    group.synchronize();
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(out[r].read(), in[(r + ranks() - 1) % ranks()].read()) << r;
    }
  }
}

TEST_P(Collectives, PreMulSumMultipliesEachInputByItsRanksScalar) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    for (const bool on_device : {false, true}) {
      SCOPED_TRACE(std::string(type.name) + (on_device ? " on the device" : " at once"));
      std::vector<Buffer> scalars;
      std::vector<ncclRedOp_t> ops(static_cast<std::size_t>(ranks()));
      for (int r = 0; r < ranks(); ++r) {
        auto factor = elements(type, 1, [r](std::size_t) { return r % 2 + 1; });
        scalars.emplace_back(r, factor);
        ASSERT_NCCL(ncclRedOpCreatePreMulSum(
            &ops[r], on_device ? scalars[r].at() : factor.data(), type.type,
            on_device ? ncclScalarDevice : ncclScalarHostImmediate, group.comms[r]));
      }
      const auto in = buffers(type, kCount, [](int, std::size_t i) { return i % 2; });
      const auto out = empty(type, kCount);
      group.together([&](int r) {
        return ncclAllReduce(in[r].at(), out[r].at(), kCount, type.type, ops[r], group.comms[r],
                             group.streams[r]);
      });
      group.synchronize();
      double factors = 0;
      for (int r = 0; r < ranks(); ++r) factors += r % 2 + 1;
      const auto expected = elements(
          type, kCount, [&](std::size_t i) { return factors * static_cast<double>(i % 2); });
      for (int r = 0; r < ranks(); ++r) {
        EXPECT_EQ(out[r].read(), expected) << r;
        EXPECT_NCCL(ncclRedOpDestroy(ops[r], group.comms[r]), ncclSuccess);
      }
    }
  }
}

TEST(Average, OfHalvesIsRoundedOnceAndDoesNotOverflowOnTheWay) {
  const Ranks group(2);
  const Type half = kTypes[ncclFloat16];
  std::vector<Buffer> buffers;
  for (int r = 0; r < 2; ++r) {
    buffers.emplace_back(r, elements(half, 2, [](std::size_t i) { return i == 0 ? 60000 : 1; }));
  }
  group.together([&](int r) {
    return ncclAllReduce(buffers[r].at(), buffers[r].at(), 2, ncclFloat16, ncclAvg, group.comms[r],
                         group.streams[r]);
  });
  group.synchronize();
  EXPECT_EQ(buffers[1].read(), elements(half, 2, [](std::size_t i) { return i == 0 ? 60000 : 1; }));
}

TEST(Average, OfIntegersIsTruncatedTowardsZero) {
  const Ranks group(2);
  const Type type = kTypes[ncclInt32];
  std::vector<Buffer> buffers;
  for (int r = 0; r < 2; ++r) {
    buffers.emplace_back(r, elements(type, 2, [r](std::size_t i) { return i == 0 ? -r : r; }));
  }
  group.together([&](int r) {
    return ncclAllReduce(buffers[r].at(), buffers[r].at(), 2, ncclInt32, ncclAvg, group.comms[r],
                         group.streams[r]);
  });
  group.synchronize();
  EXPECT_EQ(buffers[0].read(), elements(type, 2, [](std::size_t) { return 0; }));
}

}  // namespace
}  // namespace commrig::faces
