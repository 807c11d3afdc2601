/* SPDX-License-Identifier: MIT
 *
 * A plan: the blocks into which keys are divided, and the radius of each (join.h).  Also the rules that follow from a
 * plan for two keys found by a block.
 *
 * The kind `paper` (patent CN101645082, module 400) has four blocks, each exchanged with the first in turn, and finds
 * all pairs for k <= 3.  `blocks` is the general plan.  `all` compares all keys with each other, which is best for few
 * keys.
 *
 * `auto` takes the plan with the lowest estimate for this number of keys, k and width.  The estimate is in CPU seconds
 * of one thread and assumes that bits are uniform and independent.  Its constants were measured on one machine; on
 * another, the chosen plan may not be the fastest, but it gives the same pairs.
 */
#ifndef PD_INDEX_PLAN_H
#define PD_INDEX_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/threads.h"
#include "index/bits.h"
#include "index/scan.h"

#define PD_PLAN_BLOCKS_MAX 32
#define PD_BLOCK_BITS_MAX 22 /* number of bits of a block at most: four million buckets */

enum pd_index_plan_kind { PD_PLAN_AUTO, PD_PLAN_PAPER, PD_PLAN_BLOCKS, PD_PLAN_ALL };

/* CPU seconds of all threads. */
struct pd_index_plan_took {
	double tables;	  /* building tables; for joins partition by partition, dealing keys into partitions */
	double comparing; /* sorting these partitions, comparing keys, and verifying candidates */
	double pairs;	  /* sorting pairs */
	size_t stretches; /* number of pairs of stretches that were joined one by one to save memory; 0: all keys
				 * at once */
};

struct pd_index_plan {
	enum pd_index_plan_kind kind;	  /* AUTO is replaced by the chosen kind */
	const struct pd_index_scan *scan; /* functions that compare keys */
	int bits, k;
	int n_blocks;
	/* Block i consists of bits first_bit[i] … first_bit[i] + n_bits[i] - 1, numbered as in base/hash.h. */
	int first_bit[PD_PLAN_BLOCKS_MAX], n_bits[PD_PLAN_BLOCKS_MAX], radius[PD_PLAN_BLOCKS_MAX];
	bool halves[PD_PLAN_BLOCKS_MAX]; /* at the first level: the table stores halves (struct
						 * pd_index_window) */
	double cost;			 /* estimated CPU seconds of one thread */
	size_t n_a, n_b;		 /* numbers of keys for which it was chosen; n_b: keys of the other set, 0: there is
				 * none */
	struct pd_index_plan_took took;	 /* measured times, once it was executed */
};

/* Add the time since *t to a step, and set *t to the current time. */
static inline void pd_index_plan_clock(double *step, double *t)
{
	double now = pd_cpu_seconds();
	*step += now - *t;
	*t = now;
}

extern const char *const pd_index_plan_names[]; /* names of the kinds, in their order, terminated by NULL */

/* Choose the window for the table of block i; it never contains bits of block i. */
void pd_index_window_choose(struct pd_index_window *w, const struct pd_index_plan *p, int i);

static inline uint32_t pd_index_window_get(const struct pd_index_window *w, const uint64_t *key)
{
	uint64_t v = w->piece[0].n ? pd_bits_get(key, w->piece[0].first, w->piece[0].n) : 0;
	return (uint32_t)(w->piece[1].n ? v << w->piece[1].n | pd_bits_get(key, w->piece[1].first, w->piece[1].n) : v);
}

/* The current block and the blocks of the outer levels: the conditions for counting a pair that this block finds. */
struct pd_index_frame {
	const struct pd_index_frame *up;
	const struct pd_index_plan *plan;
	int block;
	int left;		       /* distance that remains of plan->k, since the pair differs by more than the radius in
				 * each earlier block */
	struct pd_key open;	       /* bits of the plan's other blocks */
	struct pd_key later;	       /* of these, the bits of later blocks */
	struct pd_index_window window; /* at the first level: the bits in tables of halves */
};

/* `usable`: the bits from which the plan made its blocks. */
void pd_index_frame_open(struct pd_index_frame *f, const struct pd_index_frame *up, const struct pd_index_plan *plan, int block,
			 const struct pd_key *usable);

/* Return how many of the `later` bits may differ if `spent` bits of the block do; negative: no pair counts here. */
static inline int pd_index_frame_left(const struct pd_index_frame *f, int spent)
{
	return f->left - spent;
}

/* --- choosing --- */

/* Choose a plan to join n_keys with each other, or with n_against other keys if that is not 0.  PD_ERR_USAGE: k is over
 * a quarter of the width, the width is not 64, 128 or 256, or `paper` with k > 3. */
int pd_index_plan_choose(struct pd_index_plan *out, enum pd_index_plan_kind kind, int bits, int k, size_t n_keys, size_t n_against,
			 struct pd_err *e);
/* List the possible plans of a join, cheapest first: paper if it can be used, brute force, and the cheapest partition
 * for each number of blocks.  AUTO uses the first that is not paper. */
#define PD_PLANS_MAX (PD_PLAN_BLOCKS_MAX + 2)
int pd_index_plan_list(struct pd_index_plan out[PD_PLANS_MAX], int bits, int k, size_t n_keys, size_t n_against);
/* Print a plan: "blocks: 4 x 16 bits, radii 2 1 1 1, about .12 s"; an unused block has radius "-". */
void pd_index_plan_print(const struct pd_index_plan *p, struct pd_buf *out);
/* Print lines about a join: its keys, every plan of pd_index_plan_list with the chosen one marked, and the measured time
 * of each step. */
void pd_index_plan_explain(const struct pd_index_plan *chosen, struct pd_buf *out);
/* Return the probability that two random keys are within k. */
double pd_index_chance(int bits, int k);
/* Return the k for N pages: the largest for which random pairs are rare, N/2 * P(two random keys are within k) <=
 * 1/1000, that is, one page of 1,000 has a random later neighbour; at most a fifth of the width.  It is computed from
 * the tail of the binomial distribution (docs/accuracy.md). */
int pd_index_default_k(int bits, size_t n_keys);

/* A join of some keys: keys with only some usable bits left, because the outer levels used the others. */
struct pd_index_subjoin {
	struct pd_key usable;  /* bits from which blocks may be made */
	struct pd_key varying; /* bits that differ between keys */
	size_t n_a, n_b;       /* n_b = 0: the n_a keys are joined with each other; otherwise with the n_b others */
};

/* Choose the cheapest plan of `kind` for a subjoin.  AUTO: BLOCKS or ALL; BLOCKS: ALL only if no block can be made. 
 * out->bits, out->k and out->scan must be set. */
void pd_index_plan_subjoin(struct pd_index_plan *out, enum pd_index_plan_kind kind, const struct pd_index_subjoin *subjoin);

#endif
