/* SPDX-License-Identifier: MIT
 *
 * Which tables a segment has.  A spread key is cut into blocks of equal width from bit 0 on, the rest is left over; each
 * block with a radius, the radii summing to k - blocks + 1 (join/join.h: general pigeonhole).  A question looks, in the
 * table of each block, at every bucket within its radius.  The blocks are chosen for the k of the store; a smaller k has
 * smaller radii, or needs fewer tables.
 */
#ifndef PD_STORE_CUT_H
#define PD_STORE_CUT_H

#include <stddef.h>
#include <stdint.h>

#include "store/layout.h"

#define PD_CUT_BITS_MAX 24	/* of a block */

struct pd_apply_rewrite {
	int n_blocks, n_bits;	/* one block of 0 bits: compare with all */
};

/* What a step of a question costs, in comparisons: see docs/performance.md. */
struct pd_apply_rewrite pd_cut_choose(int bits, int k, uint64_t n_keys, double *cost);
/* radius[i] of block i; -1: it is not needed. */
void pd_cut_radii(struct pd_apply_rewrite cut, int k, int *radius);
/* Every word of `n_bits` bits with at most `radius` ones, fewest first, appended to *masks, which the caller frees. */
size_t pd_cut_masks(int n_bits, int radius, uint32_t **masks);

#endif
