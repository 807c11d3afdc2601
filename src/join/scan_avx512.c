/* SPDX-License-Identifier: MIT
 *
 * The path for processors with AVX-512 and its VPOPCNT instructions: 16 halves or 8 words at a time.
 */
#include "join/scan_paths.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vpopcntdq,popcnt")))
#define VEC __m512i
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, v) _mm512_storeu_si512(p, v)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define ANY(d, k) (NEAR(d, k) != 0)

#define NAME(x) avx512_half_##x
#define LANE_BITS 32
#define LANES 16
#define COLUMN(c, w) (c)->half
#define SPREAD(x) _mm512_set1_epi32((int)(x))
#define COUNT(v) _mm512_popcnt_epi32(v)
#define ADD(a, b) _mm512_add_epi32(a, b)
#define MIN(a, b) _mm512_min_epu32(a, b)
#define NEAR(d, k) _mm512_cmple_epi32_mask(d, k)
#include "join/scan_loops.def"
#include "join/scan_undef.def"

#define NAME(x) avx512_word_##x
#define LANE_BITS 64
#define LANES 8
#define COLUMN(c, word) (c)->w[word]
#define SPREAD(x) _mm512_set1_epi64((long long)(x))
#define COUNT(v) _mm512_popcnt_epi64(v)
#define ADD(a, b) _mm512_add_epi64(a, b)
#define MIN(a, b) _mm512_min_epu64(a, b)
#define NEAR(d, k) _mm512_cmple_epi64_mask(d, k)
#include "join/scan_loops.def"

static bool runs_here(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq");
}

const struct pd_scan *pd_scan_avx512(void)
{
	static const struct pd_scan scan = PD_SCAN_TABLE(PD_SCAN_AVX512, "avx512", avx512);
	return runs_here() ? &scan : NULL;
}
#else
const struct pd_scan *pd_scan_avx512(void)
{
	return NULL;
}
#endif
