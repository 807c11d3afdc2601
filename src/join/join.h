/* SPDX-License-Identifier: MIT
 *
 * Keys of one width -> every pair within Hamming distance k, each once.  Exact for every k up to a quarter of the width:
 * the same pairs as comparing all with all, whatever the plan, the order of the keys and the number of threads.
 *
 * General pigeonhole (G. S. Manku et al., WWW 2007, for radius 0; J. Qin et al., "GPH: Similarity Search in Hamming
 * Space", ICDE 2018): cut the key in m blocks, give each a radius r_i, with the radii summing to k - m + 1; two keys
 * within k are within r_i in some block.  A radius of -1 leaves a block out.  A pair belongs to the first block that
 * catches it.
 */
#ifndef PD_JOIN_JOIN_H
#define PD_JOIN_JOIN_H

#include "base/err.h"
#include "base/hash.h"
#include "join/plan.h"

struct pd_pair {
	uint32_t a, b;		/* indices of keys, a < b */
	uint16_t distance;
};

struct pd_pairs {
	struct pd_pair *v;
	size_t n;
	size_t mapped;		/* as in items.h */
};

struct pd_keys {
	int bits;
	size_t n;		/* fewer than 2^32 */
	const uint64_t *v;	/* words; distinct (equal keys are collapsed before: distinct.h) */
	const uint32_t *ids;	/* key i is v[ids[i] * words] … and is called ids[i], ascending; NULL: i */
	/* With another set, only pairs of one key of each; `against` may share keys with this set, by the same numbers. */
	const uint32_t *against;
	size_t n_against;
	const uint8_t *sides;	/* by number: PD_SIDE_…, of which this set is A and the other B */
};

/* Two sets may share keys: a key is no pair with itself, and of the two ways in which keys that both share meet one
 * counts. */
static inline bool pd_keys_pair(const struct pd_keys *keys, uint32_t x, uint32_t y)
{
	return !keys->against || (x != y && (x < y || keys->sides[x] != 3 || keys->sides[y] != 3));
}

/* All pairs, sorted by (a, b).  What the steps took is added to the plan. */
int pd_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_pairs *out, struct pd_err *e);
/* The same within what is left of a budget: keys whose tables would not fit are joined stretch by stretch, each with itself
 * and with each of the others, by the plan of the same kind that suits a stretch, and pairs that do not fit are sorted on
 * disk. */
struct pd_budget;
int pd_join_within(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_budget *budget,
		   struct pd_pairs *out, struct pd_err *e);
/* Items in order become pairs: key halves a, b, value distance.  Their memory is taken over. */
struct pd_items;
void pd_pairs_take(struct pd_pairs *out, struct pd_items *items);
void pd_pairs_release(struct pd_pairs *p);

#endif
