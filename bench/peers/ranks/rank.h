/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef BENCH_PEERS_RANK_H
#define BENCH_PEERS_RANK_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One rank of a library that is measured. Functions return 0, or a number that is not 0 after they
 * have told on stderr what went wrong; the rank then ends. They are called on one thread. */
struct rank {
  void* context; /* the first argument of all functions */
  int rank;
  int ranks;

  /* Memory for `bytes` bytes, which the host can read and write; NULL if there is none. */
  void* (*allocate)(void* library, size_t bytes);
  void (*release)(void* library, void* memory, size_t bytes);

  /* Whether the library has this operation. */
  int (*can_do)(void* library, const struct operation* operation);

  /* Begins an operation, or does it. For a broadcast both buffers are one. */
  int (*call)(void* library, const struct operation* operation, void* input, void* output,
              int root);
  /* Waits until what was begun is done. */
  int (*synchronize)(void* library);
  /* Waits for the other ranks; afterwards nobody needs this rank's help to complete a call. */
  int (*barrier)(void* library);

  /* Whether results of this kind of operation lie at the start of the input. */
  int in_input[kOperationKinds];
};

/* Ordinary host memory, in huge pages where they are had: what `allocate` and `release` are for
 * libraries that have no memory of their own. `library` is not used. */
void* allocate_host(void* library, size_t bytes);
void release_host(void* library, void* memory, size_t bytes);

/* Connects to the driver's socket and does what it asks until it hangs up. Between its commands the
 * rank sleeps. The ranks of a job share the file `meeting`, 64 bytes of zeros at first, by which
 * they begin together. Returns what `main` has to. */
int serve(const struct rank* rank, const char* socket_path, const char* meeting);

#ifdef __cplusplus
}
#endif

#endif
