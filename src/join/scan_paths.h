/* SPDX-License-Identifier: MIT
 *
 * What the paths of scan.h share: each is a function that gives its table, or NULL where it cannot run.
 */
#ifndef PD_JOIN_SCAN_PATHS_H
#define PD_JOIN_SCAN_PATHS_H

#include "join/scan.h"

#define PD_SCAN_ALWAYS static inline __attribute__((always_inline))

#define PD_SCAN_TABLE(path_, name_, prefix) \
	{ \
		.path = path_, .name = name_, \
		.by = { { prefix##_half_cross_1, prefix##_half_self_1, prefix##_half_gather_1 }, \
			{ prefix##_word_cross_1, prefix##_word_self_1, prefix##_word_gather_1 }, \
			{ prefix##_word_cross_2, prefix##_word_self_2, prefix##_word_gather_2 }, \
			{ prefix##_word_cross_4, prefix##_word_self_4, prefix##_word_gather_4 } }, \
	}

const struct pd_scan *pd_scan_portable(void);
const struct pd_scan *pd_scan_neon(void);
const struct pd_scan *pd_scan_avx2(void);
const struct pd_scan *pd_scan_avx512(void);

#endif
