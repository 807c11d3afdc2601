/* SPDX-License-Identifier: MIT */
#include "join/bits.h"

#include <stdlib.h>

#include "base/alloc.h"

void pd_join_masks_fill(struct pd_join_masks *m, int n_bits, int radius)
{
	m->v = pd_grow(m->v, 0, &m->cap, sizeof *m->v);
	m->v[0] = 0;
	m->n = 1;
	m->n_bits = n_bits;
	m->radius = radius < n_bits ? radius : n_bits;
	for (int spent = 1; spent <= m->radius; spent++) {
		uint32_t x = (UINT32_C(1) << spent) - 1, low;
		for (int bit = 0; bit <= n_bits; bit++) {
			m->ring[spent][bit] = m->n;
			/* The next larger value of as many bits (H. S. Warren, "Hacker's Delight", 2-1). */
			for (; bit < n_bits && x < UINT32_C(2) << bit; x = (((x ^ (x + low)) >> 2) / low) | (x + low)) {
				m->v = pd_grow(m->v, m->n, &m->cap, sizeof *m->v);
				m->v[m->n++] = x;
				low = x & -x;
			}
		}
	}
}

void pd_join_masks_release(struct pd_join_masks *m)
{
	free(m->v);
	*m = (struct pd_join_masks){ 0 };
}
