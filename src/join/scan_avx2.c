/* SPDX-License-Identifier: MIT
 *
 * The path for processors with AVX2: 8 halves or 4 words at a time.  Bits are counted by looking up each half byte in a
 * shuffle (W. Muła, N. Kurz, D. Lemire, "Faster Population Counts Using AVX2 Instructions", 2018).
 */
#include "join/scan_paths.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))
#define VEC __m256i
#define LOAD(p) _mm256_loadu_si256((const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((void *)(p), v)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define ANY(d, k) (NEAR(d, k) != 0)

/* Bits of each byte. */
TARGET PD_SCAN_ALWAYS __m256i byte_counts(__m256i v)
{
	const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
					       0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
	const __m256i low = _mm256_set1_epi8(15);
	__m256i lo = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
	__m256i hi = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32(v, 4), low));
	return _mm256_add_epi8(lo, hi);
}

TARGET PD_SCAN_ALWAYS __m256i half_counts(__m256i v)
{
	__m256i pairs = _mm256_maddubs_epi16(byte_counts(v), _mm256_set1_epi8(1));
	return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

TARGET PD_SCAN_ALWAYS __m256i word_counts(__m256i v)
{
	return _mm256_sad_epu8(byte_counts(v), _mm256_setzero_si256());
}

#define NAME(x) avx2_half_##x
#define LANE_BITS 32
#define LANES 8
#define COLUMN(c, w) (c)->half
#define SPREAD(x) _mm256_set1_epi32((int)(x))
#define COUNT(v) half_counts(v)
#define ADD(a, b) _mm256_add_epi32(a, b)
#define MIN(a, b) _mm256_min_epi32(a, b)
/* d <= k, as not d > k. */
#define NEAR(d, k) (~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(d, k))) & 0xffU)
#include "join/scan_loops.def"
#include "join/scan_undef.def"

/* Counts are small: comparing the lower halves of words is enough, the upper ones are 0. */
#define NAME(x) avx2_word_##x
#define LANE_BITS 64
#define LANES 4
#define COLUMN(c, word) (c)->w[word]
#define SPREAD(x) _mm256_set1_epi64x((long long)(x))
#define COUNT(v) word_counts(v)
#define ADD(a, b) _mm256_add_epi64(a, b)
#define MIN(a, b) _mm256_min_epi32(a, b)
#define NEAR(d, k) (~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(d, k))) & 0xfU)
#include "join/scan_loops.def"

const struct pd_scan *pd_scan_avx2(void)
{
	static const struct pd_scan scan = PD_SCAN_TABLE(PD_SCAN_AVX2, "avx2", avx2);
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? &scan : NULL;
}
#else
const struct pd_scan *pd_scan_avx2(void)
{
	return NULL;
}
#endif
