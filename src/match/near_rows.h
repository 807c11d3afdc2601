/* SPDX-License-Identifier: MIT
 *
 * Rows of a row set -> candidate pairs of rows by the bands of their sketches (bands.h), handed out row by row in
 * ascending order.  Taken part in by the first row of each part (parts.h), or, where nothing is linked and where two sides
 * are matched, by every row.
 */
#ifndef PD_MATCH_NEAR_ROWS_H
#define PD_MATCH_NEAR_ROWS_H

#include "match/items.h"
#include "match/links.h"

struct pd_near_rows {
	struct pd_items pairs;		/* a < b in the halves of the key: members, in order */
	size_t at;
	int width;			/* of the bands; 0: there are none */
};

/* `links` knows the groups; rows without a sketch have no candidates. */
void pd_near_rows_find(struct pd_near_rows *near, const struct pd_rows *rows, const struct pd_row_set *set,
		       const struct pd_links *links, const struct pd_match_options *o);
void pd_near_rows_release(struct pd_near_rows *near);
/* The row whose candidates come next; UINT32_MAX: no more. */
static inline uint32_t pd_near_rows_next(const struct pd_near_rows *near)
{
	return near->at < near->pairs.n ? (uint32_t)(near->pairs.v[near->at].key >> 32) : UINT32_MAX;
}

/* Adds a's candidates that are in scope; no row with candidates may be passed over. */
void pd_near_rows_add(struct pd_near_rows *near, const struct pd_links *links, const struct pd_row_set *set, uint32_t a,
		      struct pd_partners *out);

#endif
