/* SPDX-License-Identifier: MIT */
#include "match/neighbours.h"

int pd_neighbours_init(struct pd_neighbours *n, struct pd_join_pairs *pairs, pd_both_fn *both, const void *ctx, int threads,
		       struct pd_budget *budget, struct pd_err *e)
{
	struct pd_items *turned = pd_items_lists(1, budget), sorted;
	for (size_t i = 0; i < pairs->n; i++) {
		const struct pd_join_pair *p = &pairs->v[i];
		if (both(ctx, p))
			pd_items_add(turned, (uint64_t)p->b << 32 | p->a, p->distance);
	}
	*n = (struct pd_neighbours){ .after = *pairs };
	*pairs = (struct pd_join_pairs){ 0 };
	int status = pd_items_gather(turned, 1, threads, &sorted, e);
	pd_join_pairs_take(&n->before, &sorted);
	return status;
}

size_t pd_pairs_from(const struct pd_join_pairs *pairs, uint32_t group)
{
	size_t lo = 0, hi = pairs->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (pairs->v[mid].a < group)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pd_neighbours_release(struct pd_neighbours *n)
{
	pd_join_pairs_release(&n->after);
	pd_join_pairs_release(&n->before);
}
