/* SPDX-License-Identifier: MIT
 *
 * Rows with keys -> groups of rows whose keys are equal, in little memory: a group has the name of its first (smallest) row,
 * and only multi-member groups, those of two rows or more, are written down.  Most rows are alone, and cost a bit.
 *
 *	rows      0 1 2 3 4      is_multi  1 1 1 0 1      multi (group of such rows)  0 1 0 1
 *	name      0 1 0 3 1      start    0 2 4          rows                       0 2 | 1 4
 */
#ifndef PD_MATCH_GROUPS_H
#define PD_MATCH_GROUPS_H

#include "base/err.h"
#include "base/items.h"

#define PD_GROUPS_RANKED 8	/* words of bits that one count of those before them serves */

struct pd_match_groups {
	size_t n_rows, n_groups;	/* those of one row included */
	size_t n_multi;		/* 0: there is nothing below */
	uint32_t *start;		/* n_multi + 1: where a group's rows begin; groups in the order of their first rows */
	uint32_t *rows;			/* of multi-member group 0, ascending, then of 1 … */
	uint64_t *is_multi;		/* a bit for each row */
	uint32_t *rank;			/* how many rows before these words of bits are in such a group */
	uint32_t *multi;		/* which group: of the rows in one, in their order */
	struct pd_array memory[3];	/* of start, rows and multi */
};

/* Some rows of a group, in an order; a single one needs no array. */
struct pd_match_members {
	const uint32_t *v;		/* NULL: `one` alone */
	size_t n;
	uint32_t one;
};

static inline uint32_t pd_match_members_at(const struct pd_match_members *r, size_t i)
{
	return r->v ? r->v[i] : r->one;
}

static inline bool pd_match_groups_is_multi(const struct pd_match_groups *g, uint32_t row)
{
	return g->n_multi && (g->is_multi[row / 64] >> (row % 64) & 1);
}

/* Items whose keys are (first row of a group, another of its rows), in order, become the groups of n rows; those that no
 * item names are alone.  What `g` held is given back. */
void pd_match_groups_make(struct pd_match_groups *g, size_t n_rows, const struct pd_items *followers, struct pd_budget *budget);
void pd_match_groups_release(struct pd_match_groups *g);
/* Which multi-member group a row of one is in. */
uint32_t pd_match_groups_multi(const struct pd_match_groups *g, uint32_t row);
/* The first row of a multi-member group that is not below `row`; UINT32_MAX: there is none. */
uint32_t pd_match_groups_next(const struct pd_match_groups *g, uint32_t row);
/* The names of all groups, ascending, in a block: what pd_join takes for keys that differ.  NULL: every row is alone. */
uint32_t *pd_match_groups_names(const struct pd_match_groups *g, struct pd_array *out, struct pd_budget *budget);

/* The name of a row's group. */
static inline uint32_t pd_match_groups_name(const struct pd_match_groups *g, uint32_t row)
{
	return pd_match_groups_is_multi(g, row) ? g->rows[g->start[pd_match_groups_multi(g, row)]] : row;
}

/* All rows of the group that `row` is in. */
static inline struct pd_match_members pd_match_groups_members(const struct pd_match_groups *g, uint32_t row)
{
	if (!pd_match_groups_is_multi(g, row))
		return (struct pd_match_members){ NULL, 1, row };
	uint32_t multi = pd_match_groups_multi(g, row);
	return (struct pd_match_members){ g->rows + g->start[multi], g->start[multi + 1] - g->start[multi], 0 };
}

/* Row i has the key keys[i * words] … of `words` words, 1 to PD_KEY_WORDS; rows come numbered in the order of ids.  `out` is
 * filled anew, its memory kept from before is given back first.  The same for any number of threads and any budget (NULL:
 * none).  PD_ERR_LIMIT: 2^31 rows or more. */
int pd_match_groups_find(const uint64_t *keys, int words, size_t n, int threads, struct pd_budget *budget, struct pd_match_groups *out,
		    struct pd_err *e);

#endif
