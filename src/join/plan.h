/* SPDX-License-Identifier: MIT
 *
 * Which tables for this N, k and width.  `paper` (M7): four blocks, each exchanged with the first in turn, four tables
 * sorted by the first block, binary search; finds all pairs for k <= 3.  `blocks`: the general plan (join.h).  `all`:
 * compare all with all, best for few keys.  `auto` takes the cheaper of `all` and the best block plan by estimate.
 */
#ifndef PD_JOIN_PLAN_H
#define PD_JOIN_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/threads.h"
#include "join/scan.h"

#define PD_PLAN_BLOCKS_MAX 32
#define PD_BLOCK_BITS_MAX 22	/* a block's buckets: at most four million */

enum pd_plan_kind { PD_PLAN_AUTO, PD_PLAN_PAPER, PD_PLAN_BLOCKS, PD_PLAN_ALL };

/* CPU seconds of all threads. */
struct pd_plan_took {
	double tables;		/* built */
	double meetings;	/* keys compared, and near ones looked at whole */
	double pairs;		/* brought in order */
};

struct pd_plan {
	enum pd_plan_kind kind;	/* never AUTO once chosen */
	const struct pd_scan *scan;	/* how keys are compared */
	int bits, k;
	int n_blocks;
	/* Block i: bits first_bit[i] … first_bit[i] + n_bits[i] - 1 in the numbering of base/hash.h. */
	int first_bit[PD_PLAN_BLOCKS_MAX], n_bits[PD_PLAN_BLOCKS_MAX], radius[PD_PLAN_BLOCKS_MAX];
	bool halves[PD_PLAN_BLOCKS_MAX];	/* at the first level: the table keeps halves (window.h) */
	double cost;		/* estimated CPU seconds of one thread */
	size_t n_a, n_b;	/* the keys that it was chosen for; n_b: those of the other set, 0: none */
	struct pd_plan_took took;	/* once it has run */
};

/* What passed since *t goes to a step; *t is now. */
static inline void pd_plan_clock(double *step, double *t)
{
	double now = pd_cpu_seconds();
	*step += now - *t;
	*t = now;
}

/* PD_ERR_USAGE: k over a quarter of the width, a width that is not 64, 128 or 256, or `paper` with k > 3. */
int pd_plan_choose(struct pd_plan *out, enum pd_plan_kind kind, int bits, int k, size_t n_keys, struct pd_err *e);
/* The same for n_keys with each of n_against others, unless that is 0. */
int pd_plan_choose_against(struct pd_plan *out, enum pd_plan_kind kind, int bits, int k, size_t n_keys, size_t n_against,
			   struct pd_err *e);
/* Every plan worth naming for a join, cheapest first: paper where it can be used, all with all, and the cheapest way of
 * cutting for each number of blocks.  The first of those that are not paper is what AUTO takes. */
#define PD_PLANS_MAX (PD_PLAN_BLOCKS_MAX + 2)
int pd_plan_list(struct pd_plan out[PD_PLANS_MAX], int bits, int k, size_t n_keys, size_t n_against);
/* "blocks: 4 x 16 bits, radii 2 1 1 1, about .12 s"; a block that is left out has radius "-" */
void pd_plan_print(const struct pd_plan *p, struct pd_buf *out);
/* Lines: what was joined, every plan of pd_plan_list with the one that was chosen marked, what that took step by step. */
void pd_plan_explain(const struct pd_plan *chosen, struct pd_buf *out);
/* The k that suits N pages: the largest at which chance pairs stay rare, N/2 * P(two random keys are within k) <=
 * 1/1000, that is, one page in 1,000 with a chance neighbour after it; at most a fifth of the width.  Computed from the
 * tail of the binomial distribution (docs/accuracy.md). */
int pd_default_k(int bits, size_t n_keys);

/* A part of the work: keys of which only some bits are still open, because blocks were used up on the way here. */
struct pd_plan_part {
	struct pd_key usable;	/* bits that blocks may be cut from */
	struct pd_key varying;	/* bits in which the keys differ at all */
	size_t n_a, n_b;	/* n_b = 0: the n_a keys with each other; else each of n_a with each of n_b */
};

/* The cheapest plan of `kind` (AUTO: BLOCKS or ALL; BLOCKS: ALL all the same when no block can be cut) for a part.
 * out->bits, out->k and out->scan are set by the caller. */
void pd_plan_part(struct pd_plan *out, enum pd_plan_kind kind, const struct pd_plan_part *part);

#endif
