/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef BENCH_PEERS_DATA_H
#define BENCH_PEERS_DATA_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Data of the ranks and what has to come out, by a formula that every rank knows. Block b of the
 * input of rank r repeats 4,093 elements (a prime, so that no two places a power of two apart look
 * alike) which follow from r, b and the seed: any bytes, or whole numbers from 0 to 15, whose sum
 * over at most 17 ranks is exact in bf16 too, whatever the order. */

/* Fills the input of `rank`. For a broadcast, the buffer of each rank. */
void fill_input(const struct operation* operation, int rank, unsigned seed, void* input);

/* Fills the output with what no right result looks like. */
void spoil_output(const struct operation* operation, void* output);

/* How many elements of the output of `rank` are wrong. `root` is that of a broadcast. */
size_t count_wrong(const struct operation* operation, int rank, int ranks, int root, unsigned seed,
                   const void* output);

#ifdef __cplusplus
}
#endif

#endif
