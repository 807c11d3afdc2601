/* SPDX-License-Identifier: MIT
 *
 * M26: which page of a cluster is kept.  Ties go to the smaller id; `first` is that order alone.
 */
#ifndef PD_GROUP_KEEP_H
#define PD_GROUP_KEEP_H

#include "group/pages.h"

enum pd_keep {
	PD_KEEP_FIRST,		/* smallest id */
	PD_KEEP_LONGEST,	/* most bytes of main text */
	PD_KEEP_NEWEST,		/* latest fetch_time; unknown is oldest */
	PD_KEEP_SHORTEST_URL,	/* fewest bytes; unknown is longest */
};

/* rank[i]: place of page i, 0 the first to keep; rank and by_id hold pages->n entries.  by_id[i]: place of page i in the
 * order of ids. */
void pd_keep_rank(const struct pd_pages *pages, enum pd_keep keep, uint32_t *rank, uint32_t *by_id);

#endif
