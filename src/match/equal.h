/* SPDX-License-Identifier: MIT
 *
 * Rows with keys -> groups of rows whose keys are equal.  Equality is a join of its own: only one row of a group (its
 * representative, the smallest row) goes on to pd_join, and the rest follow it.  Rows come numbered in the order of ids.
 *
 *	rows    0 1 2 3 4      group  0 1 0 2 1      first  0 1 3
 *	keys    A B A C B      start  0 2 4 5        rows   0 2 | 1 4 | 3
 */
#ifndef PD_MATCH_EQUAL_H
#define PD_MATCH_EQUAL_H

#include "base/err.h"
#include "base/hash.h"

struct pd_groups {
	size_t n_rows, n_groups;
	uint32_t *group;	/* row -> its group; groups are numbered by their smallest row */
	uint32_t *first;	/* group -> its representative, the smallest of its rows: ascending */
	uint32_t *start;	/* n_groups + 1: where a group's rows begin */
	uint32_t *rows;		/* the rows of group 0, ascending, then of group 1 … */
};

/* Row i has the key keys[i * words] … of `words` words, 1 to PD_KEY_WORDS, and, unless salt is NULL, salt[i] (the hash
 * of its host, say): rows are equal when both are.  `out` is filled anew, its memory kept from before is given back
 * first.  PD_ERR_LIMIT: 2^31 rows or more. */
int pd_equal_groups(const uint64_t *keys, int words, const uint64_t *salt, size_t n, struct pd_groups *out,
		    struct pd_err *e);
/* The keys of the representatives alone, in the order of groups: what pd_join takes.  The caller frees them. */
uint64_t *pd_groups_keys(const struct pd_groups *g, const uint64_t *keys, int words);
/* `start` and `rows` anew from `group`, of which there are n_groups now. */
void pd_groups_list(struct pd_groups *g);
void pd_groups_release(struct pd_groups *g);

#endif
