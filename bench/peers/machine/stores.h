/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef BENCH_PEERS_STORES_H
#define BENCH_PEERS_STORES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Passes over `bytes` bytes, a multiple of 64, of memory aligned to 64: what a core does to read,
 * write or copy them. `streamed` stores go past the caches where the processor has such. */

#if defined(__SSE2__)
#include <emmintrin.h>

static inline void copy_streamed(char* target, const char* source, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) {
    for (size_t j = i; j < i + 64; j += 16) {
      _mm_stream_si128((__m128i*)(target + j), _mm_load_si128((const __m128i*)(source + j)));
    }
  }
  _mm_sfence();
}

static inline void write_streamed(char* target, size_t bytes) {
  const __m128i ones = _mm_set1_epi8(1);
  for (size_t i = 0; i < bytes; i += 16) _mm_stream_si128((__m128i*)(target + i), ones);
  _mm_sfence();
}
#else
static inline void copy_streamed(char* target, const char* source, size_t bytes) {
  memcpy(target, source, bytes);
}

static inline void write_streamed(char* target, size_t bytes) {
  memset(target, 1, bytes);
}
#endif

/* The sum of all words, so that each of them has to be read. */
static inline uint64_t read_all(const char* source, size_t bytes) {
  typedef uint64_t words __attribute__((vector_size(16)));
  const words* const data = (const words*)source;
  words a = {0};
  words b = {0};
  words c = {0};
  words d = {0};
  for (size_t i = 0; i < bytes / sizeof(words); i += 4) {
    a += data[i];
    b += data[i + 1];
    c += data[i + 2];
    d += data[i + 3];
  }
  a += b + c + d;
  return a[0] + a[1];
}

#endif
