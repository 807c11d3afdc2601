/* SPDX-License-Identifier: MIT
 *
 * Small buckets, laid end to end: a bucket meets dozens of neighbours of a few keys each, and comparing it with one long
 * run fills vectors and costs one call.  Copying them is cheap, because the copies do not wait for each other.
 */
#ifndef PD_MATCH_GATHER_H
#define PD_MATCH_GATHER_H

#include "match/table.h"

#define PD_GATHER_SMALL 64	/* larger buckets are compared where they lie */
#define PD_GATHER_KEYS 4096	/* in halves they fill a third of a first-level cache */
#define PD_GATHER_RUNS 1024

struct pd_gather {
	struct pd_columns columns;
	size_t n, n_runs;
	struct pd_gather_run { uint32_t at, from; } runs[PD_GATHER_RUNS];	/* a run's place here, and in its table */
	void *memory;
};

void pd_gather_release(struct pd_gather *g);
void pd_gather_make(struct pd_gather *g);
/* The place in its table of a key gathered here. */
uint32_t pd_gather_place(const struct pd_gather *g, uint32_t at);

static inline void pd_gather_clear(struct pd_gather *g)
{
	g->n = g->n_runs = 0;
}

/* Whole steps: there is room behind both, a copy of known size needs no call, and most runs take one, so that the
 * processor guesses right. */
static inline void pd_gather_copy(void *to, const void *from, size_t n, size_t elem)
{
	char *p = to;
	const char *q = from;
	for (size_t i = 0; i < n; i += PD_TABLE_PAD)
		memcpy(p + i * elem, q + i * elem, PD_TABLE_PAD * elem);
}

/* Adds a run of fewer than SMALL keys of `t`, of `words` words.  False: full, it must be cleared first. */
static inline bool pd_gather_add(struct pd_gather *g, const struct pd_key_table *t, struct pd_key_run run, int words)
{
	size_t n = run.to - run.from;
	if (g->n + n > PD_GATHER_KEYS || g->n_runs == PD_GATHER_RUNS)
		return false;
	g->runs[g->n_runs++] = (struct pd_gather_run){ (uint32_t)g->n, (uint32_t)run.from };
	if (t->is_half)
		pd_gather_copy(g->columns.half + g->n, t->columns.half + run.from, n, sizeof *t->columns.half);
	else
		for (int w = 0; w < words; w++)
			pd_gather_copy(g->columns.w[w] + g->n, t->columns.w[w] + run.from, n, sizeof *t->columns.w[w]);
	g->n += n;
	return true;
}

#endif
