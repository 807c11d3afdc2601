/* SPDX-License-Identifier: MIT
 *
 * Rows -> pairs of rows, in the order (a, b), each once.  Distinct keys are joined (join/join.h); rows with equal keys are
 * linked to the one with the smallest id, and only that one is joined with others, unless all pairs are asked for.  Where
 * rows have sketches, every pair must be verified (verify.h), and rows with equal keys that are not are not linked
 * (links.h).
 *
 * From pd_match to the loop that compares keys:
 *
 *	pd_match		both sets of rows: those with fingerprints, those with a text digest alone
 *	pd_match_set_open	groups of equal keys, their parts, who is linked to whom (links.h)
 *	pd_match_near_find	groups near each other (near.h), of dense neighbourhoods round by round
 *	pd_join_within		keys in, pairs of keys out (join/join.h)
 *	pd_join_blocks		and on as join/blocks.c says
 *	pd_match_bands_find	candidates by sketches alone (bands.h)
 *	emit_pairs		pairs of groups become pairs of rows, in order (at the top of match.c)
 */
#ifndef PD_MATCH_MATCH_H
#define PD_MATCH_MATCH_H

#include "match/bands.h"
#include "match/near.h"

struct pd_match_pair {
	uint32_t a, b;		/* rows, a < b */
	int distance;		/* -1: both have no fingerprint and the same text */
	double similarity;	/* estimated by the sketches; of the same text 1; negative: unknown, or not asked for */
	bool linked;		/* in a dense neighbourhood: one stands for the other, which is compared with no more (near.h) */
};

/* Where pairs go.  `format` is called from all threads, each with a formatter of its own; what it adds to `out` is given to
 * `write` by one thread at a time, in the order of pairs. */
struct pd_match_sink {
	void **formatters;	/* one for each thread */
	void (*format)(void *formatter, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out);
	int (*write)(void *ctx, const struct pd_buf *out);	/* 0, or negative: stop */
	void *ctx;
};

/* The pair of a doubt (verify.h), as those that are no doubt are. */
struct pd_match_pair pd_match_doubted(const struct pd_rows *rows, const struct pd_doubt *doubt);

/* Within rows->budget, if there is one.  0, an error, or the negative value that `write` returned. */
int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e);

#endif
