/* SPDX-License-Identifier: MIT
 *
 * Rows -> pairs of rows, in the order (a, b), each once.  Distinct keys are joined (join.h); rows with equal keys are
 * linked to the one with the smallest id, and only that one is joined with others, unless all pairs are asked for.  Where
 * rows have sketches, every pair must stand a second look (verify.h), and rows with equal keys that do not are not linked
 * (parts.h).
 *
 * Scope (M26): `all`; `same-host` (linking happens inside a host); `other-hosts` (no pair inside a host, and nothing is
 * collapsed that would lose a pair between hosts).
 */
#ifndef PD_MATCH_MATCH_H
#define PD_MATCH_MATCH_H

#include "join/plan.h"
#include "match/verify.h"

/* Where pairs come from that are then looked at again: fingerprints within k, bands of the sketches (bands.h). */
enum pd_candidates { PD_CANDIDATES_HAMMING, PD_CANDIDATES_BANDS, PD_CANDIDATES_BOTH };

enum pd_scope { PD_SCOPE_ALL, PD_SCOPE_SAME_HOST, PD_SCOPE_OTHER_HOSTS };

struct pd_match_options {
	int k;			/* Hamming distance <= k */
	enum pd_join_plan_kind plan;
	struct pd_verify_options verify;
	enum pd_candidates candidates;
	int band_width;		/* minima in a band; 0: by the number of rows */
	enum pd_scope scope;
	bool all_pairs;
	int threads;
};

struct pd_match_stats {
	size_t distinct;	/* different fingerprints */
	uint64_t pairs;
	struct pd_join_plan plan;
	uint64_t candidates;	/* pairs of different fingerprints within k that were verified */
	uint64_t linked;	/* pages that another stands for in a dense neighbourhood of fingerprints (near.h) */
	int band_width;
	double join_seconds, bands_seconds, verify_seconds;	/* CPU, all threads */
};

struct pd_match_pair {
	uint32_t a, b;		/* rows, a < b */
	int distance;		/* -1: both have no fingerprint and the same text */
	double similarity;	/* estimated by the sketches; of the same text 1; negative: unknown, or not looked at */
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

/* Within rows->budget, if there is one.  0, an error, or the negative value that `write` returned. */
int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e);

#endif
