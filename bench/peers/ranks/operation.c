/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#include "operation.h"

#include <string.h>

static const char* const kKindNames[kOperationKinds] = {
    [kAllReduce] = "all-reduce", [kReduceScatter] = "reduce-scatter", [kAllGather] = "all-gather",
    [kAllToAll] = "all-to-all",  [kBroadcast] = "broadcast",          [kSendRecv] = "send-recv",
};

static const char* const kTypeNames[kElementTypes] = {
    [kByte] = "bytes",
    [kFp32] = "fp32",
    [kBf16] = "bf16",
};

static int find(const char* text, const char* const* names, int count) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(text, names[i]) == 0) return i;
  }
  return -1;
}

int parse_operation_kind(const char* text) {
  return find(text, kKindNames, kOperationKinds);
}

int parse_element_type(const char* text) {
  return find(text, kTypeNames, kElementTypes);
}

size_t element_bytes(enum element_type type) {
  return type == kFp32 ? 4 : type == kBf16 ? 2 : 1;
}

struct operation make_operation(enum operation_kind kind, enum element_type type, size_t bytes,
                                int ranks) {
  struct operation operation = {kind, type, bytes / element_bytes(type), 1, 1};
  if (kind == kReduceScatter || kind == kAllToAll) operation.input_blocks = ranks;
  if (kind == kAllGather || kind == kAllToAll) operation.output_blocks = ranks;
  if (operation.input_blocks > 1 || operation.output_blocks > 1) operation.count /= (size_t)ranks;
  if (operation.count == 0) operation.count = 1;
  return operation;
}

size_t input_bytes(const struct operation* operation) {
  return operation->count * (size_t)operation->input_blocks * element_bytes(operation->type);
}

size_t output_bytes(const struct operation* operation) {
  return operation->count * (size_t)operation->output_blocks * element_bytes(operation->type);
}
