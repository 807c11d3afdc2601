/* SPDX-License-Identifier: MIT */
#include "group/order.h"

#include <stdlib.h>

#include "base/buf.h"

enum { DIGIT = 11, DIGITS = (64 + DIGIT - 1) / DIGIT, VALUES = 1 << DIGIT };

uint32_t *pd_order_new(size_t n)
{
	uint32_t *order = pd_alloc((n + 1) * sizeof *order);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	return order;
}

static void one_pass(const uint32_t *from, uint32_t *to, size_t n, const uint64_t *key, int shift)
{
	size_t at[VALUES + 1] = { 0 };
	for (size_t i = 0; i < n; i++)
		at[(key[i] >> shift & (VALUES - 1)) + 1]++;
	for (size_t d = 1; d < VALUES; d++)
		at[d] += at[d - 1];
	for (size_t i = 0; i < n; i++)
		to[at[key[from[i]] >> shift & (VALUES - 1)]++] = from[i];
}

/* Bits in which any two keys differ: digits that are the same everywhere need no pass. */
static uint64_t differing(const uint64_t *key, size_t n)
{
	uint64_t bits = 0;
	for (size_t i = 1; i < n; i++)
		bits |= key[i] ^ key[0];
	return bits;
}

void pd_order_by(uint32_t *order, size_t n, const uint64_t *key)
{
	uint64_t bits = differing(key, n);
	if (!bits)
		return;
	uint32_t *other = pd_alloc(n * sizeof *other), *from = order, *to = other;
	for (int d = 0; d < DIGITS; d++) {
		if (!(bits >> d * DIGIT & (VALUES - 1)))
			continue;
		one_pass(from, to, n, key, d * DIGIT);
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, n * sizeof *order);
	free(other);
}

uint64_t pd_key_of_real(double v)
{
	uint64_t u;
	v += 0.;	/* there is one zero */
	memcpy(&u, &v, sizeof u);
	return u >> 63 ? ~u : u | UINT64_C(1) << 63;
}
