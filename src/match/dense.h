/* SPDX-License-Identifier: MIT
 *
 * Representatives in dense data: if thousands of pages match each other, the number of pairs is quadratic.  So the
 * clusters of dense items are found with few comparisons; then some items represent the others of their cluster.
 * Fingerprints (dense.c) and rows of full buckets (bands.c) are processed in these two steps:
 *
 * 1. Clusters.  Dense items are compared until each has a match; then clusters are compared with each other until no
 *    two of them match.  Only pairs that join two clusters are kept.
 * 2. Representatives (pd_match_represent).  A random item of a cluster represents all items that it matches, a random one
 *    of the others represents those that it matches, and so on.
 *
 * Every pair is verified.  The result depends only on the rows.
 */
#ifndef PD_MATCH_DENSE_H
#define PD_MATCH_DENSE_H

#include "index/join.h"
#include "match/groups.h"

#define PD_MATCH_NONE UINT32_MAX
#define PD_MATCH_LINKED 0x8000	 /* flag in a pair's distance: one of the two represents the other */
#define PD_MATCH_FAILED 0x4000	 /* flag in a pair's distance: the pair is not verified */
#define PD_MATCH_OPTIONAL 0x2000 /* flag in a pair's value: it is kept only if it joins two clusters, */
#define PD_MATCH_REQUIRED 0x1000 /* or if it has this flag too */
#define PD_MATCH_PASSES 8	 /* most representatives that an item is compared with */

/* Verify pairs of numbers on all threads, and flag the others as failed.  row: the row of a number in the set, or
 * PD_MATCH_NONE; pairs with such a number are verified later. */
void pd_match_verify(const struct pd_match_set *m, struct pd_index_pairs *pairs, uint32_t (*row)(const void *ctx, uint32_t number),
		     const void *ctx, struct pd_match_stats *stats);

/* Items and their clusters. */
struct pd_match_clusters {
	size_t n;
	uint32_t *set;		      /* union-find */
	const struct pd_items *order; /* the values: items in the order in which they become representatives */
	const uint8_t *role;	      /* by item; 0: it is not dense */
#define PD_MATCH_LEADS 1
#define PD_MATCH_FOLLOWS 2
	int threads;
	/* Return whether one item may represent another one and matches it; called from all threads. */
	bool (*matches)(void *ctx, uint32_t representative, uint32_t item, int thread);
	void *ctx;
	uint32_t *representative; /* result, by item: its representative, itself, or PD_MATCH_NONE; the caller frees it */
};

static inline bool pd_match_is_represented(const struct pd_match_clusters *c, uint32_t item)
{
	return c->representative[item] != PD_MATCH_NONE && c->representative[item] != item;
}

/* Choose representatives.  pairs: pairs of items, in order; optional ones are removed if links and earlier ones join the
 * same clusters. */
void pd_match_represent(struct pd_match_clusters *c, struct pd_items *pairs);
/* Merge duplicates of sorted pairs, and the flags in their values. */
void pd_match_merge(struct pd_items *pairs);

/* Find the pairs of fingerprints within k in a dense set.  found: pairs of groups by their names, in order.
 * sketch_only: by name, set to 1 if the group has many near groups and no representative.  unrepresented: by name, set
 * to 1 if it has no representative. */
int pd_match_dense(const struct pd_match_set *m, struct pd_match_stats *stats, struct pd_index_pairs *found, uint8_t *sketch_only,
		   uint8_t *unrepresented, struct pd_err *e);

#endif
