/* SPDX-License-Identifier: MIT
 *
 * Keys of one width -> every pair within Hamming distance k, each once.  Exact for every k up to a quarter of the width:
 * the same pairs as comparing all with all, whatever the plan, the order of the keys and the number of threads.
 *
 * General pigeonhole (G. S. Manku et al., WWW 2007, for radius 0; J. Qin et al., "GPH: Similarity Search in Hamming
 * Space", ICDE 2018): partition the key into m blocks, give each a radius r_i, with the radii summing to k - m + 1; two keys
 * within k are within r_i in some block.  A radius of -1 leaves a block out.  A pair belongs to the first block that
 * catches it.
 */
#ifndef PD_JOIN_JOIN_H
#define PD_JOIN_JOIN_H

#include "join/keys.h"

/* All pairs, sorted by (a, b).  What the steps took is added to the plan.  With keys->limit: whether there are more pairs than
 * that depends on the keys alone; if so, keys->limit->found says it and there are no pairs in `out`. */
int pd_join(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_join_pairs *out, struct pd_err *e);
/* The same within what is left of a budget: keys whose tables would not fit are joined stretch by stretch, each with itself
 * and with each of the others, by the plan of the same kind that suits a stretch, and pairs that do not fit are sorted on
 * disk. */
int pd_join_within(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_budget *budget,
		   struct pd_join_pairs *out, struct pd_err *e);
/* Items in order become pairs: key halves a, b, value distance.  Their memory is taken over. */
void pd_join_pairs_take(struct pd_join_pairs *out, struct pd_items *items);
void pd_join_pairs_release(struct pd_join_pairs *p);

#endif
