/* SPDX-License-Identifier: MIT
 *
 * The sketch: a page's main text in a few words, from which the Jaccard similarity of two pages is estimated.
 * Input: the terms of the main text, as for the fingerprint.  Output: for each of M bins the smallest hash of the
 * shingles (runs of w terms; a shorter text is one shingle) in it, b bits of it (row/sketch.h).
 *
 * One hash of each shingle serves all bins, so the cost is one hash per term (P. Li, A. Owen, C.-H. Zhang, "One
 * Permutation Hashing", NIPS 2012).  If there are few shingles, some bins stay empty.  They are filled by more rounds
 * with other hashes; an earlier round always wins, so that each bin is a fair sample for two texts of any length (S.
 * Dahlgaard, M. B. T. Knudsen, M. Thorup, "Fast Similarity Sketching", FOCS 2017).  b bits of a minimum: P. Li, A. C.
 * König, "b-Bit Minwise Hashing", WWW 2010.
 */
#ifndef PD_SIGN_SKETCH_H
#define PD_SIGN_SKETCH_H

#include "base/hash.h"
#include "base/map.h"
#include "row/sketch.h"
#include "topic/topic.h"

struct pd_sketcher {
	struct pd_sketch_options o;
	uint64_t *least;    /* by bin; UINT64_MAX: empty */
	int empty;	    /* bins */
	struct pd_map seen; /* hashes of shingles, if more rounds are needed */
	uint64_t *shingles;
	size_t n_shingles, cap_shingles;
	const struct pd_secret *secret; /* of sketches; NULL: anyone can compute them */
	uint64_t *hashes; /* hashes of the page's terms, for shingles; indexed by term, only set for terms of the main text */
	size_t cap_hashes;
};

/* Set s->secret afterwards, if there is one. */
void pd_sketcher_init(struct pd_sketcher *s, const struct pd_sketch_options *o);
void pd_sketcher_release(struct pd_sketcher *s);
int pd_sketch(struct pd_sketcher *s, const struct pd_topic *in, struct pd_sketch *out);

/* Appends all shingles that the sketch samples, as u64, in the order of the text and as often as they occur.  If no
 * sketch is made, they are the shingles of the default sketch.
 *
 * A shingle is the same polynomial over keyed hashes of the terms' bytes.  The author of a page does not know the secret, so
 * these hashes are random numbers to him, and the difference of two different shingles is a sum of such numbers, each
 * times a fixed number that is not 0.  Only the powers of 2 in these numbers can make it 0 more often than once in
 * 2^64: for any terms, two shingles of three terms are equal with a probability of at most 2^-61, and of 16 terms
 * 2^-41.  The mixing is a bijection. */
void pd_sketch_shingles(struct pd_sketcher *s, const struct pd_secret *secret, const struct pd_topic *in, struct pd_buf *out);

#endif
