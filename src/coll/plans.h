// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <cstddef>

#include "coll/plan.h"

namespace commrig::coll {

// What all ranks of a communicator have to set alike; plans depend on it.
struct Tuning {
  // Algorithms that pass data on cut it into messages of this size, so that the next rank can begin
  // before the whole has arrived.
  std::size_t chunk_bytes = std::size_t{128} << 10;

  std::size_t chunk_count(const Request& request) const {
    return std::max<std::size_t>(1, chunk_bytes / request.element_bytes);
  }
};

// Every algorithm is such a function: what one rank does for a request that check() accepts. It
// calls nothing that could tell one run from another. Time and memory grow with the steps of this
// rank and with the request, not with the steps of all ranks.
using PlanFunction = RankPlan (*)(const Request&, int rank, const Tuning&);

// Shared memory. n ranks; S bytes of the largest buffer.

// Who gives writes its data beside its flag; who gets waits for the flags and reads. One wait.
RankPlan plan_slots(const Request& request, int rank, const Tuning& tuning);

// Every rank reads the inputs of the others where they lie: one pass, each rank its own output.
RankPlan plan_direct(const Request& request, int rank, const Tuning& tuning);

// All-reduce, reduce: each rank folds one slice of all inputs, and writes it into all outputs.
RankPlan plan_two_shot(const Request& request, int rank, const Tuning& tuning);

// Messages only.

// One message between each two ranks, in n - 1 rounds: in round k a rank sends to the one k behind
// it. Reductions gather what belongs to a rank there and fold it once. R. Thakur, R. Rabenseifner,
// W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
// 2005, 3.3.
RankPlan plan_pairwise(const Request& request, int rank, const Tuning& tuning);

// All-reduce, reduce-scatter, all-gather: each rank speaks with its two neighbours only, and sends
// the least bytes possible. P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009.
RankPlan plan_ring(const Request& request, int rank, const Tuning& tuning);

// All-reduce in log2(n) exchanges of the whole vector, plus two where n is no power of two. Thakur,
// Rabenseifner, Gropp 2005, 3.5.
RankPlan plan_recursive_doubling(const Request& request, int rank, const Tuning& tuning);

// Reduce-scatter in log2(n) exchanges of half, a quarter, ... of the vector; all-reduce gathers the
// slices by the same exchanges backwards (Rabenseifner). Thakur, Rabenseifner, Gropp
// 2005, 3.4, 3.5.
RankPlan plan_recursive_halving(const Request& request, int rank, const Tuning& tuning);

// All-gather in ceil(log2(n)) messages, for any n. J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal,
// D. Weathersby, "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
// Systems", IEEE Trans. Parallel Distrib. Syst. 8(11), 1997.
RankPlan plan_bruck(const Request& request, int rank, const Tuning& tuning);

// Broadcast, reduce, gather, scatter along a binomial tree: ceil(log2(n)) messages on the longest
// way. Thakur, Rabenseifner, Gropp 2005, 3.2 and 3.6.
RankPlan plan_binomial(const Request& request, int rank, const Tuning& tuning);

// Reduce, broadcast, and one after the other for all-reduce, along a binary tree and in chunks, so
// that all levels work at the same time. P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms
// for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009, section 2.
RankPlan plan_tree(const Request& request, int rank, const Tuning& tuning);

// Broadcast from each rank to the next, in chunks: while one is passed on the next arrives.
// J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. Dongarra, "Performance
// Analysis of MPI Collective Operations", Cluster Computing 10(2), 2007 ("pipeline").
RankPlan plan_chain(const Request& request, int rank, const Tuning& tuning);

}  // namespace commrig::coll
