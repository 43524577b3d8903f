/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* What this machine can do, measured when the driver asks. Reads lines and answers each with one
 * number:
 *   flags                      ns in which two pinned threads tell each other a number
 *   handover                   ns in which a number goes from one of them to the other
 *   barrier THREADS            ns in which so many threads, which yield, have met
 *   read|write|copy BYTES THREADS
 *                              bytes per ns that so many threads read, write, or read and write,
 *                              in buffers of BYTES bytes all together; the better way of storing
 *   quit, or the end of input  ends the program */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "stores.h"

enum { kThreadsMax = 64, kFlagRounds = 2000, kBarrierRounds = 300, kTries = 5 };
static const long long kPatienceNs = 2LL * 1000 * 1000 * 1000;

enum pass { kRead, kWrite, kWriteStreamed, kCopy, kCopyStreamed };

struct team {
  int threads;
  _Alignas(64) atomic_int arrived;
  _Alignas(64) atomic_int round;
  enum pass pass;
  size_t bytes; /* of one thread, read and written together */
  int passes;
  struct {
    _Alignas(64) atomic_int value;
  } flags[2];
  long long begin[kThreadsMax];
  long long end[kThreadsMax];
};

struct member {
  struct team* team;
  int number;
  void (*body)(struct team* team, int number);
};

static _Atomic uint64_t sink; /* keeps the reads */

static long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void meet(struct team* team) {
  const int round = atomic_load(&team->round);
  if (atomic_fetch_add(&team->arrived, 1) + 1 == team->threads) {
    atomic_store(&team->arrived, 0);
    atomic_store(&team->round, round + 1);
    return;
  }
  while (atomic_load(&team->round) == round) sched_yield();
}

/* Gives up after the time that shows a machine with other things to do; its end is not stamped. */
static void exchange_flags(struct team* team, int number) {
  const long long last = now_ns() + kPatienceNs;
  meet(team);
  team->begin[number] = now_ns();
  for (int i = 1; i <= kFlagRounds; ++i) {
    atomic_store_explicit(&team->flags[number].value, i, memory_order_release);
    int looks = 0;
    while (atomic_load_explicit(&team->flags[1 - number].value, memory_order_acquire) < i) {
      if (++looks % 4096 == 0 && now_ns() > last) return;
    }
  }
  team->end[number] = now_ns();
}

/* There and back. */
static void hand_over(struct team* team, int number) {
  const long long last = now_ns() + kPatienceNs;
  meet(team);
  team->begin[number] = now_ns();
  for (int i = 1; i <= kFlagRounds; ++i) {
    if (number == 0) atomic_store_explicit(&team->flags[0].value, i, memory_order_release);
    int looks = 0;
    while (atomic_load_explicit(&team->flags[1 - number].value, memory_order_acquire) < i) {
      if (++looks % 4096 == 0 && now_ns() > last) return;
    }
    if (number == 1) atomic_store_explicit(&team->flags[1].value, i, memory_order_release);
  }
  team->end[number] = now_ns();
}

static void hold_barriers(struct team* team, int number) {
  meet(team);
  team->begin[number] = now_ns();
  for (int i = 0; i < kBarrierRounds; ++i) meet(team);
  team->end[number] = now_ns();
}

/* The sum of what was read, if anything was. */
static uint64_t one_pass(enum pass pass, char* memory, size_t bytes) {
  const size_t half = bytes / 128 * 64;
  switch (pass) {
    case kRead:
      return read_all(memory, bytes);
    case kWrite:
      memset(memory, 1, bytes);
      break;
    case kWriteStreamed:
      write_streamed(memory, bytes);
      break;
    case kCopy:
      memcpy(memory, memory + half, half);
      break;
    case kCopyStreamed:
      copy_streamed(memory, memory + half, half);
      break;
  }
  return 0;
}

static void make_passes(struct team* team, int number) {
  char* const memory =
      mmap(NULL, team->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    (void)madvise(memory, team->bytes, MADV_HUGEPAGE);
    memset(memory, 1, team->bytes);
    (void)one_pass(team->pass, memory, team->bytes);
  }
  uint64_t sum = 0;
  meet(team);
  team->begin[number] = now_ns();
  for (int i = 0; i < team->passes && memory != MAP_FAILED; ++i) {
    sum += one_pass(team->pass, memory, team->bytes);
  }
  team->end[number] = memory != MAP_FAILED ? now_ns() : 0;
  atomic_fetch_add(&sink, sum);
  if (memory != MAP_FAILED) munmap(memory, team->bytes);
}

static void* run_member(void* argument) {
  const struct member* const member = argument;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (member->team->threads <= cores) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)member->number, &one);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
  }
  member->body(member->team, member->number);
  return NULL;
}

/* From the first begin to the last end; -1 if a thread could not begin or did not come to its end.
 */
static long long run_team(struct team* team, void (*body)(struct team* team, int number)) {
  pthread_t threads[kThreadsMax];
  struct member members[kThreadsMax];
  memset(team->end, 0, sizeof(team->end));
  for (int i = 0; i < team->threads; ++i) {
    members[i] = (struct member){team, i, body};
    if (pthread_create(&threads[i], NULL, run_member, &members[i]) == 0) continue;
    fprintf(stderr, "machine: no thread\n");
    exit(1);
  }
  for (int i = 0; i < team->threads; ++i) pthread_join(threads[i], NULL);
  long long first = team->begin[0];
  long long last = team->end[0];
  for (int i = 0; i < team->threads; ++i) {
    if (team->end[i] == 0) return -1;
    if (team->begin[i] < first) first = team->begin[i];
    if (team->end[i] > last) last = team->end[i];
  }
  return last - first;
}

static double flags_ns(void (*body)(struct team* team, int number)) {
  struct team team = {.threads = 2};
  const long long ns = run_team(&team, body);
  return ns < 0 ? (double)kPatienceNs : (double)ns / kFlagRounds;
}

static double barrier_ns(int threads) {
  struct team team = {.threads = threads};
  return (double)run_team(&team, hold_barriers) / kBarrierRounds;
}

static double rate_of(enum pass pass, size_t bytes, int threads) {
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    struct team team = {.threads = threads, .pass = pass};
    team.bytes = bytes / (size_t)threads / 128 * 128;
    if (team.bytes == 0) team.bytes = 128;
    team.passes = team.bytes > (1U << 22) ? 1 : (int)((1U << 22) / team.bytes);
    const long long ns = run_team(&team, make_passes);
    const double all = (double)team.bytes * threads * team.passes;
    if (ns > 0 && all / (double)ns > best) best = all / (double)ns;
  }
  return best;
}

static double rate(const char* kind, size_t bytes, int threads) {
  if (strcmp(kind, "read") == 0) return rate_of(kRead, bytes, threads);
  const int copies = strcmp(kind, "copy") == 0;
  const double plain = rate_of(copies ? kCopy : kWrite, bytes, threads);
  const double streamed = rate_of(copies ? kCopyStreamed : kWriteStreamed, bytes, threads);
  return plain > streamed ? plain : streamed;
}

/* -1 for a line that is none of the above. */
static double answer(const char* line) {
  char kind[16] = "";
  size_t bytes = 0;
  int threads = 0;
  if (sscanf(line, "%15s", kind) != 1) return -1;
  if (strcmp(kind, "flags") == 0) return flags_ns(exchange_flags);
  if (strcmp(kind, "handover") == 0) return flags_ns(hand_over) / 2;
  if (strcmp(kind, "barrier") == 0) {
    if (sscanf(line, "%*s %d", &threads) != 1 || threads < 1 || threads > kThreadsMax) return -1;
    return barrier_ns(threads);
  }
  const int known =
      strcmp(kind, "read") == 0 || strcmp(kind, "write") == 0 || strcmp(kind, "copy") == 0;
  if (!known || sscanf(line, "%*s %zu %d", &bytes, &threads) != 2) return -1;
  if (bytes < 1 || threads < 1 || threads > kThreadsMax) return -1;
  return rate(kind, bytes, threads);
}

int main(void) {
  char line[128];
  while (fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "quit\n") != 0) {
    printf("%.6g\n", answer(line));
    fflush(stdout);
  }
  return 0;
}
