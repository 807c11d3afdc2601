/* SPDX-License-Identifier: MIT
 *
 * Questions: keys in, the rows of a segment within k of each out, every row once.  Many questions are asked together, so
 * that the memory that one waits for is fetched while others are answered.
 */
#ifndef PD_STORE_NEAR_H
#define PD_STORE_NEAR_H

#include "store/segment.h"

struct pd_questions {
	size_t n;
	struct pd_join_columns keys;		/* spread; word j of question i is keys.w[j][i] */
	int bits, k;
};

struct pd_near_hit {
	uint32_t question, row, distance;
};

struct pd_near {
	/* out */
	struct pd_near_hit *v;
	size_t n, cap;
	/* scratch */
	struct pd_join_hits hits;
	struct {
		uint32_t *v;
		size_t n;
	} masks[PD_CUT_BITS_MAX + 1][PD_CUT_BITS_MAX + 1];	/* by width and radius */
	const struct pd_join_scan *scan;
};

/* Hits are appended. */
int pd_near_segment(struct pd_near *near, struct pd_segment *s, const struct pd_questions *q, struct pd_err *e);
/* Every word of n_bits bits with at most `radius` ones. */
const uint32_t *pd_near_masks(struct pd_near *near, int n_bits, int radius, size_t *n);
/* Each key of a with each of b, by what the processor has: near->hits anew. */
void pd_near_cross(struct pd_near *near, int bits, struct pd_join_run a, struct pd_join_run b, int k);
/* Has an earlier table found this pair?  x: the bits in which its keys differ, word by word. */
bool pd_near_earlier(struct pd_apply_rewrite cut, const int *radius, int table, const uint64_t *x);
void pd_near_release(struct pd_near *near);

#endif
