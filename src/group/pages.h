/* SPDX-License-Identifier: MIT
 *
 * pairs rows -> pages and edges between them, for cluster.h.  Each page is known by its id and stands once.
 */
#ifndef PD_GROUP_PAGES_H
#define PD_GROUP_PAGES_H

#include "base/buf.h"
#include "base/err.h"
#include "group/cluster.h"

struct pd_group_page {
	struct pd_span id, url, fetch_time;	/* escaped as they came; "-" when unknown */
	uint64_t text_bytes;
};

struct pd_pages {
	struct pd_group_page *v;
	size_t n, cap;
	struct pd_edge *edges;
	struct pd_span *similarity;	/* by edge, as it came */
	size_t n_edges, cap_edges, cap_similarity;
	uint64_t bad;			/* rows that could not be read: reported and left out */
	struct pd_buf must, totals;	/* of the header, for the next stage */
	/* its own */
	struct pd_arena *arena;
	uint32_t *table;		/* open addressing, by hash of the id */
	size_t table_cap;
	bool same_is_one;		/* equal signatures are one node (not with scope other-hosts) */
};

struct pd_pages_options {
	char **paths;
	int n_paths;
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

int pd_pages_read(struct pd_pages *p, const struct pd_pages_options *o, struct pd_err *e);
void pd_pages_release(struct pd_pages *p);

#endif
