/* SPDX-License-Identifier: MIT
 *
 * Random keys to measure matching; some are planted near an earlier key.  The same arguments give the same keys on every
 * machine.  The header contains the code, for programs of one file.
 */
#ifndef PD_BENCH_KEYGEN_H
#define PD_BENCH_KEYGEN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZIPF_VALUES 65536

struct keygen {
	uint64_t n, state;
	int bits, planted, max_distance;
	double *zipf; /* cumulative, NULL: even bits */
	uint64_t *v;
};

/* splitmix64 (S. Vigna, public domain algorithm) */
static uint64_t next_random(struct keygen *k)
{
	uint64_t z = k->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t below(struct keygen *k, uint64_t n)
{
	return next_random(k) % n;
}

static void fill_zipf(struct keygen *k)
{
	double sum = 0;
	k->zipf = malloc(ZIPF_VALUES * sizeof *k->zipf);
	for (int i = 0; k->zipf && i < ZIPF_VALUES; i++)
		k->zipf[i] = sum += 1.0 / (i + 1);
}

static uint64_t zipf_value(struct keygen *k)
{
	double u = ldexp((double)(next_random(k) >> 11), -53) * k->zipf[ZIPF_VALUES - 1];
	uint64_t low = 0, high = ZIPF_VALUES - 1;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (k->zipf[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low * UINT64_C(40503) & 0xffff; /* frequent values are spread over the range */
}

static void make_key(struct keygen *k, uint64_t i)
{
	int words = k->bits / 64;
	uint64_t *key = k->v + i * words;
	if (i > 0 && below(k, 100) < (uint64_t)k->planted) {
		memcpy(key, k->v + below(k, i) * words, sizeof *key * words);
		for (uint64_t flips = below(k, k->max_distance + 1); flips > 0; flips--) {
			uint64_t bit = below(k, k->bits);
			key[bit / 64] ^= UINT64_C(1) << (bit % 64);
		}
		return;
	}
	for (int w = 0; w < words; w++)
		key[w] = next_random(k);
	if (k->zipf)
		key[0] = (key[0] & UINT64_MAX >> 16) | zipf_value(k) << 48;
}

/* Make all keys; return false if there is no memory. */
static bool make_keys(struct keygen *k, bool skew)
{
	if (skew)
		fill_zipf(k);
	k->v = calloc(k->n + 1, (size_t)k->bits / 8);
	if (!k->v || (skew && !k->zipf))
		return false;
	for (uint64_t i = 0; i < k->n; i++)
		make_key(k, i);
	return true;
}

#endif
