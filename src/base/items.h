/* SPDX-License-Identifier: MIT
 *
 * Lists of (64-bit key, value), sorted by key in linear time, in memory or, where that is short, on disk.  Threads find
 * pairs, each in a list of its own: the smaller number in the high half of the key, the larger in the low half, what is
 * known of the pair as the value.  In the end the lists become one, in order.
 */
#ifndef PD_BASE_ITEMS_H
#define PD_BASE_ITEMS_H

#include "base/err.h"
#include "base/memory.h"

struct pd_item {
	uint64_t key;
	uint32_t value;
};

struct pd_items {
	struct pd_item *v;
	size_t n, cap;
	size_t mapped;			/* bytes, when `v` is a mapped file; 0: memory */
	struct pd_items_spill *spill;	/* where the list goes when it is full; NULL: it grows */
};

/* Room for one more. */
void pd_items_room(struct pd_items *s);

static inline void pd_items_add(struct pd_items *s, uint64_t key, uint32_t value)
{
	if (s->n == s->cap)
		pd_items_room(s);
	s->v[s->n++] = (struct pd_item){ key, value };
}

/* Keys x and y, in the order that pairs have. */
static inline void pd_items_add_pair(struct pd_items *s, uint64_t x, uint64_t y, uint32_t value)
{
	pd_items_add(s, x < y ? x << 32 | y : y << 32 | x, value);
}

void pd_items_sort(struct pd_items *s);
void pd_items_release(struct pd_items *s);

/* Lists for n threads.  Within a budget they share a quarter of what is left of it now, and what they hold more than that
 * goes on disk in sorted runs. */
struct pd_items *pd_items_lists(int n, struct pd_budget *budget);
/* What the lists hold, in order, in `out`, which needs no clearing (NULL: it is not wanted); the lists are freed.  Keys that differ come in the same
 * order for any number of lists and threads.  Fails only where lists went on disk. */
int pd_items_gather(struct pd_items *lists, int n, int threads, struct pd_items *out, struct pd_err *e);

#endif
