/* SPDX-License-Identifier: MIT
 *
 * Fingerprints of the same pages made with several settings, and a truth -> hits and false pairs at every distance, for
 * each setting, with the verification of match (match/verify.h) or without.  Every two pages of the truth are
 * compared: time grows with their square.
 */
#ifndef PD_GROUP_SWEEP_H
#define PD_GROUP_SWEEP_H

#include "base/hash.h"
#include "group/score.h"
#include "match/verify.h"
#include "sign/sketch.h"

enum { PD_SWEEP_SETTINGS = 64, PD_SWEEP_K = 128 };

struct pd_sweep_setting {
	int bits;
	struct pd_key *key;		/* by page of the truth */
	bool *present;
	struct pd_counts at[PD_SWEEP_K + 1];	/* at[k]: with all pairs within k */
};

struct pd_sweep {
	const struct pd_truth *truth;
	int max_k, n_settings;
	struct pd_sweep_setting settings[PD_SWEEP_SETTINGS];
	bool *seen;			/* pages that were there */
	uint64_t (*digest)[2];		/* of the text; 0, 0: none.  Pages without a fingerprint pair by equal text */
	uint64_t *host;			/* a hash; 0: none */
	struct pd_sketch *sketch;
	struct pd_facts *facts;
	uint64_t n_seen;
	struct pd_sketch_options sketches;
	struct pd_verify_options verify;
};

void pd_sweep_init(struct pd_sweep *s, const struct pd_truth *t, int n_settings, int max_k);
void pd_sweep_release(struct pd_sweep *s);
void pd_sweep_count(struct pd_sweep *s, int threads);

#endif
