/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#include "data.h"

#include <stdint.h>
#include <string.h>

enum { kPeriod = 4093, kElementBytesMax = 4 };

struct pattern {
  size_t bytes;
  unsigned char data[kPeriod * kElementBytesMax];
};

static uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

static uint32_t number_at(uint32_t place, int rank, int block, unsigned seed) {
  return mixed(place ^ mixed((uint32_t)rank * 65537U + (uint32_t)block + mixed(seed)));
}

static void set_element(struct pattern* pattern, enum element_type type, size_t place,
                        uint32_t value) {
  const float number = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &number, sizeof(bits));
  const uint16_t upper = (uint16_t)(bits >> 16);
  if (type == kByte) pattern->data[place] = (unsigned char)value;
  if (type == kFp32) memcpy(pattern->data + place * 4, &bits, 4);
  if (type == kBf16) memcpy(pattern->data + place * 2, &upper, 2);
}

/* The elements of block `block`, of one rank or summed over the ranks from `first` to `last`. */
static void make_pattern(struct pattern* pattern, enum element_type type, int first, int last,
                         int block, unsigned seed) {
  pattern->bytes = kPeriod * element_bytes(type);
  for (uint32_t place = 0; place < kPeriod; ++place) {
    uint32_t value = 0;
    for (int rank = first; rank <= last; ++rank) {
      const uint32_t number = number_at(place, rank, block, seed);
      value += type == kByte ? number & 255U : number & 15U;
    }
    set_element(pattern, type, place, value);
  }
}

static void repeat(const struct pattern* pattern, unsigned char* target, size_t bytes) {
  while (bytes != 0) {
    const size_t piece = bytes < pattern->bytes ? bytes : pattern->bytes;
    memcpy(target, pattern->data, piece);
    target += piece;
    bytes -= piece;
  }
}

static size_t count_differences(const struct pattern* pattern, const unsigned char* data,
                                size_t bytes, size_t element) {
  size_t differences = 0;
  for (size_t start = 0; start < bytes; start += pattern->bytes) {
    const size_t piece = bytes - start < pattern->bytes ? bytes - start : pattern->bytes;
    if (memcmp(data + start, pattern->data, piece) == 0) continue;
    for (size_t i = 0; i < piece; i += element) {
      differences += memcmp(data + start + i, pattern->data + i, element) != 0;
    }
  }
  return differences;
}

void fill_input(const struct operation* operation, int rank, unsigned seed, void* input) {
  const size_t block_bytes = operation->count * element_bytes(operation->type);
  struct pattern pattern;
  for (int block = 0; block < operation->input_blocks; ++block) {
    make_pattern(&pattern, operation->type, rank, rank, block, seed);
    repeat(&pattern, (unsigned char*)input + (size_t)block * block_bytes, block_bytes);
  }
}

void spoil_output(const struct operation* operation, void* output) {
  /* 0xff is NaN in both floating types; bytes get a pattern of no rank. */
  if (operation->type == kByte) {
    struct pattern pattern;
    make_pattern(&pattern, kByte, 1 << 20, 1 << 20, 0, 0);
    repeat(&pattern, output, output_bytes(operation));
  } else {
    memset(output, 0xff, output_bytes(operation));
  }
}

size_t count_wrong(const struct operation* operation, int rank, int ranks, int root, unsigned seed,
                   const void* output) {
  const size_t element = element_bytes(operation->type);
  const size_t block_bytes = operation->count * element;
  size_t wrong = 0;
  struct pattern expected;
  for (int block = 0; block < operation->output_blocks; ++block) {
    int first = 0;
    int last = ranks - 1;
    int part = 0;
    switch (operation->kind) {
      case kAllReduce:
        break;
      case kReduceScatter:
        part = rank;
        break;
      case kAllGather:
        first = last = block;
        break;
      case kAllToAll:
        first = last = block;
        part = rank;
        break;
      case kBroadcast:
        first = last = root;
        break;
      default:
        first = last = (rank + ranks - 1) % ranks;
    }
    make_pattern(&expected, operation->type, first, last, part, seed);
    wrong +=
        count_differences(&expected, (const unsigned char*)output + (size_t)block * block_bytes,
                          block_bytes, element);
  }
  return wrong;
}
