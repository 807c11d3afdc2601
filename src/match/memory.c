/* SPDX-License-Identifier: MIT */
#include "match/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *pd_big_alloc(size_t n)
{
	void *p = NULL;
	if (n < 2 * HUGE_PAGE || posix_memalign(&p, HUGE_PAGE, n) != 0)
		return pd_alloc(n);
	madvise(p, n, MADV_HUGEPAGE);
	return p;
}

void *pd_big_at_least(void *p, size_t n, size_t *cap, size_t elem)
{
	if (n <= *cap)
		return p;
	free(p);
	*cap = n;
	return pd_big_alloc(n * elem);
}
