/* SPDX-License-Identifier: MIT
 *
 * Rows -> candidate pairs by their sketches: pairs that share a band, that is, r minima that follow each other, whose
 * fingerprints are not farther apart than chance would have them too often, and whose similarity may be enough (P. Indyk,
 * R. Motwani, "Approximate Nearest Neighbors", STOC 1998; A. Z. Broder et al., "Syntactic Clustering of the Web", WWW 1997).
 *
 *	128 minima, r = 4:  [0 ... 3][4 ... 7] ... [124 ... 127], 32 bands
 *
 * Two texts of similarity J share a band of r minima of b bits with the probability p^r, p = J + (1 - J) / 2^b, and one of
 * M / r bands with 1 - (1 - p^r)^(M/r).  Narrow bands find more, and meet more by chance: 2,400 others a page at ten million
 * pages and r = 4.  So those that meet are first held against each other by the first 64 bits of their fingerprints, which
 * cost a fraction of a nanosecond (join/scan.h), and only those within `reach` bits, about six a page by chance, by their
 * sketches.  Both numbers follow from the number of pages alone; docs/accuracy.md has what is found.
 *
 * Rows that share a band are a bucket.  A bucket is full that has more than PD_BANDS_BUCKET rows or more than
 * PD_BANDS_PAIRS pairs within reach a row (and twice those of chance), or more of them than a row's share of PD_BANDS_LOOKS
 * while few are alike.  In one of copies each row is only held against the first of those before it that were like none
 * before them, up to PD_BANDS_LEADERS, until it is like one, and follows that one: it is covered, and leads in no other;
 * there it is held against other clusters alone, which it may join.  Rows that follow none, and those of other full buckets,
 * go on in narrower company: those that share the next minimum, too, are a bucket again, and at the end each row is held
 * against its neighbours in the order of the minima that follow.  So what very many sketches have in common costs in proportion
 * to their number, and those that differ still meet.  Where all pairs are asked for nothing is left out.
 */
#ifndef PD_MATCH_BANDS_H
#define PD_MATCH_BANDS_H

#include "match/groups.h"

#define PD_BANDS_BUCKET 4096
#define PD_BANDS_PAIRS 8
#define PD_BANDS_LEADERS 8
#define PD_BANDS_BUCKET_BITS 22	/* of a band's value, the first: rows that agree in them share a bucket */
#define PD_BANDS_LOOKS 128	/* in all bands together: sketches that a page is held against where nothing tells it from others */

/* What chance may cost a page: comparisons of fingerprints, and of sketches. */
#define PD_BANDS_MEETINGS 4096
#define PD_BANDS_CHANCE 6

struct pd_match_bands {
	struct pd_items pairs;		/* a < b in the halves of the key: members, in order, each pair once; the caller releases them */
	int width;			/* r; 0: nothing was searched */
	int reach;			/* bits in which fingerprints may differ */
	uint64_t compared;			/* pairs of sketches that were compared */
	int most_distance;		/* of the fingerprints of a pair: k where only some took part */
};

#define PD_BANDS_LINKED 1		/* a pair's value: one row stands for the other (pd_match_pair.linked) */

/* Candidates of rows that have a sketch: of the first row of each part (groups.h), or, where nothing is linked and where two
 * sides are matched, of every row.  only: by the name of a group of equal fingerprints, those that take part; NULL: all.
 * most: bits in which fingerprints may differ; -1: as many as chance allows, and any number where sketches agree. */
int pd_match_bands_find(struct pd_match_bands *bands, const struct pd_match_set *m, const uint8_t *only, int most, struct pd_err *e);
/* Adds the candidates of pairs.v[at] and those after it that belong to the same first row, as far as they are in scope;
 * returns where the next row's begin. */
size_t pd_match_bands_add(const struct pd_match_bands *bands, size_t at, const struct pd_match_set *m, struct pd_match_partners *out);

/* Minima in a band: as many as asked for, 0: by the number of rows. */
int pd_match_bands_width(const struct pd_sketch_options *o, int asked, size_t n);
/* The most bits, up to three eighths of 64, in which fingerprints may differ so that at most PD_BANDS_CHANCE of those are left. */
int pd_match_bands_reach(const struct pd_sketch_options *o, int width, size_t n);
/* The fewest minima that must agree where a pair may be verified, on one host or on two. */
int pd_match_bands_least(const struct pd_sketch_options *o, const struct pd_verify_options *verify);

#endif
