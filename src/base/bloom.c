/* SPDX-License-Identifier: MIT */
#include "base/bloom.h"

#include <math.h>

#include "base/hash.h"

uint64_t pd_bloom_bits(uint64_t count, double error)
{
	double bits = -(double)count * log(error) / (M_LN2 * M_LN2);
	return bits < 64 ? 64 : bits >= 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)ceil(bits);
}

int pd_bloom_hashes(uint64_t bits, uint64_t count)
{
	double k = round((double)bits / (double)(count ? count : 1) * M_LN2);
	return k < 1 ? 1 : k > PD_BLOOM_HASHES_MAX ? PD_BLOOM_HASHES_MAX : (int)k;
}

double pd_bloom_rate(uint64_t bits, int hashes, uint64_t n)
{
	return pow(-expm1(-(double)hashes * (double)n / (double)bits), hashes);
}

void pd_bloom_places(struct pd_span key, uint64_t bits, int hashes, uint64_t out[PD_BLOOM_HASHES_MAX])
{
	uint64_t w[2];
	pd_hash128(key.p, key.n, 0, w);
	w[1] |= 1;	/* a step that is no multiple of most sizes */
	for (int i = 0; i < hashes; i++)
		out[i] = (w[0] + (uint64_t)i * w[1]) % bits;
}
