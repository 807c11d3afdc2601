/* SPDX-License-Identifier: MIT */
#include "group/group.h"

#include <stdlib.h>

#include "group/order.h"
#include "base/memory.h"

const char *const pd_linkage_names[] = { "star", "connected", NULL };
const char *const pd_action_names[] = { "remove", "demote", NULL };

static uint32_t nth_by_id(const struct pd_group *g, size_t i)
{
	return g->pages.by_id ? g->pages.by_id[i] : (uint32_t)i;
}

/* What will be asked of a page that comes some steps later. */
static void expect_start(const struct pd_group *g, const uint32_t *start, size_t page)
{
	uint32_t keep = page + PD_AHEAD < g->pages.n ? g->members[page + PD_AHEAD].keep : PD_NO_PAGE;
	if (keep != PD_NO_PAGE)
		__builtin_prefetch(&start[keep]);
}

/* start[page kept]: where its cluster begins in `order`. */
static uint32_t *starts_of_clusters(struct pd_group *g)
{
	uint32_t *start = pd_big_alloc((g->pages.n + 1) * sizeof *start);
	memset(start, 0, (g->pages.n + 1) * sizeof *start);
	for (size_t p = 0; p < g->pages.n; p++) {
		expect_start(g, start, p);
		if (g->members[p].keep != PD_NO_PAGE)
			start[g->members[p].keep]++;
	}
	for (size_t p = 0; p < g->pages.n; p++) {
		uint32_t size = start[p];
		start[p] = (uint32_t)g->n_members;
		g->n_members += size;
		g->n_clusters += size > 0;
	}
	return start;
}

static void arrange(struct pd_group *g)
{
	uint32_t *start = starts_of_clusters(g);
	g->order = pd_big_alloc((g->n_members + 1) * sizeof *g->order);
	for (size_t i = 0; i < g->pages.n; i++) {
		uint32_t page = nth_by_id(g, i);
		if (g->pages.by_id)
			__builtin_prefetch(&g->members[nth_by_id(g, i + PD_AHEAD < g->pages.n ? i + PD_AHEAD : i)]);
		else
			expect_start(g, start, i);
		if (g->members[page].keep != PD_NO_PAGE)
			g->order[start[g->members[page].keep]++] = page;
	}
	free(start);
}

static double similarity_of(const struct pd_group *g, const struct pd_edge *edge)
{
	struct pd_span s = pd_pages_similarity(&g->pages, edge);
	char z[32];
	if (s.n >= sizeof z || pd_span_is(s, "-"))
		return -1;
	memcpy(z, s.p, s.n);
	z[s.n] = 0;
	return strtod(z, NULL);
}

/* The share of its text that the page kept lacks: of two texts of a and b bytes and similarity j, j / (1 + j) (a + b) bytes
 * are in both.  0 where nothing is known. */
static double loss_of(struct pd_group *g, uint32_t page)
{
	const struct pd_verdict *v = &g->members[page];
	double j = similarity_of(g, &g->pages.edges[v->edge]);
	uint64_t a, b;
	if (j < 0 || j > .9995 || !pd_span_u64(pd_pages_view(&g->pages, page).text_bytes, &a) || !a ||
	    !pd_span_u64(pd_pages_view(&g->pages, v->keep).text_bytes, &b))
		return 0;
	double loss = 1 - j / (1 + j) * ((double)a + (double)b) / (double)a;
	return loss > 0 ? loss : 0;
}

/* Of `left` (all pages at first) those that would take too much with them leave their clusters, and `left` is those. */
static size_t spare(struct pd_group *g, bool *left)
{
	size_t n = 0;
	for (uint32_t p = 0; p < g->pages.n; p++) {
		struct pd_verdict *v = &g->members[p];
		left[p] = left[p] && v->keep != PD_NO_PAGE && v->keep != p && loss_of(g, p) > g->o->max_loss;
		n += left[p];
	}
	for (uint32_t p = 0; p < g->pages.n; p++)
		if (left[p])
			g->members[p].keep = PD_NO_PAGE;
	return n;
}

/* Clusters of the pages that are left, by the pairs among them: two that are alike need not both stay. */
static int cluster_left(struct pd_group *g, const bool *left, struct pd_err *e)
{
	const struct pd_pages *pages = &g->pages;
	struct pd_edge *edges = NULL;
	uint32_t *index = NULL;
	size_t n = 0, cap_edges = 0, cap_index = 0;
	for (size_t i = 0; i < pages->n_edges; i++) {
		if (!left[pages->edges[i].a] || !left[pages->edges[i].b])
			continue;
		edges = pd_big_grow(edges, n, &cap_edges, sizeof *edges);
		index = pd_big_grow(index, n, &cap_index, sizeof *index);
		edges[n] = pages->edges[i];
		index[n++] = (uint32_t)i;
	}
	struct pd_verdict *members = n ? pd_big_alloc((pages->n + 1) * sizeof *members) : NULL;
	int status = n ? pd_cluster(edges, n, pages->n, g->o->linkage, members, e) : PD_OK;
	for (uint32_t p = 0; n && !status && p < pages->n; p++) {
		if (!left[p] || members[p].keep == PD_NO_PAGE)
			continue;
		g->members[p] = members[p];
		if (members[p].edge != PD_NO_EDGE)
			g->members[p].edge = index[members[p].edge];
	}
	free(members);
	free(edges);
	free(index);
	return status;
}

/* Those that were reached through a page that left are explained by the page kept; one that stands for no other is in no
 * cluster. */
static void settle_clusters(struct pd_group *g)
{
	uint32_t *size = pd_zalloc((g->pages.n + 1) * sizeof *size);
	for (uint32_t p = 0; p < g->pages.n; p++)
		if (g->members[p].keep != PD_NO_PAGE && g->members[p].keep != p)
			size[g->members[p].keep]++;
	for (uint32_t p = 0; p < g->pages.n; p++) {
		struct pd_verdict *v = &g->members[p];
		if (v->keep == p && !size[p])
			v->keep = PD_NO_PAGE;
		else if (v->keep != PD_NO_PAGE && g->members[v->via].keep != v->keep)
			v->via = v->keep;
	}
	free(size);
}

/* No page goes that would take too much with it.  What leaves a cluster may find another page to go for, a few times. */
static int limit_loss(struct pd_group *g, struct pd_err *e)
{
	enum { ROUNDS = 8 };
	bool *left = pd_alloc(g->pages.n + 1), *spared = pd_alloc(g->pages.n + 1);
	memset(left, 1, g->pages.n + 1);
	size_t n = spare(g, left);
	int status = PD_OK;
	memcpy(spared, left, g->pages.n);
	for (int i = 0; i < ROUNDS && n && !status; i++) {
		status = cluster_left(g, left, e);
		n = spare(g, left);
	}
	settle_clusters(g);
	for (uint32_t p = 0; p < g->pages.n; p++)
		g->n_spared += spared[p] && (g->members[p].keep == PD_NO_PAGE || g->members[p].keep == p);
	free(spared);
	free(left);
	return status;
}

int pd_group_open(struct pd_group *g, const struct pd_group_options *o, struct pd_err *e)
{
	*g = (struct pd_group){ .o = o };
	int status = pd_pages_read(&g->pages, &o->in, e);
	if (!status)
		status = pd_keep_order(&g->pages, &o->keep, &o->in, e);
	if (status)
		return status;
	g->members = pd_big_alloc((g->pages.n + 1) * sizeof *g->members);
	status = pd_cluster(g->pages.edges, g->pages.n_edges, g->pages.n, o->linkage, g->members, e);
	if (status)
		return status;
	if (o->max_loss > 0 && o->max_loss < 1)
		status = limit_loss(g, e);
	if (status)
		return status;
	arrange(g);
	return pd_pages_arrange(&g->pages, g->order, g->n_members, o->in.tmp_dir, e);
}

/* Members that come soon: their verdicts, then their lines. */
static void expect_member(const struct pd_group *g)
{
	if (g->at + 2 * PD_AHEAD >= g->n_members)
		return;
	__builtin_prefetch(&g->members[g->order[g->at + 2 * PD_AHEAD]]);
	pd_pages_expect_place(&g->pages, g->order[g->at + 2 * PD_AHEAD]);
	pd_pages_expect(&g->pages, g->order[g->at + PD_AHEAD / 2]);
}

int pd_group_next(struct pd_group *g, struct pd_group_member *out)
{
	if (g->at == g->n_members)
		return 0;
	expect_member(g);
	uint32_t page = g->order[g->at], keep = g->members[page].keep;
	if (g->at == g->end) {
		g->cluster++;
		while (g->end < g->n_members && g->members[g->order[g->end]].keep == keep)
			g->end++;
		g->size = (uint32_t)(g->end - g->at);
	}
	*out = (struct pd_group_member){ page, g->cluster, g->size, &g->members[page] };
	g->at++;
	return 1;
}

void pd_group_release(struct pd_group *g)
{
	pd_pages_release(&g->pages);
	free(g->members);
	free(g->order);
	*g = (struct pd_group){ 0 };
}
