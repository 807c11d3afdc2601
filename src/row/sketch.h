/* SPDX-License-Identifier: MIT
 *
 * A sketch as a value: minima of hashes of a page's shingles, b bits of each (sign/sketch.h makes it).  Its text in rows,
 * the name of its kind in headers and on the command line, and the estimate of similarity from two of them.
 *
 *	128x4x3 (the default): 128 minima of 4 bits, shingles of 3 terms: 512 bits
 *	minimum i: bits 4 (i % 16) ... 4 (i % 16) + 3 of w[i / 16]; printed with w[0] first, highest digit first
 */
#ifndef PD_ROW_SKETCH_H
#define PD_ROW_SKETCH_H

#include "base/buf.h"
#include "base/err.h"

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

static inline int pd_sketch_words(const struct pd_sketch_options *o)
{
	return o->minima * o->bits / 64;
}

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
