/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include <stdlib.h>

#include "base/alloc.h"

void pd_radix_init(struct pd_radix *r, size_t n_stretches, size_t n_parts)
{
	*r = (struct pd_radix){ .n_stretches = n_stretches, .n_parts = n_parts };
	r->next = pd_zalloc(n_stretches * n_parts * sizeof *r->next);
	r->part = pd_alloc((n_parts + 1) * sizeof *r->part);
}

void pd_radix_sum(struct pd_radix *r)
{
	size_t at = 0;
	for (size_t p = 0; p < r->n_parts; p++) {
		r->part[p] = at;
		for (size_t s = 0; s < r->n_stretches; s++) {
			size_t n = r->next[s * r->n_parts + p];
			r->next[s * r->n_parts + p] = at;
			at += n;
		}
	}
	r->part[r->n_parts] = at;
}

void pd_radix_release(struct pd_radix *r)
{
	free(r->next);
	free(r->part);
	*r = (struct pd_radix){ 0 };
}
