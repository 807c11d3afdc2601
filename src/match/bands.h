/* SPDX-License-Identifier: MIT
 *
 * Rows -> candidate pairs by their sketches alone: pairs that share a band, that is, r minima that follow each other, and
 * whose similarity may be enough (P. Indyk, R. Motwani, "Approximate Nearest Neighbors", STOC 1998; A. Z. Broder et al.,
 * "Syntactic Clustering of the Web", WWW 1997).  Fingerprints have no part in it.
 *
 *	128 minima, r = 5:  [0 ... 4][5 ... 9] ... [120 ... 124], 25 bands, each found by sorting
 *
 * Two texts of similarity J share a band of r minima of b bits with the probability p^r, p = J + (1 - J) / 2^b, and one of
 * M / r bands with 1 - (1 - p^r)^(M/r).  Rows with one value of a band are compared with each other; where there are more
 * than PD_BANDS_RUN of them, each only with the first of those before it that were like none before them, up to
 * PD_BANDS_LEADERS, until it is like one: so what very many sketches have in common costs in proportion to their number.
 */
#ifndef PD_MATCH_BANDS_H
#define PD_MATCH_BANDS_H

#include "match/links.h"

#define PD_BANDS_RUN 256
#define PD_BANDS_LEADERS 64

struct pd_match_bands {
	struct pd_items pairs;		/* a < b in the halves of the key: members, in order, each pair once */
	int width;			/* r; 0: nothing was looked for */
	int most_distance;		/* of the fingerprints of a pair: k where only some took part */
};

#define PD_BANDS_LINKED 1		/* a pair's value: one row stands for the other (pd_match_pair.linked) */

/* Candidates of rows that have a sketch: of the first row of each part (links.h), or, where nothing is linked and where two
 * sides are matched, of every row.  only: by the name of a group of equal fingerprints, those that take part; NULL: all. */
int pd_match_bands_find(struct pd_match_bands *bands, const struct pd_match_set *m, const uint8_t *only, struct pd_err *e);
void pd_match_bands_release(struct pd_match_bands *bands);
/* Adds the candidates of pairs.v[at] and those behind it that belong to the same first row, as far as they are in scope;
 * returns where the next row's begin. */
size_t pd_match_bands_add(const struct pd_match_bands *bands, size_t at, const struct pd_match_set *m, struct pd_match_partners *out);

/* The narrowest band at which a sketch is compared with few others by chance, n / 2 * (M / r) / 2^(r b) <= 128. */
int pd_match_bands_width(const struct pd_sketch_options *o, size_t n);

#endif
