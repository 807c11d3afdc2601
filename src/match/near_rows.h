/* SPDX-License-Identifier: MIT
 *
 * Rows of a row set -> candidate pairs of rows by the bands of their sketches (bands.h), in the order of
 * rows.  Taken part in by the first row of each part (parts.h), or, where nothing is linked and where two sides
 * are matched, by every row.
 */
#ifndef PD_MATCH_NEAR_ROWS_H
#define PD_MATCH_NEAR_ROWS_H

#include "base/items.h"
#include "match/links.h"

struct pd_near_rows {
	struct pd_items pairs;		/* a < b in the halves of the key: members, in order */
	int width;			/* of the bands; 0: there are none */
};

/* `links` knows the groups; rows without a sketch have no candidates. */
int pd_near_rows_find(struct pd_near_rows *near, const struct pd_rows *rows, const struct pd_row_set *set,
		      const struct pd_links *links, const struct pd_match_options *o, struct pd_err *e);
void pd_near_rows_release(struct pd_near_rows *near);
/* Adds the candidates of pairs.v[at] and those behind it that belong to the same first row, as far as they are in scope;
 * returns where the next row's begin. */
size_t pd_near_rows_add(const struct pd_near_rows *near, size_t at, const struct pd_links *links, const struct pd_row_set *set,
			struct pd_partners *out);

#endif
