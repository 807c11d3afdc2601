/* SPDX-License-Identifier: MIT
 *
 * Questions: keys in, the rows of a segment within k of each out, every row once.  Many questions are asked together, so
 * that the memory that one waits for is fetched while others are answered.
 * The same is asked of what lies in memory.
 *
 * Each block of a key (segment.h) has a radius, and the radii sum to k - blocks + 1 (join/plan.h: general pigeonhole); a
 * question looks, in the table of each block, at every bucket within its radius.  The blocks were chosen for the k of the
 * store; a smaller k has smaller radii, or needs fewer tables.
 */
#ifndef PD_STORE_NEAR_H
#define PD_STORE_NEAR_H

#include "join/bits.h"
#include "store/recent.h"

struct pd_store_questions {
	size_t n;
	struct pd_join_columns keys;	/* spread; word j of question i is keys.w[j][i] */
	int bits, k;
};

struct pd_store_near_hit {
	uint32_t question, row, distance;
};

struct pd_store_near {
	/* out */
	struct pd_store_near_hit *v;
	size_t n, cap;
	/* scratch */
	struct pd_join_hits hits;
	struct pd_join_masks *masks[PD_STORE_BLOCK_BITS_MAX + 1][PD_STORE_BLOCK_BITS_MAX + 1];	/* by width and radius */
	const struct pd_join_scan *scan;
};

/* Hits are appended. */
int pd_store_near_segment(struct pd_store_near *near, struct pd_store_segment *s, const struct pd_store_questions *q,
			  struct pd_err *e);
void pd_store_near_recent(struct pd_store_near *near, const struct pd_store_recent *r,
			  const struct pd_store_questions *q);
void pd_store_near_release(struct pd_store_near *near);

#endif
