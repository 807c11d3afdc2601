/* SPDX-License-Identifier: MIT */
#include "match/links.h"

#include <stdlib.h>

#define NONE UINT32_MAX

static int by_host_then_member(const void *x, const void *y, void *ctx)
{
	const uint64_t *host = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (host[a] != host[b])
		return host[a] < host[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t first_elsewhere(const struct pd_links *l, size_t crowd)
{
	const struct pd_groups *g = &l->groups;
	for (uint32_t i = g->start[crowd]; i < g->start[crowd + 1]; i++)
		if (l->host[g->rows[i]] != l->host[g->rows[g->start[crowd]]])
			return g->rows[i];
	return NONE;
}

/* Hosts by member: as they are by row, when all rows are members. */
static void take_hosts(struct pd_links *l)
{
	l->host = l->rows->host;
	if (!l->set->row)
		return;
	uint64_t *own = pd_array_room(&l->own_host, l->rows->budget, (l->set->n + 1) * sizeof *own);
	for (size_t i = 0; i < l->set->n; i++)
		own[i] = l->rows->host[pd_set_row(l->set, (uint32_t)i)];
	l->host = own;
}

static void sort_hosts(struct pd_links *l)
{
	const struct pd_groups *g = &l->groups;
	if (!g->n_crowds)
		return;
	l->by_host = pd_array_room(&l->by_host_memory, l->rows->budget, g->start[g->n_crowds] * sizeof *l->by_host);
	memcpy(l->by_host, g->rows, g->start[g->n_crowds] * sizeof *l->by_host);
	l->elsewhere = pd_alloc(g->n_crowds * sizeof *l->elsewhere);
	for (size_t i = 0; i < g->n_crowds; i++) {
		qsort_r(l->by_host + g->start[i], g->start[i + 1] - g->start[i], sizeof *l->by_host, by_host_then_member,
			(void *)l->host);
		l->elsewhere[i] = first_elsewhere(l, i);
	}
}

void pd_links_init(struct pd_links *l, struct pd_groups *groups, const struct pd_match_options *o, const struct pd_rows *rows,
		   const struct pd_row_set *set)
{
	*l = (struct pd_links){ .groups = *groups, .scope = o->scope, .all_pairs = o->all_pairs, .rows = rows, .set = set,
				.side = rows->side };
	*groups = (struct pd_groups){ 0 };
	if (l->scope != PD_SCOPE_ALL) {
		take_hosts(l);
		sort_hosts(l);
	}
	if (l->side)
		pd_links_sides(l);
}

void pd_links_release(struct pd_links *l)
{
	pd_groups_release(&l->groups);
	pd_links_sides_release(l);
	pd_array_release(&l->own_host);
	pd_array_release(&l->by_host_memory);
	free(l->elsewhere);
	*l = (struct pd_links){ 0 };
}

/* First place in lo … hi of `by_host` whose host is not below `host` (or, with `over`, is above it). */
static size_t host_bound(const struct pd_links *l, size_t lo, size_t hi, uint64_t host, bool over)
{
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		uint64_t h = l->host[l->by_host[mid]];
		if (h < host || (over && h == host))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct pd_row_run pd_links_host_run(const struct pd_links *l, uint32_t group, uint32_t a)
{
	if (!pd_groups_crowded(&l->groups, group))
		return (struct pd_row_run){ NULL, l->host[group] == l->host[a], group };
	uint32_t crowd = pd_groups_crowd(&l->groups, group);
	size_t lo = host_bound(l, l->groups.start[crowd], l->groups.start[crowd + 1], l->host[a], false);
	size_t hi = host_bound(l, lo, l->groups.start[crowd + 1], l->host[a], true);
	return (struct pd_row_run){ l->by_host + lo, hi - lo, 0 };
}

static struct pd_row_run after(struct pd_row_run r, uint32_t a)
{
	size_t lo = 0, hi = r.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (pd_row_run_at(&r, mid) <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (struct pd_row_run){ r.v ? r.v + lo : NULL, r.n - lo, r.one };
}

static void add(struct pd_partners *out, uint32_t member, int distance)
{
	out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
	out->v[out->n++] = (struct pd_partner){ .member = member, .distance = distance };
}

static void add_run(struct pd_partners *out, struct pd_row_run r, int distance)
{
	for (size_t i = 0; i < r.n; i++)
		add(out, pd_row_run_at(&r, i), distance);
}

/* All of the run that are on another host than `host`. */
static void add_others(const struct pd_links *l, struct pd_partners *out, struct pd_row_run r, uint64_t host, int distance)
{
	for (size_t i = 0; i < r.n; i++)
		if (l->host[pd_row_run_at(&r, i)] != host)
			add(out, pd_row_run_at(&r, i), distance);
}

/* Everyone is linked to the smallest member on another host: the group's first, or, on the first's own host, the first
 * member elsewhere. */
static void link_across(const struct pd_links *l, uint32_t a, int distance, struct pd_partners *out)
{
	const struct pd_groups *g = &l->groups;
	uint32_t crowd = pd_groups_crowd(g, a), first = g->rows[g->start[crowd]], other = l->elsewhere[crowd];
	if (other == NONE)
		return;
	if (a == first)
		add_others(l, out, after(pd_groups_run(g, first), a), l->host[a], distance);
	else if (a == other)
		add_run(out, after(pd_links_host_run(l, first, first), a), distance);
	else if (l->host[a] == l->host[first] && other > a)
		add(out, other, distance);
}

/* The members among which a's partners are: of its host, or all. */
static struct pd_row_run scope_run(const struct pd_links *l, uint32_t group, uint32_t a)
{
	return l->scope == PD_SCOPE_SAME_HOST ? pd_links_host_run(l, group, a) : pd_groups_run(&l->groups, group);
}

bool pd_links_speaks(const struct pd_links *l, uint32_t a)
{
	if (l->side || l->all_pairs || l->scope == PD_SCOPE_OTHER_HOSTS || !pd_groups_crowded(&l->groups, a))
		return true;
	struct pd_row_run r = scope_run(l, a, a);
	return pd_row_run_at(&r, 0) == a;
}

void pd_links_equal(const struct pd_links *l, uint32_t a, int distance, struct pd_partners *out)
{
	if (l->side) {
		pd_links_against(l, a, a, distance, out);
		return;
	}
	if (!pd_groups_crowded(&l->groups, a))
		return;
	if (l->scope == PD_SCOPE_OTHER_HOSTS && !l->all_pairs) {
		link_across(l, a, distance, out);
		return;
	}
	struct pd_row_run r = scope_run(l, a, a);
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		add_others(l, out, after(r, a), l->host[a], distance);
	else if (l->all_pairs || pd_row_run_at(&r, 0) == a)
		add_run(out, after(r, a), distance);
}

void pd_links_near(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out)
{
	if (l->side) {
		pd_links_against(l, a, group, distance, out);
		return;
	}
	struct pd_row_run r = scope_run(l, group, a);
	if (!r.n)
		return;
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		add_others(l, out, after(r, a), l->host[a], distance);
	else if (l->all_pairs)
		add_run(out, after(r, a), distance);
	else if (pd_row_run_at(&r, 0) > a)
		add(out, pd_row_run_at(&r, 0), distance);
}
