/* SPDX-License-Identifier: MIT
 *
 * Edges between pages in, a cluster, a page to keep and a reason for each member out.  Pages are first put in groups
 * (star: pages that are the same, the nodes; connected: all that edges join), each named by its page of best rank, so
 * that walking pages in the order of rank meets groups in the order of their best page.  Memory and time are linear but
 * for the union-find.
 */
#include "group/cluster.h"

#include <stdlib.h>

#include "base/buf.h"

#define NONE UINT32_MAX

struct graph {
	const struct pd_edge *edges;
	const uint32_t *rank;
	size_t n_edges, n_pages;
	struct pd_verdict *members;
	uint32_t n_clusters;
	uint32_t *by_rank;	/* rank -> page */
	uint32_t *start, *links;	/* page p: edges links[start[p]] .. links[start[p + 1] - 1] */
	uint32_t *group;	/* page -> best page of its group */
	uint32_t *next;		/* page -> next page of its group by rank, from the best on */
	uint32_t *depth;	/* page -> steps from the best page, inside the group */
	uint32_t *queue;
};

/* What only `star` needs. */
struct star {
	struct graph *g;
	uint32_t *owner;	/* node (its best page) -> centre that took it */
	uint32_t *own_edge;	/* page -> its best edge to the centre's node */
	uint32_t *node_edge;	/* node -> its best edge to the centre's node */
	uint32_t *taken;	/* nodes that the present centre took */
	size_t n_taken;
};

static uint32_t *fresh(size_t n)
{
	uint32_t *v = pd_alloc((n + 2) * sizeof *v);
	memset(v, 0xff, (n + 2) * sizeof *v);
	return v;
}

static uint32_t other_end(const struct graph *g, uint32_t edge, uint32_t page)
{
	const struct pd_edge *e = &g->edges[edge];
	return e->a == page ? e->b : e->a;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* The better of two edges (NONE: no edge), by distance, ranks of its ends, sameness, tag. */
static uint32_t better(const struct graph *g, uint32_t x, uint32_t y)
{
	if (x == NONE || y == NONE)
		return x == NONE ? y : x;
	const struct pd_edge *e = &g->edges[x], *f = &g->edges[y];
	uint32_t ea = g->rank[e->a], eb = g->rank[e->b], fa = g->rank[f->a], fb = g->rank[f->b];
	int c = (e->distance > f->distance) - (e->distance < f->distance);
	if (!c)
		c = compare_u32(ea < eb ? ea : eb, fa < fb ? fa : fb);
	if (!c)
		c = compare_u32(ea < eb ? eb : ea, fa < fb ? fb : fa);
	if (!c)
		c = f->same - e->same;
	if (!c)
		c = compare_u32(e->tag, f->tag);
	return c <= 0 ? x : y;
}

/* The better of two edges, those to the page kept first. */
static uint32_t better_to(const struct graph *g, uint32_t keep, uint32_t x, uint32_t y)
{
	bool has_x = x != NONE && (g->edges[x].a == keep || g->edges[x].b == keep);
	bool has_y = y != NONE && (g->edges[y].a == keep || g->edges[y].b == keep);
	if (has_x != has_y)
		return has_x ? x : y;
	return better(g, x, y);
}

static int check(struct graph *g, struct pd_err *e)
{
	if (g->n_edges >= UINT32_C(1) << 31 || g->n_pages >= UINT32_C(1) << 31)
		return pd_fail(e, PD_ERR_LIMIT, "%zu pages and %zu pairs: at most 2,147,483,647 of each can be clustered",
			       g->n_pages, g->n_edges);
	for (size_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].a >= g->n_pages || g->edges[i].b >= g->n_pages)
			return pd_fail(e, PD_ERR_USAGE, "pair %zu names a page that is not there", i);
	g->by_rank = fresh(g->n_pages);
	for (size_t p = 0; p < g->n_pages; p++) {
		if (g->rank[p] >= g->n_pages || g->by_rank[g->rank[p]] != NONE)
			return pd_fail(e, PD_ERR_USAGE, "page %zu has rank %u, which is too large or taken", p, g->rank[p]);
		g->by_rank[g->rank[p]] = (uint32_t)p;
	}
	return PD_OK;
}

static void build_links(struct graph *g)
{
	g->start = pd_zalloc((g->n_pages + 2) * sizeof *g->start);
	g->links = pd_alloc((2 * g->n_edges + 1) * sizeof *g->links);
	uint32_t *next = g->start + 1;
	for (size_t i = 0; i < g->n_edges; i++) {
		next[g->edges[i].a + 1]++;
		next[g->edges[i].b + 1]++;
	}
	for (size_t p = 1; p < g->n_pages; p++)
		next[p] += next[p - 1];
	for (size_t i = 0; i < g->n_edges; i++) {
		g->links[next[g->edges[i].a]++] = (uint32_t)i;
		g->links[next[g->edges[i].b]++] = (uint32_t)i;
	}
}

/* The name of a page's group while groups still grow; paths are halved on the way. */
static uint32_t find(uint32_t *group, uint32_t page)
{
	while (group[page] != page) {
		group[page] = group[group[page]];
		page = group[page];
	}
	return page;
}

static void make_groups(struct graph *g, bool only_same)
{
	g->group = fresh(g->n_pages);
	g->next = fresh(g->n_pages);
	for (size_t p = 0; p < g->n_pages; p++)
		g->group[p] = (uint32_t)p;
	for (size_t i = 0; i < g->n_edges; i++) {
		if (only_same && !g->edges[i].same)
			continue;
		uint32_t a = find(g->group, g->edges[i].a), b = find(g->group, g->edges[i].b);
		if (g->rank[a] < g->rank[b])
			g->group[b] = a;
		else
			g->group[a] = b;
	}
	/* From the worst on, each page is put right behind the best of its group. */
	for (size_t r = g->n_pages; r-- > 0;) {
		uint32_t p = g->by_rank[r], best = find(g->group, p);
		g->group[p] = best;
		if (p == best)
			continue;
		g->next[p] = g->next[best];
		g->next[best] = p;
	}
}

/* Steps from the best page to each page of its group, inside it. */
static void measure_depths(struct graph *g, uint32_t best)
{
	size_t head = 0, tail = 0;
	g->depth[best] = 0;
	g->queue[tail++] = best;
	while (head < tail) {
		uint32_t p = g->queue[head++];
		for (uint32_t i = g->start[p]; i < g->start[p + 1]; i++) {
			uint32_t q = other_end(g, g->links[i], p);
			if (g->group[q] != best || g->depth[q] != NONE)
				continue;
			g->depth[q] = g->depth[p] + 1;
			g->queue[tail++] = q;
		}
	}
}

/* The edge to the next page on a shortest path to the best page of the group, the one of best rank. */
static uint32_t edge_towards(const struct graph *g, uint32_t page)
{
	uint32_t edge = NONE, via = NONE;
	for (uint32_t i = g->start[page]; i < g->start[page + 1]; i++) {
		uint32_t q = other_end(g, g->links[i], page);
		if (g->group[q] != g->group[page] || g->depth[q] + 1 != g->depth[page])
			continue;
		if (via == NONE || g->rank[q] < g->rank[via]) {
			via = q;
			edge = g->links[i];
		} else if (q == via) {
			edge = better(g, edge, g->links[i]);
		}
	}
	return edge;
}

static void set_member(struct graph *g, uint32_t page, uint32_t keep, uint32_t via, uint32_t edge)
{
	g->members[page] = (struct pd_verdict){ g->n_clusters, keep, via, edge };
}

static void connect(struct graph *g)
{
	for (size_t r = 0; r < g->n_pages; r++) {
		uint32_t best = g->by_rank[r];
		if (g->group[best] != best || g->next[best] == NONE)
			continue;
		measure_depths(g, best);
		set_member(g, best, best, best, NONE);
		for (uint32_t p = g->next[best]; p != NONE; p = g->next[p]) {
			uint32_t edge = edge_towards(g, p);
			set_member(g, p, best, other_end(g, edge, p), edge);
		}
		g->n_clusters++;
	}
}

/* An edge from the centre's node to page q of another node. */
static void reach(struct star *s, uint32_t centre, uint32_t edge, uint32_t q)
{
	uint32_t node = s->g->group[q];
	if (node == centre)
		return;
	if (s->owner[node] == NONE) {
		s->owner[node] = centre;
		s->taken[s->n_taken++] = node;
	}
	if (s->owner[node] != centre)
		return;
	s->own_edge[q] = better_to(s->g, centre, s->own_edge[q], edge);
	s->node_edge[node] = better_to(s->g, centre, s->node_edge[node], edge);
}

static void take_neighbours(struct star *s, uint32_t centre)
{
	const struct graph *g = s->g;
	s->n_taken = 0;
	s->owner[centre] = centre;
	for (uint32_t p = centre; p != NONE; p = g->next[p])
		for (uint32_t i = g->start[p]; i < g->start[p + 1]; i++)
			reach(s, centre, g->links[i], other_end(g, g->links[i], p));
}

static void set_own_node(struct graph *g, uint32_t centre)
{
	measure_depths(g, centre);
	set_member(g, centre, centre, centre, NONE);
	for (uint32_t p = g->next[centre]; p != NONE; p = g->next[p])
		set_member(g, p, centre, centre, edge_towards(g, p));
}

static void set_taken_node(struct star *s, uint32_t centre, uint32_t node)
{
	struct graph *g = s->g;
	uint32_t shared = s->node_edge[node];
	uint32_t reached = g->group[g->edges[shared].a] == node ? g->edges[shared].a : g->edges[shared].b;
	for (uint32_t p = node; p != NONE; p = g->next[p])
		if (s->own_edge[p] != NONE)
			set_member(g, p, centre, other_end(g, s->own_edge[p], p), s->own_edge[p]);
		else
			set_member(g, p, centre, reached, shared);
}

static void make_stars(struct graph *g)
{
	struct star s = { .g = g, .owner = fresh(g->n_pages), .own_edge = fresh(g->n_pages),
			  .node_edge = fresh(g->n_pages), .taken = fresh(g->n_pages) };
	for (size_t r = 0; r < g->n_pages; r++) {
		uint32_t centre = g->by_rank[r];
		if (g->group[centre] != centre || s.owner[centre] != NONE)
			continue;
		take_neighbours(&s, centre);
		if (!s.n_taken && g->next[centre] == NONE)
			continue;
		set_own_node(g, centre);
		for (size_t i = 0; i < s.n_taken; i++)
			set_taken_node(&s, centre, s.taken[i]);
		g->n_clusters++;
	}
	free(s.owner);
	free(s.own_edge);
	free(s.node_edge);
	free(s.taken);
}

static void release(struct graph *g)
{
	free(g->by_rank);
	free(g->start);
	free(g->links);
	free(g->group);
	free(g->next);
	free(g->depth);
	free(g->queue);
}

int pd_cluster(const struct pd_edge *edges, size_t n_edges, const uint32_t *rank, size_t n_pages,
	       enum pd_linkage linkage, struct pd_verdict *members, struct pd_err *e)
{
	struct graph g = { .edges = edges, .rank = rank, .n_edges = n_edges, .n_pages = n_pages, .members = members };
	int status = check(&g, e);
	if (status)
		goto out;
	for (size_t i = 0; i < n_pages; i++)
		members[i] = (struct pd_verdict){ PD_NO_CLUSTER, NONE, NONE, NONE };
	build_links(&g);
	make_groups(&g, linkage == PD_LINKAGE_STAR);
	g.depth = fresh(n_pages);
	g.queue = fresh(n_pages);
	if (linkage == PD_LINKAGE_STAR)
		make_stars(&g);
	else
		connect(&g);
out:
	release(&g);
	return status;
}
