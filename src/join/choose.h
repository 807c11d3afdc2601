/* SPDX-License-Identifier: MIT
 *
 * Which plan for this N, k and width: `auto` takes the cheaper of brute force and the best block plan by estimate.  The
 * estimate is in CPU seconds of one thread and assumes that bits are even and independent; a plan chosen by constants of
 * another machine is seldom the best there, but gives the same pairs.
 */
#ifndef PD_JOIN_CHOOSE_H
#define PD_JOIN_CHOOSE_H

#include "base/err.h"
#include "join/plan.h"

/* PD_ERR_USAGE: k over a quarter of the width, a width that is not 64, 128 or 256, or `paper` with k > 3. */
int pd_join_plan_choose(struct pd_join_plan *out, enum pd_join_plan_kind kind, int bits, int k, size_t n_keys, struct pd_err *e);
/* The same for n_keys with each of n_against others, unless that is 0. */
int pd_join_plan_choose_against(struct pd_join_plan *out, enum pd_join_plan_kind kind, int bits, int k, size_t n_keys, size_t n_against,
			   struct pd_err *e);
/* Every plan worth naming for a join, cheapest first: paper where it can be used, brute force, and the cheapest
 * partition for each number of blocks.  The first of those that are not paper is what AUTO takes. */
#define PD_PLANS_MAX (PD_PLAN_BLOCKS_MAX + 2)
int pd_join_plan_list(struct pd_join_plan out[PD_PLANS_MAX], int bits, int k, size_t n_keys, size_t n_against);
/* "blocks: 4 x 16 bits, radii 2 1 1 1, about .12 s"; a block that is left out has radius "-" */
void pd_join_plan_print(const struct pd_join_plan *p, struct pd_buf *out);
/* Lines: what was joined, every plan of pd_join_plan_list with the one that was chosen marked, what that took step by step. */
void pd_join_plan_explain(const struct pd_join_plan *chosen, struct pd_buf *out);
/* How likely are two random keys to be within k? */
double pd_join_chance(int bits, int k);
/* The k that suits N pages: the largest at which chance pairs stay rare, N/2 * P(two random keys are within k) <=
 * 1/1000, that is, one page in 1,000 with a chance neighbour after it; at most a fifth of the width.  Computed from the
 * tail of the binomial distribution (docs/accuracy.md). */
int pd_join_default_k(int bits, size_t n_keys);

/* A part of the work: keys of which only some bits are still open, because blocks were used up on the way here. */
struct pd_join_plan_part {
	struct pd_key usable;	/* bits that blocks may be made of */
	struct pd_key varying;	/* bits in which the keys differ at all */
	size_t n_a, n_b;	/* n_b = 0: the n_a keys with each other; else each of n_a with each of n_b */
};

/* The cheapest plan of `kind` (AUTO: BLOCKS or ALL; BLOCKS: ALL all the same when no block can be made) for a part.
 * out->bits, out->k and out->scan are set by the caller. */
void pd_join_plan_part(struct pd_join_plan *out, enum pd_join_plan_kind kind, const struct pd_join_plan_part *part);

#endif
