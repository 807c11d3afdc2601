/* SPDX-License-Identifier: MIT
 *
 * Many questions at once: their probes are sorted by bucket (a counting sort), and the table is gone through once, each
 * bucket compared with all that ask for it.  What is waited for is then read in order, and read once.
 */
#include <stdlib.h>

#include "store/near_probing.h"

enum {
	PROBES = 1 << 20,	/* at a time */
	BITS_MAX = 20,		/* of a block: one counter for each bucket */
	TOGETHER = 64		/* questions that are compared with a bucket at once */
};

/* One probe for every bucket, at least: fewer are not worth the counters. */
bool pd_probing_sorts(const struct pd_probing *p, size_t n_masks)
{
	return p->cut.n_bits > 0 && p->cut.n_bits <= BITS_MAX && p->q->n * n_masks >> p->cut.n_bits > 0;
}

/* Questions from .. to - 1: who asks for bucket v is asker[starts[v]] .. asker[starts[v + 1] - 1]. */
static void sort_probes(const struct pd_probing *p, size_t from, size_t to, const uint32_t *masks, size_t n_masks,
			uint32_t *starts, uint32_t *asker)
{
	size_t n = (size_t)1 << p->cut.n_bits;
	memset(starts, 0, (n + 2) * sizeof *starts);
	for (size_t i = from; i < to; i++) {
		uint32_t block = pd_probing_block(p, i);
		for (size_t m = 0; m < n_masks; m++)
			starts[(block ^ masks[m]) + 2]++;
	}
	for (size_t v = 2; v < n + 2; v++)
		starts[v] += starts[v - 1];
	for (size_t i = from; i < to; i++) {
		uint32_t block = pd_probing_block(p, i);
		for (size_t m = 0; m < n_masks; m++)
			asker[starts[(block ^ masks[m]) + 1]++] = (uint32_t)i;
	}
}

/* Up to TOGETHER questions with the keys from .. to - 1. */
static int compare(struct pd_probing *p, const uint32_t *asker, size_t n, uint32_t from, uint32_t to)
{
	uint64_t words[PD_KEY_WORDS][TOGETHER + PD_SCAN_PAD];
	struct pd_join_columns together;
	struct pd_join_hits *hits = &p->near->hits;
	int status = PD_OK;
	for (int w = 0; w < p->q->bits / 64; w++) {
		for (size_t i = 0; i < n; i++)
			words[w][i] = p->q->keys.w[w][asker[i]];
		together.w[w] = words[w];
	}
	pd_near_cross(p->near, p->q->bits, (struct pd_join_run){ &together, 0, n }, (struct pd_join_run){ &p->columns, from, to }, p->q->k);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = pd_probing_hit(p, asker[hits->v[h].a], hits->v[h].b, hits->v[h].distance);
	return status;
}

static int ask_bucket(struct pd_probing *p, uint32_t bucket, const uint32_t *asker, size_t n)
{
	uint32_t from, to;
	int status = pd_probing_bucket(p, bucket, &from, &to);
	if (!status)
		status = pd_probing_check(p, from, to);
	for (size_t at = 0, m; !status && from < to && at < n; at += m) {
		m = n - at < TOGETHER ? n - at : TOGETHER;
		status = compare(p, asker + at, m, from, to);
	}
	return status;
}

int pd_probing_sorted(struct pd_probing *p, const uint32_t *masks, size_t n_masks)
{
	size_t n = (size_t)1 << p->cut.n_bits, round = n_masks < PROBES ? PROBES / n_masks : 1;
	uint32_t *starts = pd_alloc((n + 2) * sizeof *starts);
	uint32_t *asker = pd_alloc((round < p->q->n ? round : p->q->n) * n_masks * sizeof *asker);
	int status = PD_OK;
	for (size_t from = 0, to; !status && from < p->q->n; from = to) {
		to = p->q->n - from < round ? p->q->n : from + round;
		sort_probes(p, from, to, masks, n_masks, starts, asker);
		for (uint32_t v = 0; !status && v < n; v++)
			if (starts[v] < starts[v + 1])
				status = ask_bucket(p, v, asker + starts[v], starts[v + 1] - starts[v]);
	}
	free(starts);
	free(asker);
	return status;
}
