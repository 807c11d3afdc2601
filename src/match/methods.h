/* SPDX-License-Identifier: MIT
 *
 * Rows that were signed by several methods, or by another than the fingerprint -> pairs, each once, in order, with all methods that
 * found it.  Every method is joined by its kind (join/columns.h; fingerprints as match.h does, all pairs), exactly by its rule.
 *
 * Rows that are the same to every method, and of which each method that has a value for them says that they belong together, are
 * linked to the first of them, and only that one is joined: a thousand copies cost a thousand pairs.  With all_pairs, two
 * sides, or a scope other than all nothing is linked.
 */
#ifndef PD_MATCH_METHODS_H
#define PD_MATCH_METHODS_H

#include "join/columns.h"
#include "match/match.h"
#include "sign/values.h"

struct pd_match_methods_pair {
	uint32_t a, b;			/* rows, a < b */
	uint32_t found;			/* bit i: by method i of rows->methods */
	bool linked;			/* the two are the same to all of them */
	bool text;			/* found as equal texts, which have no distance */
	int distance;			/* of the fingerprints, where they found it; else -1 */
	double similarity;		/* by the first method that found it; negative: not known */
	int set;			/* the first of those methods that compares sets; -1: none */
	size_t shared, size_a, size_b;	/* of it: items in both, in each */
};

struct pd_match_methods_stats {
	uint64_t pairs, linked;
	uint64_t found[PD_METHODS_MAX];	/* pairs, by method */
	struct pd_join_columns_stats join[PD_METHODS_MAX];
	uint64_t bad;			/* values that could not be read: such rows are left out of that join */
	struct pd_match_stats fingerprints;
};

/* `pair` is called in order, by one thread; 0, or negative: stop. */
int pd_match_methods(const struct pd_rows *rows, const struct pd_match_options *o,
		     int (*pair)(void *ctx, const struct pd_match_methods_pair *p), void *ctx, struct pd_match_methods_stats *stats,
		     struct pd_err *e);

#endif
