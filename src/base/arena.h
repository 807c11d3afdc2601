/* SPDX-License-Identifier: MIT
 *
 * An arena hands out memory that all dies together at `clear`: one per worker thread, cleared per page.
 * Blocks are kept at `clear` (up to a bound) and used again.  Memory is aligned for any type.
 */
#ifndef PD_BASE_ARENA_H
#define PD_BASE_ARENA_H

#include "base/span.h"

struct pd_arena_block;

struct pd_arena {
	struct pd_arena_block *head;	/* block in use, then those that are full */
	size_t total;			/* bytes of all blocks */
};

void pd_arena_clear(struct pd_arena *a);
void pd_arena_release(struct pd_arena *a);
void *pd_arena_alloc(struct pd_arena *a, size_t n);
/* A copy of the bytes, with a NUL after them that the span does not count. */
struct pd_span pd_arena_copy(struct pd_arena *a, struct pd_span s);

#endif
