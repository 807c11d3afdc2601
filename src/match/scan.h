/* SPDX-License-Identifier: MIT
 *
 * The innermost loop: two runs of keys in, the places of those that are within k of each other out.  Keys lie in
 * columns, word by word, so that neighbouring keys are neighbours in memory.  The fastest way that this processor has is
 * chosen at run time; all give the same hits in their own order.
 */
#ifndef PD_MATCH_SCAN_H
#define PD_MATCH_SCAN_H

#include "base/hash.h"

/* Words that must be readable after the last key of each column. */
#define PD_SCAN_PAD 8

/* Column j holds word j of every key. */
struct pd_columns {
	uint64_t *w[PD_KEY_WORDS];
};

struct pd_hit {
	uint32_t a, b;		/* places in the two columns */
	uint32_t distance;
};

struct pd_hits {
	struct pd_hit *v;
	size_t n, cap;
};

/* Keys from .. to - 1 of some columns. */
struct pd_key_run {
	const struct pd_columns *columns;
	size_t from, to;
};

struct pd_scan {
	void (*cross)(struct pd_key_run a, struct pd_key_run b, int k, struct pd_hits *out);	/* each of a with each of b */
	void (*self)(struct pd_key_run a, int k, struct pd_hits *out);			/* each pair once */
	const char *name;
};

/* For keys of `bits` bits.  `plain`: the portable way, whatever the processor. */
const struct pd_scan *pd_scan_choose(int bits, bool plain);

#endif
