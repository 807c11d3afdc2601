/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

void pd_simhash_clear(struct pd_simhash *s, int bits)
{
	memset(s, 0, sizeof *s);
	s->bits = bits;
}

/* The planes' digits into the counters. */
static void flush(struct pd_simhash *s)
{
	for (int w = 0; w < s->bits / 64; w++) {
		for (int j = 0; j < PD_SIMHASH_PLANES; j++) {
			uint64_t plane = s->planes[w][j];
			int64_t *ones = s->ones + w * 64;
			for (int i = 0; i < 64; i++)
				ones[i] += (int64_t)(plane >> i & 1) << j;
			s->planes[w][j] = 0;
		}
	}
	s->pending = 0;
}

static void add_one(struct pd_simhash *s, const struct pd_key *key)
{
	for (int w = 0; w < s->bits / 64; w++) {
		uint64_t carry = key->w[w], *plane = s->planes[w];
		for (int j = 0; carry; j++) {
			uint64_t sum = plane[j] ^ carry;
			carry &= plane[j];
			plane[j] = sum;
		}
	}
	if (++s->pending == (1 << PD_SIMHASH_PLANES) - 1)
		flush(s);
}

void pd_simhash_add(struct pd_simhash *s, const struct pd_key *key, int64_t weight)
{
	s->total += weight;
	if (weight == 1) {
		add_one(s, key);
		return;
	}
	for (int w = 0; w < s->bits / 64; w++) {
		uint64_t bits = key->w[w];
		int64_t *ones = s->ones + w * 64;
		for (int i = 0; i < 64; i++)
			ones[i] += weight & -(int64_t)(bits >> i & 1);
	}
}

void pd_simhash_end(struct pd_simhash *s, struct pd_key *out)
{
	flush(s);
	*out = (struct pd_key){ { 0 } };
	for (int i = 0; i < s->bits; i++)
		if (2 * s->ones[i] > s->total)
			out->w[i / 64] |= (uint64_t)1 << (i % 64);
}
