// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

// Data go from each rank to the next. Every message is one chunk of a part.
class Ring {
 public:
  Ring(const Request& request, int rank, std::size_t chunk)
      : request_(request), rank_(rank), chunk_(chunk), plan_(request, rank) {}

  RankPlan make() {
    const int n = plan_.ranks();
    if (request_.collective == Collective::kAllReduce) {
      all_reduce(Blocks::slices(request_.count, n));
    } else if (base_form(request_.collective) == Collective::kReduceScatter) {
      reduce_scatter(Blocks::of(request_));
    } else {
      all_gather(Blocks::of(request_));
    }
    return plan_.take();
  }

 private:
  template <class Function>
  void each_chunk(Range range, Function function) const {
    for (std::size_t done = 0; done < range.count; done += chunk_) {
      function(Range{range.offset + done, std::min(chunk_, range.count - done)});
    }
  }

  void send(Range range, Place (PlanBuilder::*buffer)(std::size_t) const) {
    each_chunk(range, [&](Range chunk) {
      plan_.send(plan_.neighbour(1), (plan_.*buffer)(chunk.offset), chunk.count);
    });
  }

  // Slice r starts at rank r, and is complete at rank r - 1 after n - 1 rounds; in the next n - 1
  // it goes round once more. Each chunk is passed on as soon as it is there.
  void all_reduce(const Blocks& slices) {
    const int n = plan_.ranks();
    if (n == 1) return plan_.copy(plan_.input(), plan_.output(), request_.count);
    send(slices[rank_], &PlanBuilder::input);
    for (int round = 1; round < n; ++round) {
      const bool last = round == n - 1;
      // In place, slice `rank` was sent from where it arrives in the second half.
      each_chunk(slices[plan_.neighbour(-round)], [&](Range chunk) {
        plan_.recv(plan_.neighbour(-1), plan_.hidden(), chunk.count);
        plan_.reduce(plan_.hidden(), plan_.input(chunk.offset), plan_.output(chunk.offset),
                     chunk.count);
        if (!last) plan_.send(plan_.neighbour(1), plan_.output(chunk.offset), chunk.count);
      });
    }
    plan_.drain();
    send(slices[plan_.neighbour(1)], &PlanBuilder::output);
    pass_on(slices, 0);
  }

  // Receives the part that lies `first` ranks before this one, then those before it, and passes on
  // all but the last.
  void pass_on(const Blocks& blocks, int first) {
    const int n = plan_.ranks();
    for (int round = 0; round < n - 1; ++round) {
      each_chunk(blocks[plan_.neighbour(-first - round)], [&](Range chunk) {
        plan_.recv(plan_.neighbour(-1), plan_.output(chunk.offset), chunk.count);
        if (round < n - 2) {
          plan_.send(plan_.neighbour(1), plan_.output(chunk.offset), chunk.count);
        }
      });
    }
  }

  void all_gather(const Blocks& blocks) {
    const Range mine = blocks[rank_];
    if (plan_.ranks() > 1) {
      each_chunk({0, mine.count}, [&](Range chunk) {
        plan_.send(plan_.neighbour(1), plan_.input(chunk.offset), chunk.count);
      });
    }
    plan_.copy(plan_.input(), plan_.output(mine.offset), mine.count);
    pass_on(blocks, 1);
  }

  // Block r starts at rank r + 1 and ends at rank r. The input may not be written, so partial sums
  // lie in two private areas in turn: one arrives while the other is sent.
  void reduce_scatter(const Blocks& blocks) {
    const int n = plan_.ranks();
    if (n == 1) return plan_.copy(plan_.input(), plan_.output(), blocks.total());
    std::size_t area = 0;
    for (int rank = 0; rank < n; ++rank) area = std::max(area, blocks[rank].count);
    for (int round = 0; round < n - 1; ++round) {
      const Range sent = blocks[plan_.neighbour(-1 - round)];
      const Range received = blocks[plan_.neighbour(-2 - round)];
      const Place outgoing =
          round == 0 ? plan_.input(sent.offset) : plan_.hidden(round % 2 == 0 ? area : 0);
      const Place incoming = plan_.hidden(round % 2 == 0 ? 0 : area);
      each_chunk({0, sent.count}, [&](Range chunk) {
        plan_.send(plan_.neighbour(1), outgoing + chunk.offset, chunk.count);
      });
      each_chunk({0, received.count}, [&](Range chunk) {
        const Place partial = incoming + chunk.offset;
        plan_.recv(plan_.neighbour(-1), partial, chunk.count);
        plan_.reduce(partial, plan_.input(received.offset + chunk.offset),
                     round == n - 2 ? plan_.output(chunk.offset) : partial, chunk.count);
      });
      if (round < n - 2) plan_.drain();  // The next round receives into `outgoing`.
    }
  }

  const Request& request_;
  int rank_;
  std::size_t chunk_;
  PlanBuilder plan_;
};

}  // namespace

RankPlan plan_ring(const Request& request, int rank, const Tuning& tuning) {
  return Ring(request, rank, tuning.chunk_count(request)).make();
}

}  // namespace commrig::coll
