/* SPDX-License-Identifier: MIT
 *
 * The neighbours of a bucket: what its value is xored with to give all values within a radius.
 */
#ifndef PD_JOIN_MASKS_H
#define PD_JOIN_MASKS_H

#include "join/plan.h"

/* Ring by ring: first all values of one bit, then of two, …; in a ring by the highest bit. */
struct pd_masks {
	int n_bits, radius;
	size_t ring[PD_BLOCK_BITS_MAX + 2][PD_BLOCK_BITS_MAX + 1];	/* ring[s][h]: where values of s bits, h the highest, begin */
	uint32_t *v;
	size_t n, cap;
};

void pd_masks_fill(struct pd_masks *m, int n_bits, int radius);
void pd_masks_release(struct pd_masks *m);

#endif
