// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/nccl_collectives.h"

// Every collective, type and operation, against what it is defined to give.
namespace commrig::faces {
namespace {

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
        // In place at the root; the others need no place for a result.
        group.together([&](int r) {
          return ncclReduce(in[r].at(), r == root ? in[r].at() : nullptr, kCount, type.type, op.op,
                            root, group.comms[r], group.streams[r]);
        });
        group.synchronize();
        EXPECT_EQ(in[root].read(),
                  elements(type, kCount, [&](std::size_t i) { return reduced(op.op, ranks(), i); }))
            << "in place";
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

TEST_P(Collectives, GatherAndScatterMayBeInPlaceAtTheRoot) {
  const Ranks group(ranks());
  const std::size_t last = ranks() - 1;
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    const int root = static_cast<int>(last);
    const std::size_t own = last * kCount * type.bytes;
    const auto in = buffers(type, kCount, mark);
    // The root's block lies where it belongs.
    const auto all_blocks =
        buffers(type, all(), [](int r, std::size_t i) { return mark(r, i % kCount); });
    group.together([&](int r) {
      return ncclGather(r == root ? all_blocks[r].at(own) : in[r].at(), all_blocks[r].at(), kCount,
                        type.type, root, group.comms[r], group.streams[r]);
    });
    const auto out = empty(type, kCount);
    group.together([&](int r) {
      return ncclScatter(all_blocks[r].at(), r == root ? all_blocks[r].at(own) : out[r].at(),
                         kCount, type.type, root, group.comms[r], group.streams[r]);
    });
    group.synchronize();
    EXPECT_EQ(all_blocks[root].read(), elements(type, all(), [](std::size_t i) {
                return mark(static_cast<int>(i / kCount), i % kCount);
              }));
    for (int r = 0; r < root; ++r) EXPECT_EQ(out[r].read(), in[r].read()) << r;
  }
}

TEST_P(Collectives, OfNoElementsDoNothing) {
  const Ranks group(ranks());
  const Type& type = kTypes[ncclFloat32];
  const auto data = buffers(type, kCount, mark);
  group.together([&](int r) {
    void* const at = data[r].at();
    const ncclComm_t comm = group.comms[r];
    const cudaStream_t stream = group.streams[r];
    EXPECT_NCCL(ncclAllReduce(at, at, 0, ncclFloat, ncclSum, comm, stream), ncclSuccess);
    EXPECT_NCCL(ncclReduceScatter(at, at, 0, ncclFloat, ncclAvg, comm, stream), ncclSuccess);
    EXPECT_NCCL(ncclReduce(at, at, 0, ncclFloat, ncclSum, 0, comm, stream), ncclSuccess);
    EXPECT_NCCL(ncclAllGather(at, at, 0, ncclFloat, comm, stream), ncclSuccess);
    EXPECT_NCCL(ncclAlltoAll(at, at, 0, ncclFloat, comm, stream), ncclSuccess);
    EXPECT_NCCL(ncclSend(at, 0, ncclFloat, 0, comm, stream), ncclSuccess);
    return ncclBroadcast(at, at, 0, ncclFloat, 0, comm, stream);
  });
  group.synchronize();
  for (int r = 0; r < ranks(); ++r) {
    EXPECT_EQ(data[r].read(), elements(type, kCount, [r](std::size_t i) { return mark(r, i); }));
  }
  // Nor does what one rank alone calls without elements hold up the others.
  EXPECT_NCCL(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, group.comms[0], nullptr),
              ncclSuccess);
  group.together([&](int r) {
    return ncclBroadcast(data[r].at(), data[r].at(), kCount, ncclFloat, 0, group.comms[r],
                         group.streams[r]);
  });
  group.synchronize();
  EXPECT_EQ(data[ranks() - 1].read(), data[0].read());
}

TEST_P(Collectives, BuffersMayLieInTheHostsMemory) {
  const Ranks group(ranks());
  const Type& type = kTypes[ncclInt32];
  std::vector<std::vector<std::byte>> data;
  for (int r = 0; r < ranks(); ++r) {
    data.push_back(elements(type, kCount, [r](std::size_t i) { return mark(r, i); }));
  }
  group.together([&](int r) {
    return ncclAllReduce(data[r].data(), data[r].data(), kCount, type.type, ncclSum, group.comms[r],
                         group.streams[r]);
  });
  group.synchronize();
  const auto expected = elements(type, kCount, [&](std::size_t i) {
    double sum = 0;
    for (int r = 0; r < ranks(); ++r) sum += mark(r, i);
    return sum;
  });
  for (int r = 0; r < ranks(); ++r) EXPECT_EQ(data[r], expected) << r;
}

TEST_P(Collectives, MessagesInAGroupReachEveryRankFromEveryRank) {
  const Ranks group(ranks());
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    const auto in = buffers(type, all(), mark);
    const auto out = empty(type, all());
    const std::size_t block = kCount * type.bytes;
    ASSERT_NCCL(ncclGroupStart());
    for (int r = 0; r < ranks(); ++r) {
      for (int peer = 0; peer < ranks(); ++peer) {
        ASSERT_NCCL(ncclRecv(out[r].at(peer * block), kCount, type.type, peer, group.comms[r],
                             group.streams[r]));
        ASSERT_NCCL(ncclSend(in[r].at(peer * block), kCount, type.type, peer, group.comms[r],
                             group.streams[r]));
      }
    }
    ASSERT_NCCL(ncclGroupEnd());
    group.synchronize();
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(out[r].read(), elements(type, all(),
                                        [&](std::size_t i) {
                                          return mark(static_cast<int>(i / kCount),
                                                      r * kCount + i % kCount);
                                        }))
          << r;
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
