/* SPDX-License-Identifier: MIT
 *
 * The lower bound, binary search as every sorted array of the program is searched: the first i of low … high - 1 for which
 * `before`, an expression of i, is false; `high` when it holds for all.  Wherever it is false, it must be false for all that
 * follow.
 *
 *	size_t at = PD_LOWER_BOUND(i, 0, n, v[i].key < key);
 *	bool there = at < n && v[at].key == key;
 */
#ifndef PD_BASE_BOUND_H
#define PD_BASE_BOUND_H

#include <stddef.h>

/* An expression of gcc and clang, so that the comparison stands where the search does and costs no call. */
#define PD_LOWER_BOUND(i, low, high, before) __extension__({ \
	size_t pd_low_ = (low), pd_high_ = (high); \
	while (pd_low_ < pd_high_) { \
		const size_t i = pd_low_ + (pd_high_ - pd_low_) / 2; \
		if (before) \
			pd_low_ = i + 1; \
		else \
			pd_high_ = i; \
	} \
	pd_low_; \
})

#endif
