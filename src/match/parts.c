/* SPDX-License-Identifier: MIT */
#include "match/parts.h"

#include <stdlib.h>

/* What splitting one group needs. */
struct split {
	struct pd_parts *parts;
	struct pd_groups *groups;
	const struct pd_row_set *set;
	struct pd_verifier *v;
	const uint64_t *host;		/* by row of the set; NULL: hosts do not part */
	size_t n_parts, cap_first;
	bool first_taken;		/* this group's first part has its number */
};

static int by_host_then_row(const void *x, const void *y, void *ctx)
{
	const uint64_t *host = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (host[a] != host[b])
		return host[a] < host[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t begin_part(struct split *s, uint32_t group, uint32_t row)
{
	struct pd_parts *p = s->parts;
	if (!s->first_taken) {
		s->first_taken = true;
		s->groups->first[group] = row;
		return group;
	}
	p->extra = pd_grow(p->extra, p->n_extra, &p->cap_extra, sizeof *p->extra);
	p->extra[p->n_extra++] = (struct pd_extra_part){ group, s->host ? s->host[row] : 0 };
	s->groups->first = pd_grow(s->groups->first, s->n_parts, &s->cap_first, sizeof *s->groups->first);
	s->groups->first[s->n_parts] = row;
	return (uint32_t)s->n_parts++;
}

/* The part of `row` among those that began in this run, or a new one. */
static uint32_t part_of(struct split *s, uint32_t group, uint32_t row, uint32_t *run, size_t *n_run)
{
	double similarity;
	for (size_t i = 0; i < *n_run; i++)
		if (pd_verify_rows(s->v, s->set->row[s->groups->first[run[i]]], s->set->row[row], 0, &similarity))
			return run[i];
	uint32_t part = begin_part(s, group, row);
	if (*n_run < PD_PARTS_TRIED)
		run[(*n_run)++] = part;
	return part;
}

static void split_group(struct split *s, uint32_t group)
{
	uint32_t run[PD_PARTS_TRIED], *rows = s->groups->rows + s->groups->start[group];
	size_t n = s->groups->start[group + 1] - s->groups->start[group], n_run = 0;
	s->first_taken = false;
	if (n > 1 && s->host)
		qsort_r(rows, n, sizeof *rows, by_host_then_row, (void *)s->host);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && s->host && s->host[rows[i]] != s->host[rows[i - 1]])
			n_run = 0;
		s->groups->group[rows[i]] = part_of(s, group, rows[i], run, &n_run);
	}
}

static uint64_t *hosts_of(const struct pd_row_set *set, const struct pd_rows *rows)
{
	uint64_t *host = pd_alloc((set->n + 1) * sizeof *host);
	for (size_t i = 0; i < set->n; i++)
		host[i] = rows->host[set->row[i]];
	return host;
}

void pd_parts_split(struct pd_parts *p, struct pd_groups *groups, const struct pd_row_set *set, enum pd_scope scope,
		    struct pd_verifier *v)
{
	uint64_t *host = scope == PD_SCOPE_SAME_HOST ? hosts_of(set, v->rows) : NULL;
	struct split s = { .parts = p, .groups = groups, .set = set, .v = v, .host = host };
	*p = (struct pd_parts){ .n_prints = groups->n_groups };
	s.n_parts = groups->n_groups;
	s.cap_first = groups->n_rows + 1;
	for (size_t g = 0; g < p->n_prints; g++)
		if (groups->start[g + 1] - groups->start[g] > 1)
			split_group(&s, (uint32_t)g);
	groups->n_groups = s.n_parts;
	if (p->n_extra || host)
		pd_groups_list(groups);
	free(host);
}

void pd_parts_release(struct pd_parts *p)
{
	free(p->extra);
	*p = (struct pd_parts){ 0 };
}

/* The first extra part that is not below (group, host). */
static size_t bound(const struct pd_parts *p, uint32_t group, uint64_t host)
{
	size_t lo = 0, hi = p->n_extra;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct pd_extra_part *x = &p->extra[mid];
		if (x->group < group || (x->group == group && x->host < host))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pd_parts_extra(const struct pd_parts *p, uint32_t group, const uint64_t *host, size_t *from, size_t *to)
{
	*from = bound(p, group, host ? *host : 0);
	*to = *from;
	while (*to < p->n_extra && p->extra[*to].group == group && (!host || p->extra[*to].host == *host))
		++*to;
}
