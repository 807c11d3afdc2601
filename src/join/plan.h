/* SPDX-License-Identifier: MIT
 *
 * A plan: the blocks that keys are partitioned into, and the radius of each (join.h); and what follows from it for two keys
 * that meet in a block.
 *
 * Of the kinds, `paper` (patent CN101645082, module 400) has four blocks, each exchanged with the first in turn, and finds
 * all pairs for k <= 3; `blocks` is the general plan; `all` is brute force, best for few keys.
 *
 * Which plan for this N, k and width: `auto` takes the cheaper of brute force and the best block plan by estimate.  The
 * estimate is in CPU seconds of one thread and assumes that bits are even and independent; a plan chosen by constants of
 * another machine is seldom the best there, but gives the same pairs.
 */
#ifndef PD_JOIN_PLAN_H
#define PD_JOIN_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/threads.h"
#include "join/bits.h"
#include "join/scan.h"

#define PD_PLAN_BLOCKS_MAX 32
#define PD_BLOCK_BITS_MAX 22	/* a block's buckets: at most four million */

enum pd_join_plan_kind { PD_PLAN_AUTO, PD_PLAN_PAPER, PD_PLAN_BLOCKS, PD_PLAN_ALL };

/* CPU seconds of all threads. */
struct pd_join_plan_took {
	double tables;		/* built; of those that are met part by part, dealt into parts */
	double meetings;	/* such parts sorted, keys compared, and near ones verified */
	double pairs;		/* brought in order */
	size_t stretches;	/* pairs of stretches that were joined one by one for want of memory; 0: all at once */
};

struct pd_join_plan {
	enum pd_join_plan_kind kind;	/* never AUTO once chosen */
	const struct pd_join_scan *scan;	/* how keys are compared */
	int bits, k;
	int n_blocks;
	/* Block i: bits first_bit[i] … first_bit[i] + n_bits[i] - 1 in the numbering of base/hash.h. */
	int first_bit[PD_PLAN_BLOCKS_MAX], n_bits[PD_PLAN_BLOCKS_MAX], radius[PD_PLAN_BLOCKS_MAX];
	bool halves[PD_PLAN_BLOCKS_MAX];	/* at the first level: the table keeps halves (struct pd_join_window) */
	double cost;		/* estimated CPU seconds of one thread */
	size_t n_a, n_b;	/* the keys that it was chosen for; n_b: those of the other set, 0: none */
	struct pd_join_plan_took took;	/* once it has run */
};

/* What passed since *t goes to a step; *t is now. */
static inline void pd_join_plan_clock(double *step, double *t)
{
	double now = pd_cpu_seconds();
	*step += now - *t;
	*t = now;
}

extern const char *const pd_join_plan_names[];	/* of the kinds, in their order, NULL at the end */

/* For the table of block i; never bits of block i itself. */
void pd_join_window_choose(struct pd_join_window *w, const struct pd_join_plan *p, int i);

static inline uint32_t pd_join_window_get(const struct pd_join_window *w, const uint64_t *key)
{
	uint64_t v = w->piece[0].n ? pd_bits_get(key, w->piece[0].first, w->piece[0].n) : 0;
	return (uint32_t)(w->piece[1].n ? v << w->piece[1].n | pd_bits_get(key, w->piece[1].first, w->piece[1].n) : v);
}

/* A block at work, and those above it that led here: what a pair that meets here must still obey to count here. */
struct pd_join_frame {
	const struct pd_join_frame *up;
	const struct pd_join_plan *plan;
	int block;
	int left;		/* of plan->k once the earlier blocks took what they must: each more than its radius */
	struct pd_key open;	/* bits that the plan made its blocks of, but this block's */
	struct pd_key later;	/* of these those of no earlier block */
	struct pd_join_window window;	/* at the first level: what tables of halves keep */
};

/* `usable`: the bits that the plan made its blocks of. */
void pd_join_frame_open(struct pd_join_frame *f, const struct pd_join_frame *up, const struct pd_join_plan *plan, int block,
			const struct pd_key *usable);

/* How many of the `later` bits may differ when `spent` bits of the block do; negative: no pair counts here. */
static inline int pd_join_frame_left(const struct pd_join_frame *f, int spent)
{
	return f->left - spent;
}

/* --- choosing --- */

/* For n_keys with each other, or with each of n_against others, unless that is 0.  PD_ERR_USAGE: k over a quarter of the width,
 * a width that is not 64, 128 or 256, or `paper` with k > 3. */
int pd_join_plan_choose(struct pd_join_plan *out, enum pd_join_plan_kind kind, int bits, int k, size_t n_keys, size_t n_against,
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
