/* SPDX-License-Identifier: MIT
 *
 * Random numbers that are the same everywhere for the same seed: splitmix64 (S. Vigna, 2015; public domain algorithm).
 */
#ifndef PD_BASE_RANDOM_H
#define PD_BASE_RANDOM_H

#include <stdint.h>

struct pd_random {
	uint64_t state;		/* the seed */
};

static inline uint64_t pd_random_next(struct pd_random *r)
{
	uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* 0 … n - 1, each as likely as any other but for one part in 2^32. */
static inline uint32_t pd_random_below(struct pd_random *r, uint32_t n)
{
	return (uint32_t)((pd_random_next(r) >> 32) * n >> 32);
}

#endif
