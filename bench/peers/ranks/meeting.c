/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#include "meeting.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kMeetingBytes = 64 };
static const long long kPatienceNs = 60LL * 1000 * 1000 * 1000;

struct meeting {
  atomic_int arrived;
  atomic_int round;
};

struct meeting* open_meeting(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  void* memory = MAP_FAILED;
  if (file >= 0) {
    memory = mmap(NULL, kMeetingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
  }
  if (memory != MAP_FAILED) return memory;
  perror(path);
  return NULL;
}

void close_meeting(struct meeting* meeting) {
  munmap(meeting, kMeetingBytes);
}

int meet(struct meeting* meeting, int ranks) {
  const int round = atomic_load(&meeting->round);
  if (atomic_fetch_add(&meeting->arrived, 1) + 1 == ranks) {
    atomic_store(&meeting->arrived, 0);
    atomic_store(&meeting->round, round + 1);
    return 0;
  }
  const long long last = now_ns() + kPatienceNs;
  while (atomic_load(&meeting->round) == round) {
    sched_yield();
    if (now_ns() < last) continue;
    fprintf(stderr, "a rank has not come to the start within a minute\n");
    return 1;
  }
  return 0;
}

long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
