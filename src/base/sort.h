/* SPDX-License-Identifier: MIT
 *
 * What sorting by digits and searching in what is sorted have in common wherever the program does it.
 */
#ifndef PD_BASE_SORT_H
#define PD_BASE_SORT_H

#include <stddef.h>

/* The lower bound, binary search as every sorted array of the program is searched: the first i of low … high - 1 for which
 * `before`, an expression of i, is false; `high` when it holds for all.  Wherever it is false, it must be false for all that
 * follow.
 *
 *	size_t at = PD_LOWER_BOUND(i, 0, n, v[i].key < key);
 *	bool there = at < n && v[at].key == key;
 *
 * An expression of gcc and clang, so that the comparison stands where the search does and costs no call. */
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

/* One pass of a radix sort on threads: items lie in stretches, one for each thread or list, and go into parts by a digit.
 * Each stretch counts its items by parts; the sum turns counts into places, part by part and in each the stretches in their
 * order, so that the pass is stable whatever the threads; then each stretch places its items.
 *
 *	pd_radix_init(&r, n_stretches, n_parts);
 *	for each stretch s, each item x of it:	pd_radix_next(&r, s)[digit(x)]++;
 *	pd_radix_sum(&r);
 *	for each stretch s, each item x of it:	out[pd_radix_next(&r, s)[digit(x)]++] = x;
 */
struct pd_radix {
	size_t n_stretches, n_parts;
	size_t *next;		/* stretch, part -> how many items; after the sum, where the next one goes */
	size_t *part;		/* n_parts + 1: where parts begin */
};

void pd_radix_init(struct pd_radix *r, size_t n_stretches, size_t n_parts);
void pd_radix_sum(struct pd_radix *r);
void pd_radix_release(struct pd_radix *r);

static inline size_t *pd_radix_next(const struct pd_radix *r, size_t stretch)
{
	return r->next + stretch * r->n_parts;
}

#endif
