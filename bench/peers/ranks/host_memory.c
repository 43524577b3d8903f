/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#include <sys/mman.h>

#include "rank.h"

void* allocate_host(void* library, size_t bytes) {
  (void)library;
  void* const memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a kernel without huge pages refuses */
  return memory;
}

void release_host(void* library, void* memory, size_t bytes) {
  (void)library;
  munmap(memory, bytes);
}
