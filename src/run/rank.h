/* SPDX-License-Identifier: MIT
 *
 * Ranks of pages and of registered domains, and values of a page derived from them (patent CN101226533).  The pages of
 * a dump, each with its links -> a row for each page.
 *
 *	page rank	PageRank over the dump's own pages, identified by canonical URLs: several links to one page count once; links
 *			to itself and out of the dump do not count; a page without links counts as linking to all
 *	domain rank	the same over registered domains that have a page in the dump, each link between pages of two of them counting
 *			once, even if its target is not in the dump
 *	anchor weight	of a link: a fifth for each word of its text, at most 1
 *	signature	a * sum of the page ranks + b * sum of the domain ranks + c * sum of the anchor weights over the page's links,
 *			each address once, except links to the home page and navigation links
 *	quality		the same with x, y, z
 *
 * Ranks are scaled to a mean of 1.  If a URL was captured several times, the graph uses the first capture.  All sums
 * are computed in the order of the input, so the result does not depend on threads.  The order of the inputs only
 * decides which capture is the first.
 *
 * PageRank is computed by link/pagerank.h.  Memory: about 100 bytes per page and 4 per link between pages of the dump;
 * the latter are in a file if they exceed the budget.  All links are in a temporary file, 16 bytes each.
 */
#ifndef PD_WALK_RANK_H
#define PD_WALK_RANK_H

#include "base/memory.h"
#include "run/walk.h"

struct pd_rank_options {
	double damping;
	double signature[3], quality[3];       /* a, b, c; x, y, z */
	const char *page_ranks, *domain_ranks; /* files of URL or domain, tab, rank, used instead of the graph; NULL:
						 * none */
	size_t memory;			       /* for pd_walk_rank; 0: half of the machine's */
};

#define PD_RANK_DEFAULTS \
	{ \
		.damping = .85, .signature = { .6, .2, .2 }, .quality = { .2, .6, .6 } \
	}

/* Returns as pd_walk; the pages are read with their links. */
int pd_walk_rank(const struct pd_walk_options *walk, const struct pd_rank_options *o, char **inputs, int n_inputs,
		 struct pd_log *log, struct pd_err *e);

#endif
