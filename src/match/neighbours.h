/* SPDX-License-Identifier: MIT
 *
 * Pairs of groups that are near each other -> the groups near a group, from both ends.  Partners of a row are given out from
 * the smaller row, so the pairs as pd_join gives them, sorted by their smaller group, are all that most rows need; the
 * other way round only those pairs are kept whose smaller group may have a row behind one of the larger.
 */
#ifndef PD_MATCH_NEIGHBOURS_H
#define PD_MATCH_NEIGHBOURS_H

#include "base/items.h"
#include "join/join.h"

struct pd_neighbours {
	struct pd_join_pairs after;		/* (group, one behind it), in order */
	struct pd_join_pairs before;		/* (group, one before it), in order */
};

/* Which pairs are wanted from both ends? */
typedef bool pd_both_fn(const void *ctx, const struct pd_join_pair *p);

/* Takes over `pairs`. */
int pd_neighbours_init(struct pd_neighbours *n, struct pd_join_pairs *pairs, pd_both_fn *both, const void *ctx, int threads,
		       struct pd_budget *budget, struct pd_err *e);
void pd_neighbours_release(struct pd_neighbours *n);

/* Where the pairs whose first end is `group` or larger begin. */
size_t pd_pairs_from(const struct pd_join_pairs *pairs, uint32_t group);

#endif
