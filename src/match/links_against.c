/* SPDX-License-Identifier: MIT
 *
 * A batch against a collection: which members of a group pair with a row of the other side.  Partners are given from the
 * smaller row, so a row asks for its partners on both sides: as one of A, and as the one of B that others are linked to.
 * Of a million equal pages on each side every one is looked at a few times.
 */
#include <stdlib.h>

#include "match/links.h"

#define NONE UINT32_MAX

static bool is_on(const struct pd_links *l, uint32_t member, uint8_t side)
{
	return l->side[pd_set_row(l->set, member)] & side;
}

static int by_host_then_member(const void *x, const void *y, void *ctx)
{
	const uint64_t *host = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (host[a] != host[b])
		return host[a] < host[b] ? -1 : 1;
	return (a > b) - (a < b);
}

/* Each crowd's members of one side. */
static void list_side(struct pd_links *l, uint8_t side, struct pd_side_list *s)
{
	const struct pd_groups *g = &l->groups;
	uint32_t n = 0;
	s->side = side;
	if (!g->n_crowds)
		return;
	s->start = pd_alloc((g->n_crowds + 1) * sizeof *s->start);
	s->rows = pd_alloc(g->start[g->n_crowds] * sizeof *s->rows);
	for (size_t i = 0; i < g->n_crowds; i++) {
		s->start[i] = n;
		for (uint32_t j = g->start[i]; j < g->start[i + 1]; j++)
			if (is_on(l, g->rows[j], side))
				s->rows[n++] = g->rows[j];
		if (l->scope == PD_SCOPE_SAME_HOST && n - s->start[i] > 1)
			qsort_r(s->rows + s->start[i], n - s->start[i], sizeof *s->rows, by_host_then_member, (void *)l->host);
	}
	s->start[g->n_crowds] = n;
}

/* The first of B in each crowd that lies on another host than the first of all. */
static void find_elsewhere(struct pd_links *l)
{
	const struct pd_side_list *b = &l->b;
	l->b_elsewhere = pd_alloc((l->groups.n_crowds + 1) * sizeof *l->b_elsewhere);
	for (size_t i = 0; i < l->groups.n_crowds; i++) {
		uint32_t at = b->start[i];
		while (at < b->start[i + 1] && l->host[b->rows[at]] == l->host[b->rows[b->start[i]]])
			at++;
		l->b_elsewhere[i] = at < b->start[i + 1] ? b->rows[at] : NONE;
	}
}

void pd_links_sides(struct pd_links *l)
{
	list_side(l, PD_SIDE_A, &l->a);
	list_side(l, PD_SIDE_B, &l->b);
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		find_elsewhere(l);
}

void pd_links_sides_release(struct pd_links *l)
{
	free(l->a.start);
	free(l->a.rows);
	free(l->b.start);
	free(l->b.rows);
	free(l->b_elsewhere);
}

/* First place in lo … hi of a side's members whose host is not below `host` (or, with `over`, is above it). */
static size_t host_bound(const struct pd_links *l, const struct pd_side_list *s, size_t lo, size_t hi, uint64_t host, bool over)
{
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		uint64_t h = l->host[s->rows[mid]];
		if (h < host || (over && h == host))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Those of a side in a group; with scope same-host those on the host of `a`. */
static struct pd_row_run members(const struct pd_links *l, const struct pd_side_list *s, uint32_t group, uint32_t a)
{
	bool same_host = l->scope == PD_SCOPE_SAME_HOST;
	if (!pd_groups_crowded(&l->groups, group))
		return (struct pd_row_run){ NULL, is_on(l, group, s->side) && (!same_host || l->host[group] == l->host[a]), group };
	uint32_t crowd = pd_groups_crowd(&l->groups, group);
	size_t lo = s->start[crowd], hi = s->start[crowd + 1];
	if (same_host) {
		lo = host_bound(l, s, lo, hi, l->host[a], false);
		hi = host_bound(l, s, lo, hi, l->host[a], true);
	}
	return (struct pd_row_run){ s->rows + lo, hi - lo, 0 };
}

/* The first of B in a group that is on another host than the first of all. */
static uint32_t b_elsewhere(const struct pd_links *l, uint32_t group)
{
	return pd_groups_crowded(&l->groups, group) ? l->b_elsewhere[pd_groups_crowd(&l->groups, group)] : NONE;
}

static bool elsewhere(const struct pd_links *l, uint32_t a, uint32_t b)
{
	return l->scope != PD_SCOPE_OTHER_HOSTS || l->host[a] != l->host[b];
}

/* The member of B that a row of A is linked to, or NONE. */
static uint32_t linked_to(const struct pd_links *l, uint32_t a, uint32_t group)
{
	struct pd_row_run b = members(l, &l->b, group, a);
	if (!b.n)
		return NONE;
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		return elsewhere(l, a, pd_row_run_at(&b, 0)) ? pd_row_run_at(&b, 0) : b_elsewhere(l, group);
	return pd_row_run_at(&b, 0) != a ? pd_row_run_at(&b, 0) : b.n > 1 ? pd_row_run_at(&b, 1) : NONE;
}

static void add(struct pd_partners *out, uint32_t member, int distance)
{
	out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
	out->v[out->n++] = (struct pd_partner){ .member = member, .distance = distance };
}

/* Those of a side that come after `a`. */
static void add_all(const struct pd_links *l, const struct pd_side_list *s, uint32_t group, uint32_t a, int distance,
		    struct pd_partners *out)
{
	struct pd_row_run r = members(l, s, group, a);
	for (size_t i = 0; i < r.n; i++)
		if (pd_row_run_at(&r, i) > a && elsewhere(l, a, pd_row_run_at(&r, i)))
			add(out, pd_row_run_at(&r, i), distance);
}

/* Can a row of A be linked to this one of B?  Only to the first of those it may be linked to, or, the first itself, to the
 * second. */
static bool is_linked_to(const struct pd_links *l, uint32_t b)
{
	struct pd_row_run r = members(l, &l->b, b, b);
	if (l->scope == PD_SCOPE_OTHER_HOSTS)
		return b == pd_row_run_at(&r, 0) || b == b_elsewhere(l, b);
	return b == pd_row_run_at(&r, 0) || (r.n > 1 && b == pd_row_run_at(&r, 1));
}

/* As one of B: with those of A that are linked to it. */
static void add_linked(const struct pd_links *l, uint32_t b, uint32_t group, int distance, struct pd_partners *out)
{
	struct pd_row_run a = members(l, &l->a, group, b);
	if (!is_linked_to(l, b))
		return;
	for (size_t i = 0; i < a.n; i++)
		if (pd_row_run_at(&a, i) > b && linked_to(l, pd_row_run_at(&a, i), b) == b)
			add(out, pd_row_run_at(&a, i), distance);
}

void pd_links_against(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out)
{
	uint32_t b = is_on(l, a, PD_SIDE_A) && !l->all_pairs ? linked_to(l, a, group) : NONE;
	if (b != NONE && b > a)
		add(out, b, distance);
	if (is_on(l, a, PD_SIDE_A) && l->all_pairs)
		add_all(l, &l->b, group, a, distance, out);
	if (is_on(l, a, PD_SIDE_B) && l->all_pairs)
		add_all(l, &l->a, group, a, distance, out);
	else if (is_on(l, a, PD_SIDE_B))
		add_linked(l, a, group, distance, out);
}
