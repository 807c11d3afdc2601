/* SPDX-License-Identifier: MIT */
#include "group/group.h"

#include <stdlib.h>

const char *const pd_linkage_names[] = { "star", "connected", NULL };
const char *const pd_action_names[] = { "remove", "demote", NULL };

/* start[page kept]: where its cluster begins in `order`. */
static uint32_t *starts_of_clusters(struct pd_group *g)
{
	uint32_t *start = pd_zalloc((g->pages.n + 1) * sizeof *start);
	for (size_t p = 0; p < g->pages.n; p++)
		if (g->members[p].keep != PD_NO_PAGE)
			start[g->members[p].keep]++;
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
	g->order = pd_alloc((g->n_members + 1) * sizeof *g->order);
	for (size_t i = 0; i < g->pages.n; i++) {
		uint32_t page = g->pages.by_id ? g->pages.by_id[i] : (uint32_t)i;
		if (g->members[page].keep != PD_NO_PAGE)
			g->order[start[g->members[page].keep]++] = page;
	}
	free(start);
}

int pd_group_open(struct pd_group *g, const struct pd_group_options *o, struct pd_err *e)
{
	*g = (struct pd_group){ .o = o };
	int status = pd_pages_read(&g->pages, &o->in, e);
	if (!status)
		status = pd_keep_order(&g->pages, &o->keep, &o->in, e);
	if (status)
		return status;
	g->members = pd_alloc((g->pages.n + 1) * sizeof *g->members);
	status = pd_cluster(g->pages.edges, g->pages.n_edges, g->pages.n, o->linkage, g->members, e);
	if (!status)
		arrange(g);
	return status;
}

int pd_group_next(struct pd_group *g, struct pd_group_member *out)
{
	if (g->at == g->n_members)
		return 0;
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
