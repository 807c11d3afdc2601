/* SPDX-License-Identifier: MIT
 *
 * Block arithmetic.  Bits are numbered as in base/hash.h.  Blocks of equal size are numbered from 0 in the order of a
 * printed key, so block 0 contains the first hex digits (the patent's block 1).  64 bits in four blocks:
 *
 *	bit    63        48 47        32 31        16 15         0
 *	      [  block 0  ][  block 1  ][  block 2  ][  block 3  ]
 */
#ifndef PD_INDEX_BITS_H
#define PD_INDEX_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return n bits (1 to 64) from bit `first` on; they may span two words. */
static inline uint64_t pd_bits_get(const uint64_t *w, int first, int n)
{
	int shift = first % 64;
	uint64_t v = w[first / 64] >> shift;
	if (shift + n > 64)
		v |= w[first / 64 + 1] << (64 - shift);
	return n < 64 ? v & ((UINT64_C(1) << n) - 1) : v;
}

/* Count the set bits.  This code is used instead of an instruction (H. S. Warren, "Hacker's Delight", 2nd ed., 5-1),
 * because not every processor has one, and compilers would then generate a call. */
static inline int pd_bits_count(uint64_t v)
{
#ifdef __POPCNT__
	return __builtin_popcountll(v);
#else
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
	return (int)(((v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* Return the Hamming distance of two keys. */
static inline int pd_bits_distance(const uint64_t *x, const uint64_t *y, int words)
{
	int d = 0;
	for (int w = 0; w < words; w++)
		d += pd_bits_count(x[w] ^ y[w]);
	return d;
}

/* Return the lowest bit of block b of n_blocks equal blocks; the size of a block divides 64. */
static inline int pd_bits_block(int bits, int n_blocks, int b)
{
	int size = bits / n_blocks, at = b * size;
	return at / 64 * 64 + 64 - size - at % 64;
}

/* Replace n bits within one word. */
static inline void pd_bits_put(uint64_t *w, int first, int n, uint64_t value)
{
	uint64_t mask = (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX) << (first % 64);
	w[first / 64] = (w[first / 64] & ~mask) | (value << (first % 64) & mask);
}

/* Exchange blocks 0 and b of a key (patent CN101645082, module 400).  The function is its own inverse; b = 0 copies. 
 * If two keys share a block, one of the permutations moves it to the front, so that a sorted table can be searched
 * for it. */
static inline void pd_bits_exchange(const uint64_t *in, uint64_t *out, int bits, int n_blocks, int b)
{
	int size = bits / n_blocks, head = pd_bits_block(bits, n_blocks, 0), other = pd_bits_block(bits, n_blocks, b);
	uint64_t h = pd_bits_get(in, head, size), o = pd_bits_get(in, other, size);
	memcpy(out, in, (size_t)bits / 8);
	pd_bits_put(out, head, size, o);
	pd_bits_put(out, other, size, h);
}

/* Compute the radii of n blocks of equal rank.  The sum of (radius + 1) is k + 1: two keys that differ by more than the
 * radius in every block differ in at least k + 1 bits. */
static inline void pd_index_radii(int k, int n_blocks, int *radius)
{
	for (int i = 0; i < n_blocks; i++)
		radius[i] = (k + 1) / n_blocks + (i < (k + 1) % n_blocks) - 1;
}

#endif
