/* SPDX-License-Identifier: MIT
 *
 * Edges between pages in, a page to keep and a reason for each member out.  Pages are first put in groups (star: pages
 * that are the same, the nodes; connected: all that edges join), each named by its first page, so that walking pages in
 * their order meets groups in the order of their first page.  Time is linear but for the union-find; memory: 8 bytes for
 * an edge and 16 for a page beside what the caller has.
 */
#include "group/cluster.h"

#include <stdlib.h>

#include "base/buf.h"

#define NONE UINT32_MAX

struct graph {
	const struct pd_edge *edges;
	size_t n_edges, n_pages;
	struct pd_verdict *members;
	uint32_t *start, *links;	/* page p: edges links[start[p]] .. links[start[p + 1] - 1] */
	uint32_t *group;	/* page -> first page of its group */
	uint32_t *next;		/* page -> next page of its group */
	uint32_t *depth;	/* page -> steps from the first page, inside the group */
	uint32_t *list;		/* pages of a group in the order of depth; nodes that a centre took */
	size_t n_list, cap_list;
};

static uint32_t *fresh(size_t n)
{
	uint32_t *v = pd_alloc((n + 2) * sizeof *v);
	memset(v, 0xff, (n + 2) * sizeof *v);
	return v;
}

static void list_add(struct graph *g, uint32_t page)
{
	g->list = pd_grow(g->list, g->n_list, &g->cap_list, sizeof *g->list);
	g->list[g->n_list++] = page;
}

static uint32_t other_end(const struct graph *g, uint32_t edge, uint32_t page)
{
	const struct pd_edge *e = &g->edges[edge];
	return e->a == page ? e->b : e->a;
}

static int up(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* The better of two edges (NONE: no edge), by distance, its ends, sameness, tag. */
static uint32_t better(const struct graph *g, uint32_t x, uint32_t y)
{
	if (x == NONE || y == NONE)
		return x == NONE ? y : x;
	const struct pd_edge *e = &g->edges[x], *f = &g->edges[y];
	int c = (e->distance > f->distance) - (e->distance < f->distance);
	if (!c)
		c = up(e->a < e->b ? e->a : e->b, f->a < f->b ? f->a : f->b);
	if (!c)
		c = up(e->a < e->b ? e->b : e->a, f->a < f->b ? f->b : f->a);
	if (!c)
		c = f->same - e->same;
	if (!c)
		c = up(e->tag, f->tag);
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

static int check(const struct graph *g, struct pd_err *e)
{
	if (g->n_edges >= UINT32_C(1) << 31 || g->n_pages >= UINT32_C(1) << 31)
		return pd_fail(e, PD_ERR_LIMIT, "%zu pages and %zu pairs: at most 2,147,483,647 of each can be clustered",
			       g->n_pages, g->n_edges);
	for (size_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].a >= g->n_pages || g->edges[i].b >= g->n_pages)
			return pd_fail(e, PD_ERR_USAGE, "pair %zu names a page that is not there", i);
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
		if (a < b)
			g->group[b] = a;
		else
			g->group[a] = b;
	}
	/* From the last on, each page is put right behind the first of its group. */
	for (size_t p = g->n_pages; p-- > 0;) {
		uint32_t best = find(g->group, (uint32_t)p);
		g->group[p] = best;
		if (p == best)
			continue;
		g->next[p] = g->next[best];
		g->next[best] = (uint32_t)p;
	}
}

/* Steps from the first page to each page of its group, inside it. */
static void measure_depths(struct graph *g, uint32_t best)
{
	g->depth[best] = 0;
	g->n_list = 0;
	list_add(g, best);
	for (size_t head = 0; head < g->n_list; head++) {
		uint32_t p = g->list[head];
		for (uint32_t i = g->start[p]; i < g->start[p + 1]; i++) {
			uint32_t q = other_end(g, g->links[i], p);
			if (g->group[q] != best || g->depth[q] != NONE)
				continue;
			g->depth[q] = g->depth[p] + 1;
			list_add(g, q);
		}
	}
}

/* The edge to the next page on a shortest path to the first page of the group, the first of those that would do. */
static uint32_t edge_towards(const struct graph *g, uint32_t page)
{
	uint32_t edge = NONE, via = NONE;
	for (uint32_t i = g->start[page]; i < g->start[page + 1]; i++) {
		uint32_t q = other_end(g, g->links[i], page);
		if (g->group[q] != g->group[page] || g->depth[q] + 1 != g->depth[page])
			continue;
		if (via == NONE || q < via) {
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
	g->members[page] = (struct pd_verdict){ keep, via, edge };
}

static void connect(struct graph *g)
{
	for (uint32_t best = 0; best < g->n_pages; best++) {
		if (g->group[best] != best || g->next[best] == NONE)
			continue;
		measure_depths(g, best);
		set_member(g, best, best, best, NONE);
		for (uint32_t p = g->next[best]; p != NONE; p = g->next[p]) {
			uint32_t edge = edge_towards(g, p);
			set_member(g, p, best, other_end(g, edge, p), edge);
		}
	}
}

/* An edge from the centre's node to page q of another node.  Until a node is settled its first page holds the centre that
 * took it, and each of its pages its best edge to the centre's node. */
static void reach(struct graph *g, uint32_t centre, uint32_t edge, uint32_t q)
{
	uint32_t node = g->group[q];
	if (node == centre)
		return;
	if (g->members[node].keep == NONE) {
		g->members[node].keep = centre;
		list_add(g, node);
	}
	if (g->members[node].keep == centre)
		g->members[q].edge = better_to(g, centre, g->members[q].edge, edge);
}

static void take_neighbours(struct graph *g, uint32_t centre)
{
	g->n_list = 0;
	for (uint32_t p = centre; p != NONE; p = g->next[p])
		for (uint32_t i = g->start[p]; i < g->start[p + 1]; i++)
			reach(g, centre, g->links[i], other_end(g, g->links[i], p));
}

/* A page that the centre reaches is explained by its own best edge, any other of the node by the node's best. */
static void set_taken_node(struct graph *g, uint32_t centre, uint32_t node)
{
	uint32_t shared = NONE;
	for (uint32_t p = node; p != NONE; p = g->next[p])
		shared = better_to(g, centre, shared, g->members[p].edge);
	uint32_t reached = g->group[g->edges[shared].a] == node ? g->edges[shared].a : g->edges[shared].b;
	for (uint32_t p = node; p != NONE; p = g->next[p]) {
		uint32_t own = g->members[p].edge;
		if (own != NONE)
			set_member(g, p, centre, other_end(g, own, p), own);
		else
			set_member(g, p, centre, reached, shared);
	}
}

static void set_own_node(struct graph *g, uint32_t centre)
{
	measure_depths(g, centre);
	set_member(g, centre, centre, centre, NONE);
	for (uint32_t p = g->next[centre]; p != NONE; p = g->next[p])
		set_member(g, p, centre, centre, edge_towards(g, p));
}

static void make_stars(struct graph *g)
{
	for (uint32_t centre = 0; centre < g->n_pages; centre++) {
		if (g->group[centre] != centre || g->members[centre].keep != NONE)
			continue;
		take_neighbours(g, centre);
		if (!g->n_list && g->next[centre] == NONE)
			continue;
		for (size_t i = 0; i < g->n_list; i++)
			set_taken_node(g, centre, g->list[i]);
		set_own_node(g, centre);
	}
}

static void release(struct graph *g)
{
	free(g->start);
	free(g->links);
	free(g->group);
	free(g->next);
	free(g->depth);
	free(g->list);
}

int pd_cluster(const struct pd_edge *edges, size_t n_edges, size_t n_pages, enum pd_linkage linkage,
	       struct pd_verdict *members, struct pd_err *e)
{
	struct graph g = { .edges = edges, .n_edges = n_edges, .n_pages = n_pages, .members = members };
	int status = check(&g, e);
	if (status)
		return status;
	for (size_t i = 0; i < n_pages; i++)
		members[i] = (struct pd_verdict){ PD_NO_PAGE, NONE, PD_NO_EDGE };
	build_links(&g);
	make_groups(&g, linkage == PD_LINKAGE_STAR);
	g.depth = fresh(n_pages);
	if (linkage == PD_LINKAGE_STAR)
		make_stars(&g);
	else
		connect(&g);
	release(&g);
	return PD_OK;
}
