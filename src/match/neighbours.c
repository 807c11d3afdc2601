/* SPDX-License-Identifier: MIT */
#include "match/neighbours.h"

#include "match/items.h"

void pd_neighbours_init(struct pd_neighbours *n, struct pd_pairs *pairs, bool (*both)(const void *ctx, const struct pd_pair *p),
			const void *ctx, int threads)
{
	struct pd_items turned = { 0 };
	for (size_t i = 0; i < pairs->n; i++) {
		const struct pd_pair *p = &pairs->v[i];
		if (both(ctx, p))
			pd_items_add(&turned, (uint64_t)p->b << 32 | p->a, p->distance);
	}
	*n = (struct pd_neighbours){ .after = *pairs };
	*pairs = (struct pd_pairs){ 0 };
	struct pd_items sorted = pd_items_gather(&turned, 1, threads);
	pd_pairs_take(&n->before, &sorted);
}

size_t pd_pairs_from(const struct pd_pairs *pairs, uint32_t group)
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
	pd_pairs_release(&n->after);
	pd_pairs_release(&n->before);
}
