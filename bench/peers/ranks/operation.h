/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef BENCH_PEERS_OPERATION_H
#define BENCH_PEERS_OPERATION_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum operation_kind {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBroadcast, /* in place */
  kSendRecv,  /* each rank to the next one, from the one before */
  kOperationKinds
};

/* Reductions sum fp32 or bf16; the others move bytes. */
enum element_type { kByte, kFp32, kBf16, kElementTypes };

struct operation {
  enum operation_kind kind;
  enum element_type type;
  size_t count;      /* elements of one block */
  int input_blocks;  /* of `count` each: 1, or the number of ranks */
  int output_blocks; /* likewise */
};

/* The names that the driver uses: "all-reduce", "fp32". -1 for a text that is none. */
int parse_operation_kind(const char* text);
int parse_element_type(const char* text);

size_t element_bytes(enum element_type type);

/* `bytes` is the size as nccl-tests counts it: the larger of input and output, which is all ranks'
 * blocks together where there are several. Each block has one element at least. */
struct operation make_operation(enum operation_kind kind, enum element_type type, size_t bytes,
                                int ranks);

/* Of one rank. */
size_t input_bytes(const struct operation* operation);
size_t output_bytes(const struct operation* operation);

#ifdef __cplusplus
}
#endif

#endif
