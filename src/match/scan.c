/* SPDX-License-Identifier: MIT
 *
 * One loop, written once for any number of words and compiled for 1, 2 and 4 of them: portable, with the POPCNT
 * instruction, and eight keys at a time with AVX-512's VPOPCNTQ.  Hits are rare; all care goes into the misses.
 */
#include "match/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

static void add_hit(struct pd_hits *out, size_t a, size_t b, int distance)
{
	if (out->n == out->cap)
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
	out->v[out->n++] = (struct pd_hit){ (uint32_t)a, (uint32_t)b, (uint32_t)distance };
}

INLINE int distance_of(const struct pd_columns *a, size_t i, const struct pd_columns *b, size_t j, int words)
{
	int d = 0;
	for (int w = 0; w < words; w++)
		d += __builtin_popcountll(a->w[w][i] ^ b->w[w][j]);
	return d;
}

INLINE void one_with_run(const struct pd_columns *a, size_t i, struct pd_key_run b, int words, int k, struct pd_hits *out)
{
	for (size_t j = b.from; j < b.to; j++) {
		int d = distance_of(a, i, b.columns, j, words);
		if (__builtin_expect(d <= k, 0))
			add_hit(out, i, j, d);
	}
}

INLINE void plain_cross(struct pd_key_run a, struct pd_key_run b, int words, int k, struct pd_hits *out)
{
	for (size_t i = a.from; i < a.to; i++)
		one_with_run(a.columns, i, b, words, k, out);
}

INLINE void plain_self(struct pd_key_run a, int words, int k, struct pd_hits *out)
{
	for (size_t i = a.from; i < a.to; i++)
		one_with_run(a.columns, i, (struct pd_key_run){ a.columns, i + 1, a.to }, words, k, out);
}

/* The two functions of struct pd_scan from a pair of loops, for one number of words and one kind of processor. */
#define DEFINE_SCAN(loops, words, ...) \
	__VA_ARGS__ static void loops##_cross_##words(struct pd_key_run a, struct pd_key_run b, int k, struct pd_hits *out) \
	{ \
		LOOPS_##loops##_cross(a, b, words, k, out); \
	} \
	__VA_ARGS__ static void loops##_self_##words(struct pd_key_run a, int k, struct pd_hits *out) \
	{ \
		LOOPS_##loops##_self(a, words, k, out); \
	}
#define DEFINE_SCANS(loops, ...) \
	DEFINE_SCAN(loops, 1, __VA_ARGS__) \
	DEFINE_SCAN(loops, 2, __VA_ARGS__) \
	DEFINE_SCAN(loops, 4, __VA_ARGS__) \
	static const struct pd_scan loops##_scans[] = { \
		{ loops##_cross_1, loops##_self_1, #loops }, \
		{ loops##_cross_2, loops##_self_2, #loops }, \
		{ loops##_cross_4, loops##_self_4, #loops }, \
	};

#define LOOPS_plain_cross plain_cross
#define LOOPS_plain_self plain_self
DEFINE_SCANS(plain, )

#if defined(__x86_64__)
#define LOOPS_popcnt_cross plain_cross
#define LOOPS_popcnt_self plain_self
DEFINE_SCANS(popcnt, __attribute__((target("popcnt"))))

#define AVX512 __attribute__((target("avx512f,avx512vpopcntdq,popcnt")))
#define LANES 8

AVX512 INLINE void load(__m512i *v, const struct pd_columns *b, size_t j, int words)
{
	for (int w = 0; w < words; w++)
		v[w] = _mm512_loadu_si512(b->w[w] + j);
}

/* Distances of key i to the eight keys in v. */
AVX512 INLINE __m512i distances(const struct pd_columns *a, size_t i, const __m512i *v, int words)
{
	__m512i d = _mm512_setzero_si512();
	for (int w = 0; w < words; w++) {
		__m512i x = _mm512_xor_si512(_mm512_set1_epi64((long long)a->w[w][i]), v[w]);
		d = _mm512_add_epi64(d, _mm512_popcnt_epi64(x));
	}
	return d;
}

/* Key i with the lanes of the eight keys from place j on. */
AVX512 INLINE void one_with_lanes(const struct pd_columns *a, size_t i, const struct pd_columns *b, size_t j,
				  const __m512i *v, __mmask8 lanes, int words, __m512i k, struct pd_hits *out)
{
	__mmask8 near = _mm512_cmple_epi64_mask(distances(a, i, v, words), k);
	for (unsigned m = near & lanes; __builtin_expect(m != 0, 0); m &= m - 1) {
		size_t at = j + (unsigned)__builtin_ctz(m);
		add_hit(out, i, at, distance_of(a, i, b, at, words));
	}
}

/* A run with the lanes: four keys at a time, and looked at one by one only when the nearest of all is near. */
AVX512 INLINE void run_with_lanes(struct pd_key_run a, const struct pd_columns *b, size_t j, const __m512i *v,
				  __mmask8 lanes, int words, __m512i k, struct pd_hits *out)
{
	size_t i = a.from;
	for (; i + 4 <= a.to; i += 4) {
		__m512i d01 = _mm512_min_epi64(distances(a.columns, i, v, words), distances(a.columns, i + 1, v, words));
		__m512i d23 = _mm512_min_epi64(distances(a.columns, i + 2, v, words), distances(a.columns, i + 3, v, words));
		if (__builtin_expect(!_mm512_cmple_epi64_mask(_mm512_min_epi64(d01, d23), k), 1))
			continue;
		for (int c = 0; c < 4; c++)
			one_with_lanes(a.columns, i + c, b, j, v, lanes, words, k, out);
	}
	for (; i < a.to; i++)
		one_with_lanes(a.columns, i, b, j, v, lanes, words, k, out);
}

/* The lanes that belong to a run of which `left` keys are left. */
INLINE unsigned valid_lanes(size_t left)
{
	return left < LANES ? (1U << left) - 1 : 0xff;
}

AVX512 INLINE void avx512_cross(struct pd_key_run a, struct pd_key_run b, int words, int k, struct pd_hits *out)
{
	__m512i v[PD_KEY_WORDS], kk = _mm512_set1_epi64(k);
	for (size_t j = b.from; j < b.to; j += LANES) {
		load(v, b.columns, j, words);
		run_with_lanes(a, b.columns, j, v, (__mmask8)valid_lanes(b.to - j), words, kk, out);
	}
}

/* Eight keys with all before them, then with each other. */
AVX512 INLINE void avx512_self(struct pd_key_run a, int words, int k, struct pd_hits *out)
{
	__m512i v[PD_KEY_WORDS], kk = _mm512_set1_epi64(k);
	for (size_t j = a.from; j < a.to; j += LANES) {
		unsigned lanes = valid_lanes(a.to - j);
		load(v, a.columns, j, words);
		run_with_lanes((struct pd_key_run){ a.columns, a.from, j }, a.columns, j, v, (__mmask8)lanes, words, kk, out);
		for (unsigned i = 0; lanes >> (i + 1); i++)
			one_with_lanes(a.columns, j + i, a.columns, j, v, (__mmask8)(lanes & ~1U << i), words, kk, out);
	}
}

#define LOOPS_avx512_cross avx512_cross
#define LOOPS_avx512_self avx512_self
DEFINE_SCANS(avx512, AVX512)

static const struct pd_scan *fastest(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq"))
		return avx512_scans;
	return __builtin_cpu_supports("popcnt") ? popcnt_scans : plain_scans;
}
#else
static const struct pd_scan *fastest(void)
{
	return plain_scans;
}
#endif

const struct pd_scan *pd_scan_choose(int bits, bool plain)
{
	return (plain ? plain_scans : fastest()) + (bits == 64 ? 0 : bits == 128 ? 1 : 2);
}
