/* SPDX-License-Identifier: MIT
 *
 * Lists of items that may not fit in memory: a list that is full is sorted and written to a file without a name as a run;
 * in the end all runs are merged (items_gather.c does it where nothing was written).
 */
#ifndef PD_BASE_SPILL_H
#define PD_BASE_SPILL_H

#include "base/items.h"
#include "base/budget.h"

struct pd_spill {
	struct pd_budget *budget;
	size_t most;		/* items that a list may hold in memory */
	FILE *file;
	size_t *end;		/* of each run, in items */
	size_t n_runs, cap_runs;
	int status;		/* an error: items were lost, and gathering will say so */
	struct pd_err err;
};

/* One for each of n lists, which share so many bytes while they are filled, sorted and brought together.  NULL without a
 * budget. */
struct pd_spill *pd_spills_new(struct pd_items *lists, int n, struct pd_budget *budget, size_t bytes);
void pd_spills_free(struct pd_spill *s, int n);

/* The list as a run; it is empty then. */
void pd_spill_run(struct pd_items *list);
/* All runs of all lists, in order, in one mapped array. */
int pd_spill_merge(struct pd_items *lists, int n_lists, struct pd_items *out, struct pd_err *e);

#endif
