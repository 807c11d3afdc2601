/* SPDX-License-Identifier: MIT
 *
 * Rows -> pairs of rows, in the order (a, b), each once.  Distinct keys are joined (join/join.h); rows with equal keys are
 * linked to the one with the smallest id, and only that one is joined with others, unless all pairs are asked for.  Where
 * rows have sketches, every pair must be verified (verify.h), and rows with equal keys that are not are not linked
 * (groups.h).
 *
 * From pd_match to the loop that compares keys:
 *
 *	pd_match		both sets of rows: those with fingerprints, those with a text digest alone
 *	pd_match_set_open	groups of equal keys, their parts, who is linked to whom (groups.h)
 *	find_near		groups near each other, of dense neighbourhoods round by round
 *	pd_join_within		keys in, pairs of keys out (join/join.h)
 *	pd_join_blocks		and on as join/blocks.c says
 *	pd_match_bands_find	candidates by sketches alone (bands.h)
 *	emit_pairs		pairs of groups become pairs of rows, in order (at the top of match.c)
 */
#ifndef PD_MATCH_MATCH_H
#define PD_MATCH_MATCH_H

#include "join/columns.h"
#include "match/groups.h"
#include "sign/values.h"

struct pd_match_pair {
	uint32_t a, b;		/* rows, a < b */
	int distance;		/* -1: both have no fingerprint and the same text */
	double similarity;	/* estimated by the sketches; of the same text 1; negative: unknown, or not asked for */
	bool linked;		/* in a dense neighbourhood: one stands for the other, which is compared with no more */
};

/* Where pairs go.  `format` is called from all threads, each with a formatter of its own; what it adds to `out` is given to
 * `write` by one thread at a time, in the order of pairs. */
struct pd_match_sink {
	void **formatters;	/* one for each thread */
	void (*format)(void *formatter, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out);
	int (*write)(void *ctx, const struct pd_buf *out);	/* 0, or negative: stop */
	/* Before: rows->there has the rows that are in pairs; 0, or negative.  NULL: the texts of all rows are there. */
	int (*fetch)(void *ctx);
	void *ctx;
};

/* The pair of a doubt (verify.h), as those that are no doubt are. */
struct pd_match_pair pd_match_doubted(const struct pd_rows *rows, const struct pd_doubt *doubt);

/* How many pairs of fingerprints within k may be named one by one, among n that differ; beyond, some stand for others, or sketches
 * alone decide (pd_match_leaves_dense).  `rows` counts and describes all rows. */
uint64_t pd_match_near_most(const struct pd_match_options *o, const struct pd_rows *rows, double n);
/* Where there are more, are they left to their sketches? */
bool pd_match_leaves_dense(const struct pd_match_options *o, const struct pd_rows *rows);

/* Within rows->budget, if there is one.  0, an error, or the negative value that `write` returned. */
int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e);

/* --- several methods ---
 *
 * Rows that were signed by several methods, or by another than the fingerprint -> pairs, each once, in order, with all methods that
 * found it.  Every method is joined by its kind (join/columns.h; fingerprints as match.h does, all pairs), exactly by its rule.
 *
 * Rows that are the same to every method, and of which each method that has a value for them says that they belong together, are
 * linked to the first of them, and only that one is joined: a thousand copies cost a thousand pairs.  With all_pairs, two
 * sides, or a scope other than all nothing is linked. */

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
