/* SPDX-License-Identifier: MIT
 *
 * Rows in groups, in little memory: a group has the name of its first (smallest) row, and only crowds, groups of two rows
 * or more, are written down.  Most rows are alone, and cost a bit.
 *
 *	rows      0 1 2 3 4      crowded  1 1 1 0 1      crowd of the crowded rows  0 1 0 1
 *	name      0 1 0 3 1      start    0 2 4          rows                       0 2 | 1 4
 */
#ifndef PD_MATCH_GROUPS_H
#define PD_MATCH_GROUPS_H

#include "base/items.h"

#define PD_GROUPS_RANKED 8	/* words of bits that one count of those before them serves */

struct pd_groups {
	size_t n_rows, n_groups;	/* those of one row included */
	size_t n_crowds;		/* 0: there is nothing below */
	uint32_t *start;		/* n_crowds + 1: where a crowd's rows begin; crowds in the order of their first rows */
	uint32_t *rows;			/* of crowd 0, ascending, then of crowd 1 … */
	uint64_t *crowded;		/* a bit for each row */
	uint32_t *rank;			/* how many rows before these words of bits are crowded */
	uint32_t *crowd;		/* of the crowded rows, in their order */
	struct pd_array memory[3];	/* of start, rows and crowd */
};

/* Some rows of a group, in an order; a single one needs no array. */
struct pd_row_run {
	const uint32_t *v;		/* NULL: `one` alone */
	size_t n;
	uint32_t one;
};

static inline uint32_t pd_row_run_at(const struct pd_row_run *r, size_t i)
{
	return r->v ? r->v[i] : r->one;
}

static inline bool pd_groups_crowded(const struct pd_groups *g, uint32_t row)
{
	return g->n_crowds && (g->crowded[row / 64] >> (row % 64) & 1);
}

/* Items whose keys are (first row of a group, another of its rows), in order, become the groups of n rows; those that no
 * item names are alone.  What `g` held is given back. */
void pd_groups_make(struct pd_groups *g, size_t n_rows, const struct pd_items *followers, struct pd_budget *budget);
void pd_groups_release(struct pd_groups *g);
/* Which crowd a crowded row is in. */
uint32_t pd_groups_crowd(const struct pd_groups *g, uint32_t row);
/* The first crowded row that is not below `row`; UINT32_MAX: there is none. */
uint32_t pd_groups_next(const struct pd_groups *g, uint32_t row);
/* The names of all groups, ascending, in a block: what pd_join takes for keys that differ.  NULL: every row is alone. */
uint32_t *pd_groups_names(const struct pd_groups *g, struct pd_array *out, struct pd_budget *budget);

/* The name of a row's group. */
static inline uint32_t pd_groups_name(const struct pd_groups *g, uint32_t row)
{
	return pd_groups_crowded(g, row) ? g->rows[g->start[pd_groups_crowd(g, row)]] : row;
}

/* All rows of the group that `row` is in. */
static inline struct pd_row_run pd_groups_run(const struct pd_groups *g, uint32_t row)
{
	if (!pd_groups_crowded(g, row))
		return (struct pd_row_run){ NULL, 1, row };
	uint32_t crowd = pd_groups_crowd(g, row);
	return (struct pd_row_run){ g->rows + g->start[crowd], g->start[crowd + 1] - g->start[crowd], 0 };
}

#endif
