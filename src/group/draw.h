/* SPDX-License-Identifier: MIT
 *
 * Pairs rows -> a sample, drawn by distance: each distance gets as many as the others, as far as it has them, since the
 * pairs that matter are those near the threshold and most pairs are far from it.  A pair's `weight` says for how many it
 * stands.  Which pairs are drawn depends on the seed and on the set of pairs, not on their order; they come out shuffled.
 */
#ifndef PD_GROUP_DRAW_H
#define PD_GROUP_DRAW_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

/* Strata: the same text; distance 0, 1, … */
enum { PD_DRAW_STRATA = PD_BITS_MAX + 2 };

struct pd_drawn {
	uint64_t order;		/* by the seed: those with the smallest are drawn */
	int stratum;		/* distance + 1 */
	double weight;
	char *text;		/* its own: id_a, id_b, url_a, url_b with tabs between, escaped */
};

struct pd_draw_stratum {
	struct pd_drawn *v;
	size_t n, cap;
	uint64_t seen;
};

struct pd_draw {
	size_t want;
	int max_k;
	uint64_t seed, seen, bad;
	struct pd_draw_stratum strata[PD_DRAW_STRATA];
	struct pd_drawn *drawn;		/* when closed */
	size_t n;
};

struct pd_draw_options {
	char **paths;
	int n_paths;
	size_t want;
	int max_k;
	uint64_t seed;
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

int pd_draw(struct pd_draw *d, const struct pd_draw_options *o, struct pd_err *e);
void pd_draw_release(struct pd_draw *d);

#endif
