/* SPDX-License-Identifier: MIT */
#include "match/gather.h"

#include <stdlib.h>

void pd_gather_make(struct pd_gather *g)
{
	size_t column = PD_GATHER_KEYS + PD_GATHER_SMALL + PD_TABLE_PAD;
	uint64_t *p = g->memory = pd_zalloc(column * (PD_KEY_WORDS + 1) * sizeof *p);
	for (int w = 0; w < PD_KEY_WORDS; w++, p += column)
		g->columns.w[w] = p;
	g->columns.half = (uint32_t *)p;
	pd_gather_clear(g);
}

uint32_t pd_gather_place(const struct pd_gather *g, uint32_t at)
{
	size_t low = 0, high = g->n_runs;	/* the last run that begins at `at` or before */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (g->runs[middle].at <= at)
			low = middle;
		else
			high = middle;
	}
	return g->runs[low].from + at - g->runs[low].at;
}

void pd_gather_release(struct pd_gather *g)
{
	free(g->memory);
	g->memory = NULL;
}
