/* SPDX-License-Identifier: MIT
 *
 * Rows -> candidate pairs by their sketches.  Candidates share a band, that is, r consecutive minima; the distance of
 * their fingerprints is small enough that random pairs are rare; and their similarity may be sufficient (P. Indyk, R.
 * Motwani, "Approximate Nearest Neighbors", STOC 1998; A. Z. Broder et al., "Syntactic Clustering of the Web", WWW
 * 1997).
 *
 *	128 minima, r = 4:  [0 ... 3][4 ... 7] ... [124 ... 127], 32 bands
 *
 * Two texts of similarity J share a band of r minima of b bits with the probability p^r, p = J + (1 - J) / 2^b, and at
 * least one of M / r bands with 1 - (1 - p^r)^(M/r).  Narrow bands find more pairs, and more random ones: 2,400 per
 * page with ten million pages and r = 4.  So rows that share a band are first compared by the first 64 bits of their
 * fingerprints, which costs a fraction of a nanosecond (index/scan.h).  Only rows within `reach` bits, about six per
 * page by chance, are compared by their sketches.  Both numbers depend only on the number of pages; docs/accuracy.md
 * has the measured recall.
 *
 * Rows with equal bands form a bucket.  A bucket is full if it has more than PD_BANDS_BUCKET rows; or more than
 * PD_BANDS_PAIRS pairs within reach per row (plus twice the number expected by chance); or more pairs per row than its
 * share of PD_BANDS_COMPARED while few of them are similar.  A full bucket is divided further: rows that share the next
 * minimum too form a smaller bucket; finally each row is compared with its neighbours in the order of the following
 * minima.  If a full bucket consists of copies, each row is compared only with neighbours that are not in its cluster
 * yet, and then some rows represent the others of their cluster (dense.h).  So a property shared by very many sketches
 * costs time proportional to their number, and different sketches are still found.  If all pairs are requested, all are
 * compared.
 */
#ifndef PD_MATCH_BANDS_H
#define PD_MATCH_BANDS_H

#include "index/bands.h"
#include "match/groups.h"

#define PD_BANDS_BUCKET 4096
#define PD_BANDS_PAIRS 8
#define PD_BANDS_COMPARED \
	128 /* sketches that a page is compared with, over all bands, if nothing distinguishes it
				 * from others */

/* Limits for random pairs per page: comparisons of fingerprints, and of sketches. */
#define PD_BANDS_CHANCE_ROWS 4096
#define PD_BANDS_CHANCE 6

struct pd_match_bands {
	struct pd_items pairs; /* members a < b in the halves of the key, in order, each pair once; the caller
					 * releases them */
	int width;	       /* r; 0: nothing was searched */
	int reach;	       /* largest distance of fingerprints */
	uint64_t compared;     /* pairs of sketches that were compared */
	int most_distance;     /* largest distance of the fingerprints of a pair: k if only some rows were
					 * searched */
};

#define PD_BANDS_LINKED 1 /* a pair's value: one row represents the other (pd_match_pair.linked) */

/* Find candidates among rows with a sketch: the first row of each subgroup (groups.h); or every row if rows are not linked
 * or if two sides are matched.  only: by the name of a group of equal fingerprints, the groups to search; NULL: all. 
 * most: largest distance of fingerprints; -1: as much as chance allows, and any distance if sketches agree. */
int pd_match_bands_find(struct pd_match_bands *bands, const struct pd_match_set *m, const uint8_t *only, int most,
			struct pd_err *e);
/* Add the candidates from pairs.v[at] on that belong to the same first row, if they are in scope; return the index of
 * the next row's candidates. */
size_t pd_match_bands_add(const struct pd_match_bands *bands, size_t at, const struct pd_match_set *m,
			  struct pd_match_partners *out);

/* Return the number of minima in a band: the requested one; 0: chosen by the number of rows. */
int pd_match_bands_width(const struct pd_sketch_options *o, int requested, size_t n);
/* Return the largest distance of fingerprints, up to three eighths of 64, for which at most PD_BANDS_CHANCE random
 * pairs remain. */
int pd_match_bands_reach(const struct pd_sketch_options *o, int width, size_t n);
/* Return the least number of equal minima with which a pair may be verified, on one host or on two. */
int pd_match_bands_least(const struct pd_sketch_options *o, const struct pd_verify_options *verify);

#endif
