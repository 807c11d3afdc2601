/* SPDX-License-Identifier: MIT
 *
 * A key in, the key with two of its blocks exchanged out: whatever block it is that two keys share, in one of the
 * permutations it stands first, where a sorted table can be searched.
 */
#include "join/permute.h"

#include <string.h>

/* Replaces n bits within one word. */
static void put_bits(uint64_t *w, int first, int n, uint64_t value)
{
	uint64_t mask = (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX) << (first % 64);
	w[first / 64] = (w[first / 64] & ~mask) | (value << (first % 64) & mask);
}

void pd_exchange(const uint64_t *in, uint64_t *out, int bits, int n_blocks, int b)
{
	int size = bits / n_blocks, head = pd_block_first(bits, n_blocks, 0), other = pd_block_first(bits, n_blocks, b);
	uint64_t h = pd_bits_get(in, head, size), o = pd_bits_get(in, other, size);
	memcpy(out, in, (size_t)bits / 8);
	put_bits(out, head, size, o);
	put_bits(out, other, size, h);
}
