/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

void *pd_big_grow(void *items, size_t n, size_t *cap, size_t elem)
{
	if (n < *cap)
		return items;
	items = pd_grow(items, n, cap, elem);
	if (*cap * elem < 2 * HUGE_PAGE)
		return items;
	/* All of the mapping that holds it: in two parts, the kernel would not move it, and growing would be a copy. */
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)items & -page;
	uintptr_t end = ((uintptr_t)items + *cap * elem + page - 1) & -page;
	madvise((void *)first, end - first, MADV_HUGEPAGE);
	return items;
}
