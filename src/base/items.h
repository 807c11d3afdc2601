/* SPDX-License-Identifier: MIT
 *
 * A growing list of (64-bit key, value), and a stable sort by key in linear time.  Found pairs are gathered as items
 * (a in the high half of the key, b in the low half, the distance as value), one list per thread, and then brought
 * together.
 */
#ifndef PD_BASE_ITEMS_H
#define PD_BASE_ITEMS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_item {
	uint64_t key;
	uint32_t value;
};

struct pd_items {
	struct pd_item *v;
	size_t n, cap;
	size_t mapped;			/* bytes, when `v` is a mapped file; 0: memory */
	struct pd_spill *spill;		/* where the list goes when it is full; NULL: it grows */
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
static inline void pd_items_add_pair(struct pd_items *s, uint64_t x, uint64_t y, uint32_t distance)
{
	pd_items_add(s, x < y ? x << 32 | y : y << 32 | x, distance);
}

void pd_items_sort(struct pd_items *s);
/* What several lists hold, in order, in one; the lists are given back.  Keys that differ come in the same order for any
 * number of lists and threads.  Fails only where lists were spilled (spill.h). */
int pd_items_gather(struct pd_items *lists, int n_lists, int threads, struct pd_items *out, struct pd_err *e);
void pd_items_release(struct pd_items *s);

#endif
