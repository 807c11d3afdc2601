/* SPDX-License-Identifier: MIT
 *
 * The path for any processor: the compiler's own vectors of 16 bytes, which it maps to what there is, and bits counted by
 * adding neighbours (H. S. Warren, "Hacker's Delight", 2nd ed., 5-1).
 */
#include "join/scan_paths.h"

typedef uint32_t half_vec __attribute__((vector_size(16), aligned(4)));
typedef uint64_t word_vec __attribute__((vector_size(16), aligned(8)));

PD_SCAN_ALWAYS half_vec half_counts(half_vec v)
{
	v = v - (v >> 1 & 0x55555555);
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f;
	v = v + (v >> 8);
	return (v + (v >> 16)) & 0x3f;
}

PD_SCAN_ALWAYS word_vec word_counts(word_vec v)
{
	v = v - (v >> 1 & UINT64_C(0x5555555555555555));
	v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	v = v + (v >> 8);
	v = v + (v >> 16);
	return (v + (v >> 32)) & 0x7f;
}

/* Bit 31 of a - b says a < b, when both are small. */
PD_SCAN_ALWAYS half_vec half_min(half_vec a, half_vec b)
{
	half_vec less = (half_vec)(a < b);
	return (a & less) | (b & ~less);
}

/* 64-bit comparisons are slow where there are vectors of 16 bytes at all; differences of small counts are not. */
PD_SCAN_ALWAYS word_vec word_less(word_vec a, word_vec b)
{
	return 0 - ((a - b) >> 63);
}

PD_SCAN_ALWAYS word_vec word_min(word_vec a, word_vec b)
{
	word_vec less = word_less(a, b);
	return (a & less) | (b & ~less);
}

PD_SCAN_ALWAYS bool half_any(half_vec d, half_vec k)
{
	word_vec near = (word_vec)(half_vec)(d <= k);
	return (near[0] | near[1]) != 0;
}

PD_SCAN_ALWAYS bool word_any(word_vec d, word_vec k)
{
	return d[0] <= k[0] || d[1] <= k[1];
}

PD_SCAN_ALWAYS unsigned half_near(half_vec d, half_vec k)
{
	unsigned m = 0;
	for (unsigned i = 0; i < 4; i++)
		m |= (unsigned)(d[i] <= k[i]) << i;
	return m;
}

#define TARGET
#define XOR(a, b) ((a) ^ (b))
#define ADD(a, b) ((a) + (b))

#define NAME(x) portable_half_##x
#define LANE_BITS 32
#define LANES 4
#define COLUMN(c, w) (c)->half
#define VEC half_vec
#define LOAD(p) (*(const half_vec *)(p))
#define STORE(p, v) (*(half_vec *)(p) = (v))
#define SPREAD(x) ((half_vec){ (uint32_t)(x), (uint32_t)(x), (uint32_t)(x), (uint32_t)(x) })
#define COUNT(v) half_counts(v)
#define MIN(a, b) half_min(a, b)
#define ANY(d, k) half_any(d, k)
#define NEAR(d, k) half_near(d, k)
#include "join/scan_loops.def"
#include "join/scan_undef.def"
#undef XOR
#undef ADD
#undef VEC
#undef LOAD
#undef STORE
#undef ANY

#define XOR(a, b) ((a) ^ (b))
#define ADD(a, b) ((a) + (b))
#define NAME(x) portable_word_##x
#define LANE_BITS 64
#define LANES 2
#define COLUMN(c, word) (c)->w[word]
#define VEC word_vec
#define LOAD(p) (*(const word_vec *)(p))
#define STORE(p, v) (*(word_vec *)(p) = (v))
#define SPREAD(x) ((word_vec){ (uint64_t)(x), (uint64_t)(x) })
#define COUNT(v) word_counts(v)
#define MIN(a, b) word_min(a, b)
#define ANY(d, k) word_any(d, k)
#define NEAR(d, k) ((unsigned)(d[0] <= k[0]) | (unsigned)(d[1] <= k[1]) << 1)
#include "join/scan_loops.def"

const struct pd_scan *pd_scan_portable(void)
{
	static const struct pd_scan scan = PD_SCAN_TABLE(PD_SCAN_PORTABLE, "portable", portable);
	return &scan;
}
