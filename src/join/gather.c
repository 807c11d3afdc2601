/* SPDX-License-Identifier: MIT */
#include "join/gather.h"

#include <stdlib.h>

void pd_gather_make(struct pd_gather *g)
{
	size_t column = PD_GATHER_KEYS + PD_TABLE_PAD;
	uint64_t *p = g->memory = pd_zalloc(column * (PD_KEY_WORDS + 1) * sizeof *p);
	for (int w = 0; w < PD_KEY_WORDS; w++, p += column)
		g->columns.w[w] = p;
	g->columns.half = (uint32_t *)p;
	g->n_runs = g->taken = 0;
}

/* Places for as many runs as fit. */
static size_t lay_out(struct pd_gather *g)
{
	size_t n = 0, i = g->first = g->taken;
	for (; i < g->n_runs && n + g->runs[i].n <= PD_GATHER_KEYS; n += g->runs[i++].n) {
		g->begins[i] = (uint16_t)n;
		size_t step = (n + PD_GATHER_STEP - 1) / PD_GATHER_STEP;
		do
			g->of_step[step] = (uint16_t)i;	/* or, if this run ends before it, one of the next */
		while (++step * PD_GATHER_STEP < n + g->runs[i].n);
	}
	g->begins[i] = (uint16_t)n;
	g->n = n;
	return i;
}

bool pd_gather_next(struct pd_gather *g, const struct pd_key_table *t, const struct pd_scan_loops *loops)
{
	if (g->taken == g->n_runs) {
		g->n_runs = g->taken = 0;
		return false;
	}
	g->taken = lay_out(g);
	loops->gather(&t->columns, g->runs + g->first, g->taken - g->first, &g->columns);
	return true;
}

uint32_t pd_gather_place(const struct pd_gather *g, uint32_t at)
{
	size_t i = g->of_step[at / PD_GATHER_STEP];
	while (g->begins[i + 1] <= at)
		i++;
	return g->runs[i].from + at - g->begins[i];
}

void pd_gather_release(struct pd_gather *g)
{
	free(g->memory);
	g->memory = NULL;
}
