/* SPDX-License-Identifier: MIT
 *
 * How rows are matched, and what that came to.
 *
 * Scope (M26): `all`; `same-host` (linking happens inside a host); `other-hosts` (no pair inside a host, and nothing is
 * collapsed that would lose a pair between hosts).
 */
#ifndef PD_MATCH_OPTIONS_H
#define PD_MATCH_OPTIONS_H

#include "join/plan.h"
#include "match/verify.h"

/* Where pairs come from that are then verified: fingerprints within k, bands of the sketches (bands.h). */
enum pd_match_candidates { PD_CANDIDATES_HAMMING, PD_CANDIDATES_BANDS, PD_CANDIDATES_BOTH };

enum pd_match_scope { PD_SCOPE_ALL, PD_SCOPE_SAME_HOST, PD_SCOPE_OTHER_HOSTS };

struct pd_match_options {
	int k;			/* Hamming distance <= k */
	enum pd_join_plan_kind plan;
	struct pd_verify_options verify;
	enum pd_match_candidates candidates;
	int band_width;		/* minima in a band; 0: by the number of rows */
	enum pd_match_scope scope;
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

/* Names of scopes and of candidates, in the order of their enums, NULL at the end. */
extern const char *const pd_match_scope_names[], *const pd_match_candidates_names[];

#endif
