/* SPDX-License-Identifier: MIT
 *
 * What is joined, and what comes of it: keys of one width, one set of them with itself or two with each other; pairs of
 * keys, by the numbers that keys have.  Then the engine of the general plan, which appends what it finds to lists,
 * one for each thread, in no order, each pair once.
 */
#ifndef PD_JOIN_KEYS_H
#define PD_JOIN_KEYS_H

#include "base/sort.h"
#include "join/plan.h"

struct pd_join_pair {
	uint32_t a, b;		/* indices of keys, a < b */
	uint16_t distance;
};

struct pd_join_pairs {
	struct pd_join_pair *v;
	size_t n;
	size_t mapped;		/* as in base/sort.h */
};

/* More pairs than `most` are not wanted: engines stop soon after so many were found. */
struct pd_join_limit {
	uint64_t most;
	uint64_t found;		/* at least; shared by all threads */
};

struct pd_join_keys {
	int bits;
	size_t n;		/* fewer than 2^32 */
	const uint64_t *v;	/* words; distinct: equal keys are collapsed before */
	const uint32_t *ids;	/* key i is v[ids[i] * words] … and is called ids[i], ascending; NULL: i */
	/* With another set, only pairs of one key of each; `against`, ascending too, may share keys with this set, by the same numbers. */
	const uint32_t *against;
	size_t n_against;
	struct pd_join_limit *limit;	/* NULL: none */
	const uint8_t *sides;	/* by number: bit 0: in this set, bit 1: in the other */
};

/* Two sets may share keys: a key is no pair with itself, and of the two ways in which keys that both share meet one
 * counts. */
static inline bool pd_join_counts(const struct pd_join_keys *keys, uint32_t x, uint32_t y)
{
	return !keys->against || (x != y && (x < y || keys->sides[x] != 3 || keys->sides[y] != 3));
}

static inline bool pd_join_is_over(const struct pd_join_keys *keys)
{
	return keys->limit && __atomic_load_n(&keys->limit->found, __ATOMIC_RELAXED) > keys->limit->most;
}

/* A thread found n more. */
static inline void pd_join_report(const struct pd_join_keys *keys, uint64_t n)
{
	if (keys->limit && n)
		__atomic_fetch_add(&keys->limit->found, n, __ATOMIC_RELAXED);
}

/* What an engine adds to its list: a in the high half of an item's key, b > a in the low half, the distance as value. */

/* Where buckets that many keys share are partitioned again by their other bits. */
struct pd_join_split {
	size_t over;			/* keys in a bucket; two buckets: the root of their product */
	enum pd_join_plan_kind kind;		/* AUTO: where it pays by estimate; BLOCKS: wherever it can be done */
};

#define PD_SPLIT_DEFAULT ((struct pd_join_split){ 4096, PD_PLAN_AUTO })

/* The general plan (blocks.c). */
void pd_join_blocks(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_join_split split,
		    struct pd_items *lists);

#endif
