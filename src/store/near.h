/* SPDX-License-Identifier: MIT
 *
 * Questions: keys in, the rows of a segment within k of each out, every row once.  Many questions are asked together, so
 * that the memory that one waits for is fetched while others are answered.
 *
 * A spread key is partitioned into blocks of equal width from bit 0 on, the rest is left over; a segment has a table for
 * each.  Each block has a radius, and the radii sum to k - blocks + 1 (join/plan.h: general pigeonhole); a question looks, in
 * the table of each block, at every bucket within its radius.  The blocks are chosen for the k of the store; a smaller k has
 * smaller radii, or needs fewer tables.
 */
#ifndef PD_STORE_NEAR_H
#define PD_STORE_NEAR_H

#include "join/masks.h"
#include "store/segment.h"

struct pd_store_partition {
	int n_blocks, n_bits;		/* one block of 0 bits: brute force */
};

/* The partition in which a question of n_keys keys costs least. */
struct pd_store_partition pd_store_partition_choose(int bits, int k, uint64_t n_keys);

/* The value of a block of a key. */
static inline uint32_t pd_store_partition_block(struct pd_store_partition p, const uint64_t *key, int block)
{
	return p.n_bits ? (uint32_t)pd_bits_get(key, block * p.n_bits, p.n_bits) : 0;
}

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
void pd_store_near_release(struct pd_store_near *near);

/* What other tables are asked by, too (recent.c).  What the value of a block is xored with to give all within a radius. */
const struct pd_join_masks *pd_store_near_masks(struct pd_store_near *near, int n_bits, int radius);
/* Each key of a with each of b, by what the processor has: near->hits anew. */
void pd_store_near_cross(struct pd_store_near *near, int bits, struct pd_join_run a, struct pd_join_run b, int k);
/* A row is a hit of a question, unless an earlier table found it; x: the bits in which their keys differ. */
void pd_store_near_add(struct pd_store_near *near, struct pd_store_near_hit hit);
bool pd_store_near_earlier(struct pd_store_partition partition, const int *radius, int table, const uint64_t *x);

#endif
