/* SPDX-License-Identifier: MIT
 *
 * A minimal perfect hash: n different keys to the numbers 0 … n - 1, in the order in which the keys were given.  cmph's
 * CHM: Z. Czech, G. Havas, B. Majewski, "An optimal algorithm for generating minimal perfect hash functions",
 * Information Processing Letters 43, 1992.
 *
 * It answers for other keys too: the caller compares.
 */
#ifndef PD_TERM_PERFECT_H
#define PD_TERM_PERFECT_H

#include "base/buf.h"
#include "base/err.h"

#define PD_PERFECT_NONE UINT32_MAX

struct pd_perfect {
	const void *packed;
	uint32_t n;
};

/* Appends the function as bytes to `out`, the same bytes for the same keys.  Seeds the C library's rand(), for cmph
 * takes its numbers from there: not for a program with threads that use it. */
int pd_perfect_build(const struct pd_span *keys, size_t n, struct pd_buf *out, struct pd_err *e);
/* `bytes`, aligned to 4, stay where they are.  PD_ERR_DICT unless they have the form that cmph, which checks nothing,
 * reads for n keys. */
int pd_perfect_open(struct pd_perfect *f, struct pd_span bytes, size_t n, struct pd_err *e);
/* A number below n, or PD_PERFECT_NONE. */
uint32_t pd_perfect_find(const struct pd_perfect *f, struct pd_span key);

#endif
