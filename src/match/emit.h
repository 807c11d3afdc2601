/* SPDX-License-Identifier: MIT
 *
 * Groups that lie near each other -> pairs of rows, in order, formatted and written.
 */
#ifndef PD_MATCH_EMIT_H
#define PD_MATCH_EMIT_H

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

/* All that was found in one set of rows. */
struct pd_match_found {
	struct pd_match_set set;
	struct pd_match_near near;	/* groups by fingerprint */
	struct pd_match_bands bands;		/* candidates by sketch */
};

/* The pairs of both sets, in the order of rows; *pairs: how many. */
int pd_match_emit(const struct pd_match_found *prints, const struct pd_match_found *digests, const struct pd_match_sink *sink,
		  uint64_t *pairs);

#endif
