/* SPDX-License-Identifier: MIT
 *
 * Pairs rows -> a sample by distance: each distance gets as many as the others, as far as it has them, since the
 * pairs that matter are those near the threshold and most pairs are far from it.  A pair's `weight` says for how many it
 * stands.  Which pairs are chosen depends on the seed and on the set of pairs, not on their order; they come out shuffled.
 */
#ifndef PD_GROUP_SAMPLE_H
#define PD_GROUP_SAMPLE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

/* Strata: the same text; distance 0, 1, … */
enum { PD_SAMPLE_STRATA = PD_BITS_MAX + 2 };

struct pd_sampled_pair {
	uint64_t order;		/* by the seed: those with the smallest are chosen */
	int stratum;		/* distance + 1 */
	double weight;
	char *text;		/* its own: id_a, id_b, url_a, url_b with tabs between, escaped */
};

struct pd_sample_stratum {
	struct pd_sampled_pair *v;
	size_t n, cap;
	uint64_t seen;
};

struct pd_sample {
	size_t want;
	int max_k;
	uint64_t seed, seen, bad;
	struct pd_sample_stratum strata[PD_SAMPLE_STRATA];
	struct pd_sampled_pair *pairs;		/* when closed */
	size_t n;
};

struct pd_sample_options {
	char **paths;
	int n_paths;
	size_t want;
	int max_k;
	uint64_t seed;
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

int pd_sample(struct pd_sample *sample, const struct pd_sample_options *o, struct pd_err *e);
void pd_sample_release(struct pd_sample *sample);

#endif
