/* SPDX-License-Identifier: MIT
 *
 * Sorting, and searching in what is sorted: what both have in common wherever the program does it; lists of pairs that become
 * one.
 */
#ifndef PD_BASE_SORT_H
#define PD_BASE_SORT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/memory.h"

/* The lower bound, binary search as every sorted array of the program is searched: the first i of low … high - 1 for which
 * `before`, an expression of i, is false; `high` when it holds for all.  Wherever it is false, it must be false for all that
 * follow.
 *
 *	size_t at = PD_LOWER_BOUND(i, 0, n, v[i].key < key);
 *	bool there = at < n && v[at].key == key;
 *
 * An expression of gcc and clang, so that the comparison stands where the search does and costs no call. */
#define PD_LOWER_BOUND(i, low, high, before) __extension__({ \
	size_t pd_low_ = (low), pd_high_ = (high); \
	while (pd_low_ < pd_high_) { \
		const size_t i = pd_low_ + (pd_high_ - pd_low_) / 2; \
		if (before) \
			pd_low_ = i + 1; \
		else \
			pd_high_ = i; \
	} \
	pd_low_; \
})

/* One pass of a radix sort on threads: items lie in stretches, one for each thread or list, and go into parts by a digit.
 * Each stretch counts its items by parts; the sum turns counts into places, part by part and in each the stretches in their
 * order, so that the pass is stable whatever the threads; then each stretch places its items.
 *
 *	pd_radix_init(&r, n_stretches, n_parts);
 *	for each stretch s, each item x of it:	pd_radix_next(&r, s)[digit(x)]++;
 *	pd_radix_sum(&r);
 *	for each stretch s, each item x of it:	out[pd_radix_next(&r, s)[digit(x)]++] = x;
 */
struct pd_radix {
	size_t n_stretches, n_parts;
	size_t *next;		/* stretch, part -> how many items; after the sum, where the next one goes */
	size_t *part;		/* n_parts + 1: where parts begin */
};

void pd_radix_init(struct pd_radix *r, size_t n_stretches, size_t n_parts);
void pd_radix_sum(struct pd_radix *r);
void pd_radix_release(struct pd_radix *r);

static inline size_t *pd_radix_next(const struct pd_radix *r, size_t stretch)
{
	return r->next + stretch * r->n_parts;
}

/* --- lists of (64-bit key, value) ---
 *
 * Sorted by key in linear time, in memory or, where that is short, on disk.  Threads find pairs, each in a list of its own: the
 * smaller number in the high half of the key, the larger in the low half, what is known of the pair as the value.  In the end
 * the lists become one, in order. */

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
