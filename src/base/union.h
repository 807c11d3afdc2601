/* SPDX-License-Identifier: MIT
 *
 * Union-find over the numbers 0 … n - 1.  set[i] is i, or a smaller number of the same set; the root of a set is its
 * smallest number.  So the result does not depend on the order of the joins.  Paths are halved by each search.
 */
#ifndef PD_BASE_UNION_H
#define PD_BASE_UNION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Put each number into a separate set. */
static inline void pd_union_init(uint32_t *set, size_t n)
{
	for (size_t i = 0; i < n; i++)
		set[i] = (uint32_t)i;
}

static inline uint32_t pd_union_find(uint32_t *set, uint32_t i)
{
	while (set[i] != i)
		i = set[i] = set[set[i]];
	return i;
}

/* Return whether a and b were in different sets. */
static inline bool pd_union_join(uint32_t *set, uint32_t a, uint32_t b)
{
	a = pd_union_find(set, a);
	b = pd_union_find(set, b);
	set[a < b ? b : a] = a < b ? a : b;
	return a != b;
}

#endif
