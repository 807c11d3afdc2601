/* SPDX-License-Identifier: MIT
 *
 * The neighbours of a bucket: what its value is xored with to give all values within a radius.
 */
#ifndef PD_JOIN_MASKS_H
#define PD_JOIN_MASKS_H

#include "join/plan.h"

/* The radii of blocks of equal rank: plus one, they sum to k + 1, since two keys further apart than its radius in every
 * block differ in k + 1 bits. */
static inline void pd_join_radii(int k, int n_blocks, int *radius)
{
	for (int i = 0; i < n_blocks; i++)
		radius[i] = (k + 1) / n_blocks + (i < (k + 1) % n_blocks) - 1;
}

#define PD_MASKS_BITS_MAX 24
_Static_assert(PD_MASKS_BITS_MAX >= PD_BLOCK_BITS_MAX, "masks of all blocks");

/* Ring by ring: first the value 0, then all values of one bit, of two, …; in a ring ascending, so by the highest bit. */
struct pd_join_masks {
	int n_bits, radius;
	size_t ring[PD_MASKS_BITS_MAX + 2][PD_MASKS_BITS_MAX + 1];	/* ring[s][h]: where values of s bits, h the highest, begin */
	uint32_t *v;
	size_t n, cap;
};

void pd_join_masks_fill(struct pd_join_masks *m, int n_bits, int radius);
void pd_join_masks_release(struct pd_join_masks *m);

#endif
