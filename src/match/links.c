/* SPDX-License-Identifier: MIT */
#include "match/links.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct run {
	const uint32_t *v;	/* members, ascending */
	size_t n;
};

static int by_host_then_member(const void *x, const void *y, void *ctx)
{
	const uint64_t *host = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (host[a] != host[b])
		return host[a] < host[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t first_elsewhere(const struct pd_links *l, size_t group)
{
	const struct pd_groups *g = &l->groups;
	for (uint32_t i = g->start[group]; i < g->start[group + 1]; i++)
		if (l->host[g->rows[i]] != l->host[g->first[group]])
			return g->rows[i];
	return NONE;
}

void pd_links_init(struct pd_links *l, struct pd_groups *groups, const struct pd_match_options *o, const uint32_t *row,
		   const uint64_t *host_of_row, const uint8_t *side_of_row)
{
	*l = (struct pd_links){ .groups = *groups, .scope = o->scope, .all_pairs = o->all_pairs, .side = side_of_row, .row = row };
	*groups = (struct pd_groups){ 0 };
	const struct pd_groups *g = &l->groups;
	if (l->scope == PD_SCOPE_ALL) {
		if (l->side)
			pd_links_sides(l);
		return;
	}
	l->host = pd_alloc(g->n_rows * sizeof *l->host);
	for (size_t i = 0; i < g->n_rows; i++)
		l->host[i] = host_of_row[row[i]];
	l->by_host = pd_alloc(g->n_rows * sizeof *l->by_host);
	memcpy(l->by_host, g->rows, g->n_rows * sizeof *l->by_host);
	l->elsewhere = pd_alloc(g->n_groups * sizeof *l->elsewhere);
	for (size_t i = 0; i < g->n_groups; i++) {
		size_t n = g->start[i + 1] - g->start[i];
		if (n > 1)
			qsort_r(l->by_host + g->start[i], n, sizeof *l->by_host, by_host_then_member, l->host);
		l->elsewhere[i] = first_elsewhere(l, i);
	}
	if (l->side)
		pd_links_sides(l);
}

void pd_links_release(struct pd_links *l)
{
	pd_groups_release(&l->groups);
	pd_links_sides_release(l);
	free(l->host);
	free(l->by_host);
	free(l->elsewhere);
	*l = (struct pd_links){ 0 };
}

static struct run whole_group(const struct pd_links *l, uint32_t group)
{
	const struct pd_groups *g = &l->groups;
	return (struct run){ g->rows + g->start[group], g->start[group + 1] - g->start[group] };
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

/* The members of this group on this host. */
static struct run host_run(const struct pd_links *l, uint32_t group, uint64_t host)
{
	size_t lo = host_bound(l, l->groups.start[group], l->groups.start[group + 1], host, false);
	size_t hi = host_bound(l, lo, l->groups.start[group + 1], host, true);
	return (struct run){ l->by_host + lo, hi - lo };
}

static struct run after(struct run r, uint32_t a)
{
	size_t lo = 0, hi = r.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (r.v[mid] <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (struct run){ r.v + lo, r.n - lo };
}

static void add(struct pd_partners *out, uint32_t member, int distance)
{
	out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
	out->v[out->n++] = (struct pd_partner){ .member = member, .distance = distance };
}

static void add_run(struct pd_partners *out, struct run r, int distance)
{
	for (size_t i = 0; i < r.n; i++)
		add(out, r.v[i], distance);
}

/* All of the run that are on another host than `host`. */
static void add_others(const struct pd_links *l, struct pd_partners *out, struct run r, uint64_t host, int distance)
{
	for (size_t i = 0; i < r.n; i++)
		if (l->host[r.v[i]] != host)
			add(out, r.v[i], distance);
}

/* Everyone is linked to the smallest member on another host: the group's first, or, on the first's own host, the first
 * member elsewhere. */
static void link_across(const struct pd_links *l, uint32_t group, uint32_t a, int distance, struct pd_partners *out)
{
	uint32_t first = l->groups.first[group], other = l->elsewhere[group];
	if (other == NONE)
		return;
	if (a == first)
		add_others(l, out, after(whole_group(l, group), a), l->host[a], distance);
	else if (a == other)
		add_run(out, after(host_run(l, group, l->host[first]), a), distance);
	else if (l->host[a] == l->host[first] && other > a)
		add(out, other, distance);
}

/* The members among which a's partners are: of its host, or all. */
static struct run scope_run(const struct pd_links *l, uint32_t group, uint32_t a)
{
	return l->scope == PD_SCOPE_SAME_HOST ? host_run(l, group, l->host[a]) : whole_group(l, group);
}

void pd_links_equal(const struct pd_links *l, uint32_t a, int distance, struct pd_partners *out)
{
	uint32_t group = l->groups.group[a];
	if (l->side) {
		pd_links_against(l, a, group, distance, out);
		return;
	}
	if (l->scope == PD_SCOPE_OTHER_HOSTS && !l->all_pairs) {
		link_across(l, group, a, distance, out);
		return;
	}
	struct run r = scope_run(l, group, a);
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		add_others(l, out, after(r, a), l->host[a], distance);
	else if (l->all_pairs || r.v[0] == a)
		add_run(out, after(r, a), distance);
}

void pd_links_near(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out)
{
	if (l->side) {
		pd_links_against(l, a, group, distance, out);
		return;
	}
	struct run r = scope_run(l, group, a);
	if (!r.n)
		return;
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		add_others(l, out, after(r, a), l->host[a], distance);
	else if (l->all_pairs)
		add_run(out, after(r, a), distance);
	else if (scope_run(l, l->groups.group[a], a).v[0] == a && r.v[0] > a)
		add(out, r.v[0], distance);
}
