/* SPDX-License-Identifier: MIT
 *
 * The innermost loop: two runs of keys -> the positions of the pairs within k.  Keys are stored in columns, so that
 * adjacent keys are adjacent in memory.  The loop (scan_loops.def) is compiled for each instruction set, and the
 * fastest supported one is chosen at run time.  All find the same hits, in different orders.
 *
 * To add a path, write a section in scan.c that defines its vectors and includes scan_loops.def twice (32-bit and
 * 64-bit lanes), a row in the table at its end, and a row in the costs of plan.c.
 */
#ifndef PD_INDEX_SCAN_H
#define PD_INDEX_SCAN_H

#include "base/hash.h"

/* Number of readable elements required after the last key of each column. */
#define PD_SCAN_PAD 16

/* Buckets up to this size are copied next to each other and then compared (blocks.c). */
#define PD_GATHER_SMALL 64 /* larger buckets are compared in place */

/* Compared data: 32 bits of each key (gives candidates, which must be verified), or all of its words. */
enum pd_index_scan_width { PD_SCAN_HALF, PD_SCAN_64, PD_SCAN_128, PD_SCAN_256, PD_SCAN_WIDTHS };

/* Columns of keys: w[j] contains word j of every key. */
struct pd_index_columns {
	uint32_t *half;
	uint64_t *w[PD_KEY_WORDS];
};

/* The 32 bits that are compared as the half of a key, in a few pieces.  In a table of the join, bits of later blocks
 * are preferred to bits of earlier ones, because they may differ least. */
#define PD_WINDOW_PIECES 2 /* few enough to extract them without a loop */

struct pd_index_window {
	int n_pieces, bits;
	struct {
		int first, n;
	} piece[PD_WINDOW_PIECES];
	/* Two keys that this table must find differ in at most `spare` bits inside the window, minus their different bits in
	 * the block. */
	int spare;
};

struct pd_index_hit {
	uint32_t a, b;	   /* positions in the two columns */
	uint32_t distance; /* distance of the compared data */
};

struct pd_index_hits {
	struct pd_index_hit *v;
	size_t n, cap;
};

/* Keys from .. to - 1 of given columns. */
struct pd_index_run {
	const struct pd_index_columns *columns;
	size_t from, to;
};

/* A run in columns that are known from the context. */
struct pd_index_scan_run {
	uint32_t from, n;
};

struct pd_index_scan_loops {
	/* every key of a with every key of b */
	void (*cross)(struct pd_index_run a, struct pd_index_run b, int k, struct pd_index_hits *out);
	void (*self)(struct pd_index_run a, int k, struct pd_index_hits *out); /* every pair once */
	/* Copy runs and concatenate them; PAD elements after the last are written too. */
	void (*gather)(const struct pd_index_columns *from, const struct pd_index_scan_run *runs, size_t n,
		       const struct pd_index_columns *to);
};

enum pd_index_scan_path { PD_SCAN_PORTABLE, PD_SCAN_NEON, PD_SCAN_AVX2, PD_SCAN_AVX512, PD_SCAN_PATHS };

struct pd_index_scan {
	enum pd_index_scan_path path;
	const char *name;
	struct pd_index_scan_loops by[PD_SCAN_WIDTHS];
	/* Extract the halves of n keys from `from` on; up to PAD more are read and written. */
	void (*halves)(const struct pd_index_window *window, const struct pd_index_columns *keys, size_t from, size_t n,
		       uint32_t *out);
	/* Compute parities of n words; up to PAD more are read and written.  Each result has n_bits bits: bit i is the
	 * parity of the bits up to and including `first` + i * step. */
	void (*parities)(const uint64_t *words, size_t n, int first, int step, int n_bits, uint8_t *out);
};

/* Return NULL if the path was not compiled, or if this processor lacks the instructions. */
const struct pd_index_scan *pd_index_scan_get(enum pd_index_scan_path path);
/* Return the fastest path, or the one named by the environment variable PAGEDEDUP_SCAN (portable, avx2, …) if it runs
 * here. */
const struct pd_index_scan *pd_index_scan_best(void);

static inline enum pd_index_scan_width pd_index_scan_width_of(int bits)
{
	return bits == 64 ? PD_SCAN_64 : bits == 128 ? PD_SCAN_128 : PD_SCAN_256;
}

#endif
