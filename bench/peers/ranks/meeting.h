/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef BENCH_PEERS_MEETING_H
#define BENCH_PEERS_MEETING_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where the ranks of a job meet, so that all libraries' ranks begin alike. */
struct meeting;

/* The file has 64 bytes of zeros at first. NULL, and a line on stderr, if it cannot be mapped. */
struct meeting* open_meeting(const char* path);
void close_meeting(struct meeting* meeting);

/* Returns 0 when all ranks have called it. It yields meanwhile; after a minute it gives up, says so
 * on stderr and returns 1. */
int meet(struct meeting* meeting, int ranks);

/* Of CLOCK_MONOTONIC, which all processes of a host share. */
long long now_ns(void);

#ifdef __cplusplus
}
#endif

#endif
