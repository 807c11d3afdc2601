/* SPDX-License-Identifier: MIT
 *
 * Links between numbered pages -> PageRank of each page, scaled to a mean of 1.
 *
 * Brin, Page: The anatomy of a large-scale hypertextual web search engine, 1998.  Power iteration over a sparse matrix
 * (compressed by rows: for each target the numbers of its sources).  A page without links counts as linking to all.
 *
 * Ranks are fixed-point numbers, so all sums are exact: the result has the same bits for any number of threads and any
 * order of the links.  If pages have other numbers, they have the same ranks.
 *
 * Memory: 28 bytes per page, and 4 bytes per link.  Beyond the budget the matrix is in a mapped file, which is filled
 * in windows that fit into the budget, with one pass over the links for each, and is read from start to end in each
 * round.
 */
#ifndef PD_LINK_PAGERANK_H
#define PD_LINK_PAGERANK_H

#include "base/memory.h"

/* Source of links.  `rewind` starts a pass; `next` returns 1 and a link, 0 at the end, or a negative status.  All passes
 * return the same links.  A link that is returned twice counts twice. */
struct pd_edges {
	int (*rewind)(void *ctx, struct pd_err *e);
	int (*next)(void *ctx, uint32_t *from, uint32_t *to, struct pd_err *e);
	void *ctx;
};

/* Ranks of `nodes` pages; *n_edges is the number of links.  The damping is at least 0 and less than 1. */
int pd_pagerank(const struct pd_edges *edges, uint32_t nodes, double damping, int threads, struct pd_budget *budget, double *rank,
		uint64_t *n_edges, struct pd_err *e);

#endif
