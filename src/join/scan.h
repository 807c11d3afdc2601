/* SPDX-License-Identifier: MIT
 *
 * The innermost loop: two runs of keys in, the places of those that are within k of each other out.  Keys lie in
 * columns, so that neighbouring keys are neighbours in memory.  The same loop (scan_loops.def) is compiled for each kind of
 * processor, and the fastest that this one has is chosen at run time; all give the same hits in their own order.
 *
 * Adding a path: a section of scan.c that defines its vectors and includes scan_loops.def twice (32-bit and 64-bit lanes), a
 * row in the table at its end, a row in the costs of plan.c.
 */
#ifndef PD_JOIN_SCAN_H
#define PD_JOIN_SCAN_H

#include "base/hash.h"

/* Elements that must be readable after the last key of each column. */
#define PD_SCAN_PAD 16

/* What a bucket is that is copied beside others before it is compared (blocks.c). */
#define PD_GATHER_SMALL 64	/* larger buckets are compared where they lie */

/* What is compared: 32 bits of each key (candidates, to be verified), or all of its words. */
enum pd_join_scan_width { PD_SCAN_HALF, PD_SCAN_64, PD_SCAN_128, PD_SCAN_256, PD_SCAN_WIDTHS };

/* Column j of w holds word j of every key. */
struct pd_join_columns {
	uint32_t *half;
	uint64_t *w[PD_KEY_WORDS];
};

/* The 32 bits of a key that are compared as its half, in a few pieces: of a table of the join bits of blocks that come later in the plan,
 * where least can differ, before those of earlier ones. */
#define PD_WINDOW_PIECES 2	/* so that taking them needs no loop */

struct pd_join_window {
	int n_pieces, bits;
	struct { int first, n; } piece[PD_WINDOW_PIECES];
	int spare;	/* two keys that this table is to find differ in at most `spare` bits inside the window, less those in which they
			 * differ in its block */
};

struct pd_join_hit {
	uint32_t a, b;		/* places in the two columns */
	uint32_t distance;	/* of what was compared */
};

struct pd_join_hits {
	struct pd_join_hit *v;
	size_t n, cap;
};

/* Keys from .. to - 1 of some columns. */
struct pd_join_run {
	const struct pd_join_columns *columns;
	size_t from, to;
};

/* The same of columns that are known. */
struct pd_join_scan_run {
	uint32_t from, n;
};

struct pd_join_scan_loops {
	void (*cross)(struct pd_join_run a, struct pd_join_run b, int k, struct pd_join_hits *out);	/* each of a with each of b */
	void (*self)(struct pd_join_run a, int k, struct pd_join_hits *out);			/* each pair once */
	/* Copies runs, end to end; PAD elements after the last are written too. */
	void (*gather)(const struct pd_join_columns *from, const struct pd_join_scan_run *runs, size_t n, const struct pd_join_columns *to);
};

enum pd_join_scan_path { PD_SCAN_PORTABLE, PD_SCAN_NEON, PD_SCAN_AVX2, PD_SCAN_AVX512, PD_SCAN_PATHS };

struct pd_join_scan {
	enum pd_join_scan_path path;
	const char *name;
	struct pd_join_scan_loops by[PD_SCAN_WIDTHS];
	/* The halves of n keys from `from` on; up to PAD more are read and written. */
	void (*halves)(const struct pd_join_window *window, const struct pd_join_columns *keys, size_t from, size_t n, uint32_t *out);
	/* Of n words, up to PAD more read and written, n_bits bits each: bit i says whether it has an odd number of ones in its bits up to
	 * `first` + i * step, that one included. */
	void (*parities)(const uint64_t *words, size_t n, int first, int step, int n_bits, uint8_t *out);
};

/* NULL: not built for this kind of processor, or this one lacks the instructions. */
const struct pd_join_scan *pd_join_scan_get(enum pd_join_scan_path path);
/* The fastest path, or the one that the environment's PAGEDEDUP_SCAN names (portable, avx2, …), when it runs here. */
const struct pd_join_scan *pd_join_scan_best(void);

static inline enum pd_join_scan_width pd_join_scan_width_of(int bits)
{
	return bits == 64 ? PD_SCAN_64 : bits == 128 ? PD_SCAN_128 : PD_SCAN_256;
}

#endif
