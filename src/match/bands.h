/* SPDX-License-Identifier: MIT
 *
 * Candidates from the sketches alone.  In: sketches.  Out: pairs that share a band, that is, r minima that follow each
 * other, and whose similarity may be enough (P. Indyk, R. Motwani, "Approximate Nearest Neighbors", STOC 1998; A. Z.
 * Broder et al., "Syntactic Clustering of the Web", WWW 1997).  Fingerprints have no part in it.
 *
 *	128 minima, r = 5:  [0 ... 4][5 ... 9] ... [120 ... 124], 25 bands, each found by sorting
 *
 * Two texts of similarity J share a band of r minima of b bits with the probability p^r, p = J + (1 - J) / 2^b, and one of
 * M / r bands with 1 - (1 - p^r)^(M/r).  A pair is looked at in the first band that it shares.  There a sketch is compared
 * with the PD_BANDS_WINDOW that follow it in the band's run of equal values, in the order of the input: what very many
 * sketches have in common costs in proportion to their number, and pairs further apart in such a run are not found.
 */
#ifndef PD_MATCH_BANDS_H
#define PD_MATCH_BANDS_H

#include "base/items.h"
#include "match/verify.h"

#define PD_BANDS_WINDOW 1024

struct pd_bands {
	struct pd_sketch_options sketch;
	int width;			/* r: minima in a band, at most 64 bits */
	size_t window;
	const uint64_t *v;		/* n sketches of pd_sketch_words */
	size_t n;
};

/* A band is at most 64 bits, and at most the sketch. */
int pd_bands_width_max(const struct pd_sketch_options *o);
/* The narrowest band at which a sketch is compared with few others by chance, n / 2 * (M / r) / 2^(r b) <= 128. */
int pd_bands_width(const struct pd_sketch_options *o, size_t n);
/* Items with a < b in the halves of the key, in order, each once; their value is how many minima agree. */
int pd_bands_join(const struct pd_bands *b, const struct pd_verify_options *verify, int threads, struct pd_budget *budget,
		  struct pd_items *out, struct pd_err *e);

#endif
