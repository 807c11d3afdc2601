/* SPDX-License-Identifier: MIT
 *
 * Arrays of many megabytes, walked in no order: asked for in huge pages, where the kernel has them, so that a step costs
 * no page table.  Freed with free().
 */
#ifndef PD_BASE_MEMORY_H
#define PD_BASE_MEMORY_H

#include "base/buf.h"

void *pd_big_alloc(size_t n);
/* An array of at least n elements: `p`, which has *cap, or a new one; what was in it is lost. */
void *pd_big_at_least(void *p, size_t n, size_t *cap, size_t elem);

/* pd_grow for such arrays. */
void *pd_big_grow(void *items, size_t n, size_t *cap, size_t elem);

#endif
