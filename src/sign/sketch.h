/* SPDX-License-Identifier: MIT
 *
 * The sketch: a page's main text in a few words, from which the Jaccard similarity of two pages is estimated.
 * Input: the terms of the main text, as for the fingerprint.  Output: for each of M bins the smallest hash of the
 * shingles (runs of w terms; a shorter text is one shingle) in it, b bits of it:
 *
 *	128x4x3 (the default): 128 minima of 4 bits, shingles of 3 terms: 512 bits
 *	minimum i: bits 4 (i % 16) ... 4 (i % 16) + 3 of w[i / 16]; printed with w[0] first, highest digit first
 *
 * One hash of each shingle serves all bins, so the cost is one hash per term (P. Li, A. Owen, C.-H. Zhang, "One
 * Permutation Hashing", NIPS 2012).  If there are few shingles, some bins stay empty.  They are filled by more rounds
 * with other hashes; an earlier round always wins, so that each bin is a fair sample for two texts of any length (S.
 * Dahlgaard, M. B. T. Knudsen, M. Thorup, "Fast Similarity Sketching", FOCS 2017).  b bits of a minimum: P. Li, A. C.
 * König, "b-Bit Minwise Hashing", WWW 2010.
 */
#ifndef PD_SIGN_SKETCH_H
#define PD_SIGN_SKETCH_H

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "topic/topic.h"

#define PD_SKETCH_BITS_MAX 512
#define PD_SKETCH_WORDS (PD_SKETCH_BITS_MAX / 64)

struct pd_sketch_options {
	int minima;  /* a power of two; 0: no sketch is made */
	int bits;    /* of each: 1, 2, 4, 8; minima * bits: 64, 128, 256, 512 */
	int shingle; /* terms in a shingle: 1 ... 16 */
};

#define PD_SKETCH_DEFAULT ((struct pd_sketch_options){ 128, 4, 3 })

/* Plain data of one size, which may be copied. The first minima * bits / 64 words are used, the others are 0. */
struct pd_sketch {
	bool present; /* false: no text, or no sketch was requested */
	uint64_t w[PD_SKETCH_WORDS];
};

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

static inline int pd_sketch_words(const struct pd_sketch_options *o)
{
	return o->minima * o->bits / 64;
}

/* Appends all shingles that the sketch samples, as u64, in the order of the text and as often as they occur.  If no
 * sketch is made, they are the shingles of the default sketch.
 *
 * A shingle is the same polynomial over keyed hashes of the terms' bytes.  The author of a page does not know the secret, so
 * these hashes are random numbers to him, and the difference of two different shingles is a sum of such numbers, each
 * times a fixed number that is not 0.  Only the powers of 2 in these numbers can make it 0 more often than once in
 * 2^64: for any terms, two shingles of three terms are equal with a probability of at most 2^-61, and of 16 terms
 * 2^-41.  The mixing is a bijection. */
void pd_sketch_shingles(struct pd_sketcher *s, const struct pd_secret *secret, const struct pd_topic *in, struct pd_buf *out);

/* The number of equal minima. */
int pd_sketch_agreeing(const struct pd_sketch_options *o, const uint64_t *a, const uint64_t *b);
/* The estimate for a number of equal minima: 0 ... 1; one in 2^bits is equal by chance. */
static inline double pd_sketch_estimate(const struct pd_sketch_options *o, int agreeing)
{
	double chance = 1. / (1 << o->bits), share = (double)agreeing / o->minima;
	return share > chance ? (share - chance) / (1 - chance) : 0;
}

/* Estimated Jaccard similarity of the two texts' sets of shingles; -1 if one has no sketch. */
double pd_sketch_similarity(const struct pd_sketch_options *o, const struct pd_sketch *a, const struct pd_sketch *b);

/* The words as hexadecimal digits; "-" if there is none.  parse: false if it is not "-" and not a sketch of this size. */
void pd_sketch_hex(const struct pd_sketch_options *o, const struct pd_sketch *s, struct pd_buf *out);
bool pd_sketch_parse(const struct pd_sketch_options *o, struct pd_span hex, struct pd_sketch *out);

/* "128x4x3", or "none": the name in headers and --sketch. PD_ERR_USAGE lists the possible values. */
void pd_sketch_print(const struct pd_sketch_options *o, struct pd_buf *out);
int pd_sketch_read(struct pd_sketch_options *o, struct pd_span name, struct pd_err *e);

#endif
