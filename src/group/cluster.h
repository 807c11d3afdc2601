/* SPDX-License-Identifier: MIT
 *
 * Pairs -> clusters and verdicts.  `star`: every member is within reach of (a pair with) the page kept; `connected`:
 * chains count.  Pages are numbered in the order of keeping (keep.h), page 0 the first to keep; in a star they are taken
 * in that order, and the first free page becomes a centre and takes its free neighbours.  Pages with the same signature are one node: whoever reaches one reaches all.
 * Example: A~B, B~C, A≁C with A first: star keeps A and C (B goes to A), connected keeps A alone.
 *
 * Which neighbour and which edge explain a member m:
 *   star, m in the node of the page kept: `via` is the page kept; the edge joins m to it, or, when they are the same
 *     only through others, to the page of the node that is nearest to it;
 *   star, m in a neighbouring node: `via` is the page kept when m has an edge to it; else the page of the kept page's
 *     node that m has an edge to; else (m's node reaches the centre through another page p) p, and the edge is p's.
 *     Following `via` always ends at the page kept;
 *   connected: `via` is the next page on a shortest path to the page kept, and the edge joins m to it.
 * Of several that would do, `via` is the first page for shortest paths, else the edge of the smallest distance,
 * then of the first pages, then of the smallest tag.
 */
#ifndef PD_GROUP_CLUSTER_H
#define PD_GROUP_CLUSTER_H

#include "base/err.h"
#include "base/span.h"

enum pd_linkage { PD_LINKAGE_STAR, PD_LINKAGE_CONNECTED };

struct pd_edge {
	uint32_t a, b;		/* pages */
	unsigned tag : 21;	/* the caller's number of the edge: settles ties between edges that are alike */
	int distance : 10;	/* bits; 0 = same signature; PD_SAME_TEXT, PD_NO_DISTANCE */
	unsigned same : 1;	/* one node: same fingerprint or same text */
};

#define PD_SAME_TEXT (-1)
#define PD_NO_DISTANCE 511	/* it was not the fingerprint that found the pair */
#define PD_EDGE_TAGS (1 << 21)

#define PD_NO_PAGE UINT32_MAX
#define PD_NO_EDGE UINT32_MAX

struct pd_verdict {
	uint32_t keep;		/* the page kept; PD_NO_PAGE: in no cluster, and nothing else is set */
	uint32_t via;		/* neighbour towards it (itself for the page kept) */
	uint32_t edge;		/* index of the edge that explains it (above), PD_NO_EDGE for the page kept */
};

/* `members`: n_pages entries to fill.  The result depends on the set of edges alone, not on their order (of edges that
 * are alike in everything, tag and all, any may be named).  An edge from a page to itself says nothing.  PD_ERR_USAGE: an
 * edge names a page that is not there; PD_ERR_LIMIT: 2^31 edges or pages. */
int pd_cluster(const struct pd_edge *edges, size_t n_edges, size_t n_pages, enum pd_linkage linkage,
	       struct pd_verdict *members, struct pd_err *e);

#endif
