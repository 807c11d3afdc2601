/* SPDX-License-Identifier: MIT
 *
 * The path for 64-bit ARM, all of which has NEON: 4 halves or 2 words at a time.
 */
#include "join/scan_paths.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define TARGET
#define XOR(a, b) veorq_u32(a, b)

#define NAME(x) neon_half_##x
#define LANE_BITS 32
#define LANES 4
#define COLUMN(c, w) (c)->half
#define VEC uint32x4_t
#define LOAD(p) vld1q_u32(p)
#define STORE(p, v) vst1q_u32(p, v)
#define SPREAD(x) vdupq_n_u32((uint32_t)(x))
#define COUNT(v) vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(v))))
#define ADD(a, b) vaddq_u32(a, b)
#define MIN(a, b) vminq_u32(a, b)
#define ANY(d, k) (vmaxvq_u32(vcleq_u32(d, k)) != 0)
#define NEAR(d, k) vaddvq_u32(vandq_u32(vcleq_u32(d, k), lane_bits()))

static inline uint32x4_t lane_bits(void)
{
	static const uint32_t bits[] = { 1, 2, 4, 8 };
	return vld1q_u32(bits);
}

#include "join/scan_loops.def"
#include "join/scan_undef.def"
#undef XOR
#undef VEC
#undef LOAD
#undef STORE
#undef ANY

#define NAME(x) neon_word_##x
#define LANE_BITS 64
#define LANES 2
#define COLUMN(c, word) (c)->w[word]
#define VEC uint64x2_t
#define LOAD(p) vld1q_u64(p)
#define STORE(p, v) vst1q_u64(p, v)
#define SPREAD(x) vdupq_n_u64((uint64_t)(x))
#define XOR(a, b) veorq_u64(a, b)
#define COUNT(v) vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(v)))))
#define ADD(a, b) vaddq_u64(a, b)
/* Counts fill the lower halves alone. */
#define MIN(a, b) vreinterpretq_u64_u32(vminq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)))
#define ANY(d, k) (vmaxvq_u32(vreinterpretq_u32_u64(vcleq_u64(d, k))) != 0)
#define NEAR(d, k) ((unsigned)(vgetq_lane_u64(d, 0) <= vgetq_lane_u64(k, 0)) | \
		    (unsigned)(vgetq_lane_u64(d, 1) <= vgetq_lane_u64(k, 1)) << 1)
#include "join/scan_loops.def"

const struct pd_scan *pd_scan_neon(void)
{
	static const struct pd_scan scan = PD_SCAN_TABLE(PD_SCAN_NEON, "neon", neon);
	return &scan;
}
#else
const struct pd_scan *pd_scan_neon(void)
{
	return NULL;
}
#endif
