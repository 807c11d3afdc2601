/* SPDX-License-Identifier: MIT
 *
 * Small buckets, laid end to end: a bucket meets dozens of neighbours of a few keys each, and comparing it with one long
 * run fills vectors and costs one call.  First the neighbours are listed, and each is sent for; when all are known they
 * are copied, and by then they are there.
 */
#ifndef PD_JOIN_GATHER_H
#define PD_JOIN_GATHER_H

#include "join/table.h"

#define PD_GATHER_SMALL 64	/* larger buckets are compared where they lie */
#define PD_GATHER_KEYS 4096	/* in halves they fill a third of a first-level cache */
#define PD_GATHER_RUNS 512
#define PD_GATHER_STEP 16	/* keys; where they come from is noted for the first of each step */

struct pd_gather {
	size_t n_runs, taken;			/* of runs, how many have been copied before */
	struct pd_scan_run runs[PD_GATHER_RUNS];
	struct pd_columns columns;		/* what is copied, from run `first` on */
	size_t n, first;
	uint16_t begins[PD_GATHER_RUNS + 1];	/* run -> its first place here */
	uint16_t of_step[PD_GATHER_KEYS / PD_GATHER_STEP + 2];	/* step -> run of its first key */
	void *memory;
};

void pd_gather_make(struct pd_gather *g);
void pd_gather_release(struct pd_gather *g);
/* Copies runs that were listed, as many as there is room for; false: there are none left, and the list is empty. */
bool pd_gather_next(struct pd_gather *g, const struct pd_key_table *t, const struct pd_scan_loops *loops);
/* The place in its table of a key gathered here. */
uint32_t pd_gather_place(const struct pd_gather *g, uint32_t at);

/* Lists a run of fewer than SMALL keys, while n_runs < RUNS; an empty one leaves no trace. */
static inline void pd_gather_list(struct pd_gather *g, uint32_t from, uint32_t n)
{
	g->runs[g->n_runs] = (struct pd_scan_run){ from, n };
	g->n_runs += n != 0;
}

#endif
