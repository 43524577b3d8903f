/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef BENCH_PEERS_BF16_H
#define BENCH_PEERS_BF16_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* target[i] = a[i] + b[i], in fp32, rounded to the nearest, ties to even; the numbers are finite.
 * For libraries that have no bf16 of their own. target may be a or b. The compiler makes vector
 * code of it for what the processor has. */
void add_bf16(void* target, const void* a, const void* b, size_t count);

#ifdef __cplusplus
}
#endif

#endif
