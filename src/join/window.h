/* SPDX-License-Identifier: MIT
 *
 * The 32 bits of a key that a table keeps to compare by (pd_columns.half), in a few pieces: bits of blocks that come
 * later in the plan, where least can differ, before those of earlier ones.
 */
#ifndef PD_JOIN_WINDOW_H
#define PD_JOIN_WINDOW_H

#include "join/permute.h"
#include "join/plan.h"

#define PD_WINDOW_PIECES 2	/* so that taking them needs no loop */

struct pd_window {
	int n_pieces, bits;
	struct { int first, n; } piece[PD_WINDOW_PIECES];
	int spare;	/* two keys that block i is the first to catch differ in at most `spare` bits inside the window, less
			 * those in which they differ in block i */
};

/* For the table of block i; never bits of block i itself. */
void pd_window_choose(struct pd_window *w, const struct pd_plan *p, int i);
/* How likely are two random keys to differ in at most `k` bits of the window? */
double pd_window_chance(const struct pd_window *w, int k);

static inline uint32_t pd_window_get(const struct pd_window *w, const uint64_t *key)
{
	uint64_t v = w->piece[0].n ? pd_bits_get(key, w->piece[0].first, w->piece[0].n) : 0;
	return (uint32_t)(w->piece[1].n ? v << w->piece[1].n | pd_bits_get(key, w->piece[1].first, w->piece[1].n) : v);
}

#endif
