/* SPDX-License-Identifier: MIT */
#include "cluster/order.h"

#include <stdlib.h>

#include "base/memory.h"

enum { DIGIT = 11, DIGITS = (64 + DIGIT - 1) / DIGIT, VALUES = 1 << DIGIT };

uint32_t *pd_order_new(size_t n)
{
	uint32_t *order = pd_big_alloc((n + 1) * sizeof *order);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	return order;
}

/* Keys of 64 bits, or of 32 bits of which some count. */
struct order_keys {
	const uint64_t *wide;
	const uint32_t *narrow;
	uint32_t mask;
};

static inline size_t digit(const struct order_keys *k, uint32_t i, int shift)
{
	return (size_t)((k->wide ? k->wide[i] : k->narrow[i] & k->mask) >> shift & (VALUES - 1));
}

static void one_pass(const uint32_t *from, uint32_t *to, size_t n, const struct order_keys *k, int shift)
{
	size_t at[VALUES + 1] = { 0 };
	for (size_t i = 0; i < n; i++)
		at[digit(k, (uint32_t)i, shift) + 1]++;
	for (size_t d = 1; d < VALUES; d++)
		at[d] += at[d - 1];
	for (size_t i = 0; i < n; i++) {
		uint32_t soon = from[i + PD_AHEAD < n ? i + PD_AHEAD : i];
		pd_prefetch(k->wide ? (const void *)&k->wide[soon] : (const void *)&k->narrow[soon]);
		to[at[digit(k, from[i], shift)]++] = from[i];
	}
}

/* Bits in which any two keys differ: digits that are equal in all keys need no pass. */
static uint64_t differing(const struct order_keys *k, size_t n)
{
	uint64_t bits = 0;
	for (size_t i = 1; i < n; i++)
		bits |= k->wide ? k->wide[i] ^ k->wide[0] : (k->narrow[i] ^ k->narrow[0]) & k->mask;
	return bits;
}

static void order_by(uint32_t *order, size_t n, const struct order_keys *k)
{
	uint64_t bits = differing(k, n);
	if (!bits)
		return;
	uint32_t *other = pd_big_alloc(n * sizeof *other), *from = order, *to = other;
	for (int d = 0; d < DIGITS; d++) {
		if (!(bits >> d * DIGIT & (VALUES - 1)))
			continue;
		one_pass(from, to, n, k, d * DIGIT);
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, n * sizeof *order);
	free(other);
}

void pd_order_by(uint32_t *order, size_t n, const uint64_t *key)
{
	order_by(order, n, &(struct order_keys){ .wide = key });
}

void pd_order_by_bits(uint32_t *order, size_t n, const uint32_t *key, uint32_t mask)
{
	order_by(order, n, &(struct order_keys){ .narrow = key, .mask = mask });
}
