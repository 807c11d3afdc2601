/* SPDX-License-Identifier: MIT
 *
 * Neighbours of queries: queries in, the keys of block tables within k of each out, every key once.  Many queries are
 * processed together, so that memory for one is prefetched while others are compared.
 *
 * Each block of a key has a radius, and the radii sum to k - blocks + 1 (join.h: general pigeonhole principle).  A query
 * reads, in the table of each block, every bucket within the radius.  The tables already exist, in memory or in a
 * mapped file; bytes of a file may be verified when they are read.
 */
#ifndef PD_INDEX_NEAR_H
#define PD_INDEX_NEAR_H

#include "base/err.h"
#include "index/plan.h"
#include "index/table.h"

#define PD_NEAR_BITS_MAX PD_MASKS_BITS_MAX /* of a block */

/* A mapped file with checksums of its blocks, which are verified at their first use. */
struct pd_index_file {
	const uint8_t *bytes;
	const uint8_t *seen; /* by block of 2^block_bits bytes: it was verified */
	int block_bits;
	/* Verify the blocks of n bytes from `at` on; report damage at an offset.  Both return PD_ERR_FORMAT. */
	int (*verify)(void *ctx, uint64_t at, uint64_t n, struct pd_err *e);
	int (*damaged)(void *ctx, uint64_t at, const char *what, struct pd_err *e);
	void *ctx;
};

/* Verify n bytes of a table; file NULL: they were verified.  It is nearly always one block that was verified before. */
static inline int pd_index_file_check(const struct pd_index_file *f, const void *bytes, size_t n, struct pd_err *e)
{
	if (!f || !n)
		return PD_OK;
	uint64_t at = (uint64_t)((const uint8_t *)bytes - f->bytes), first = at >> f->block_bits;
	return first == (at + n - 1) >> f->block_bits && f->seen[first] ? PD_OK : f->verify(f->ctx, at, n, e);
}

static inline int pd_index_file_damaged(const struct pd_index_file *f, const void *at, const char *what, struct pd_err *e)
{
	return f ? f->damaged(f->ctx, (uint64_t)((const uint8_t *)at - f->bytes), what, e) : PD_ERR_FORMAT;
}

/* The run of a bucket, *from .. *to - 1, of n entries. */
static inline int pd_index_file_run(const struct pd_index_file *f, const uint32_t *start, uint64_t n, const char *what,
				    uint32_t *from, uint32_t *to, struct pd_err *e)
{
	if (pd_index_file_check(f, start, 8, e))
		return PD_ERR_FORMAT;
	*from = start[0];
	*to = start[1];
	return *from <= *to && *to <= n ? PD_OK : pd_index_file_damaged(f, start, what, e);
}

/* The keys sorted by one block. */
struct pd_index_near_table {
	const uint32_t *start;		 /* by value of the block, and the end */
	struct pd_index_columns columns; /* all words of the keys; PD_SCAN_PAD more can be read */
	const uint32_t *number;		 /* position -> number of the key, below n_numbers */
	uint64_t n, n_numbers;
	uint32_t set;			  /* is returned with each hit */
	const struct pd_index_file *file; /* NULL: everything was verified */
};

struct pd_index_queries {
	size_t n;		      /* at most 2^24 */
	struct pd_index_columns keys; /* word j of query i is keys.w[j][i] */
	int bits, k;
};

struct pd_index_near_hit {
	uint32_t query, set, number, distance;
};

struct pd_index_near {
	/* out */
	struct pd_index_near_hit *v;
	size_t n, cap;
	/* in: `found` gets each hit, and ends the search by a status other than 0; NULL: hits are appended to v, and
	 * more than `most` hits (0: no limit) end the search with PD_ERR_LIMIT, without a message */
	size_t most;
	int (*found)(void *ctx, const struct pd_index_near_hit *hit);
	void *ctx;
	/* scratch */
	struct pd_index_hits hits;
	struct pd_index_masks *masks[PD_NEAR_BITS_MAX + 1][PD_NEAR_BITS_MAX + 1]; /* by width and radius */
	const struct pd_index_scan *scan;
	/* many queries: the queries that probe a bucket, and 32 bits of each; all queries sorted by their blocks,
	 * their keys, and 32 bits of each */
	uint32_t *starts, *searchers, *searcher_halves, *halves;
	uint64_t *ordered;
	uint64_t *queries; /* the value of its block, and, if there are classes, its class below; its number in the low half */
	size_t starts_cap, searchers_cap, searcher_halves_cap, halves_cap, ordered_cap, queries_cap;
};

/* Search the tables of a plan: tables[i * n_sets] … belong to block i.  A pair is emitted by the first block that
 * finds it.  Hits are in no order. */
int pd_index_near_plan(struct pd_index_near *near, const struct pd_index_plan *plan, const struct pd_index_near_table *tables,
		       size_t n_sets, const struct pd_index_queries *q, struct pd_err *e);
void pd_index_near_release(struct pd_index_near *near);

/* Blocks of equal width from bit 0 on; a remainder of the key is in no block.
 *
 * Let k + 1 = n_blocks * least + rest.  For two keys within k there are two cases.  (1) Some block differs in fewer than
 * `least` bits.  By the pigeonring principle (J. Qin, C. Xiao, "Pigeonring: A Principle for Faster Thresholded Similarity
 * Search", PVLDB 12 (1), 2018) there is such a block for which every window that starts at it (cyclic, of any length)
 * differs in at most its share of k.  (Proof: start at the block of fewer than `least` bits before which the prefix sum
 * of excesses over `least` is highest; from there on it never exceeds the sum of all blocks, which is at most rest -
 * 1.)  (2) All blocks differ in at least `least` bits.  Then one of the first `rest` blocks differs in exactly
 * `least`.
 *
 * Several tables may find a pair.  It is emitted by one: the last table that may find it by these rules.  Case (1)
 * also bounds the number of different bits in the blocks that follow the table's block and fit into 32 bits: this is
 * the prefilter. */
struct pd_index_even {
	int n_blocks, n_bits, least, rest;
	int after, most; /* blocks in the window after a table's own block; largest number of different bits in all of
			  * them */
};

struct pd_index_even pd_index_even_of(int n_blocks, int n_bits, int k);
/* Choose the blocks with the lowest cost of a query in n_keys keys; one block of 0 bits: brute force. */
struct pd_index_even pd_index_even_choose(int bits, int k, uint64_t n_keys);
/* Return the table that emits a pair within k, from the different bits of its keys. */
int pd_index_even_table(const struct pd_index_even *s, const uint64_t *x);
int pd_index_near_even(struct pd_index_near *near, const struct pd_index_even *even, const struct pd_index_near_table *tables,
		       size_t n_sets, const struct pd_index_queries *q, struct pd_err *e);

static inline uint32_t pd_index_even_block(const struct pd_index_even *s, const uint64_t *key, int block)
{
	return s->n_bits ? (uint32_t)pd_bits_get(key, block * s->n_bits, s->n_bits) : 0;
}

/* The parts of a search, for keys that are not in tables. */

const struct pd_index_masks *pd_index_near_masks(struct pd_index_near *near, int n_bits, int radius);
/* Compare two runs; the hits are in near->hits. */
void pd_index_near_compare(struct pd_index_near *near, enum pd_index_scan_width width, struct pd_index_run a, struct pd_index_run b,
			   int k);
int pd_index_near_emit(struct pd_index_near *near, struct pd_index_near_hit hit);

#endif
