/* SPDX-License-Identifier: MIT */
#include "match/parts.h"

#include <stdlib.h>

#include "base/sort.h"

/* What splitting one group needs. */
struct split {
	struct pd_match_parts *parts;
	const struct pd_rows_set *set;
	struct pd_verifier *v;
	const uint64_t *host;		/* by row of the set; NULL: hosts do not part */
	struct pd_items followers;	/* (first row of a part, another row of it) */
	uint32_t *rows;			/* of the group at work */
	size_t cap_rows;
};

static int by_host_then_row(const void *x, const void *y, void *ctx)
{
	const uint64_t *host = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (host[a] != host[b])
		return host[a] < host[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static void begin_part(struct split *s, uint32_t print, uint32_t row)
{
	struct pd_match_parts *p = s->parts;
	p->v = pd_grow(p->v, p->n, &p->cap, sizeof *p->v);
	p->v[p->n++] = (struct pd_match_part){ print, row, s->host ? s->host[row] : 0 };
}

/* Puts `row` into one of the parts that began in this run, by their first rows, or begins a new one. */
static void place_row(struct split *s, uint32_t print, uint32_t row, uint32_t *run, size_t *n_run)
{
	double similarity;
	for (size_t i = 0; i < *n_run; i++)
		if (pd_verify_rows(s->v, pd_rows_set_row(s->set, run[i]), pd_rows_set_row(s->set, row), 0, &similarity)) {
			pd_items_add(&s->followers, (uint64_t)run[i] << 32 | row, 0);
			return;
		}
	begin_part(s, print, row);
	if (*n_run < PD_PARTS_TRIED)
		run[(*n_run)++] = row;
}

static void split_group(struct split *s, const uint32_t *rows, size_t n)
{
	uint32_t run[PD_PARTS_TRIED], print = rows[0];
	size_t n_run = 0, n_before = s->parts->n;
	while (s->cap_rows < n)
		s->rows = pd_grow(s->rows, s->cap_rows, &s->cap_rows, sizeof *s->rows);
	memcpy(s->rows, rows, n * sizeof *rows);
	if (s->host)
		qsort_r(s->rows, n, sizeof *rows, by_host_then_row, (void *)s->host);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && s->host && s->host[s->rows[i]] != s->host[s->rows[i - 1]])
			n_run = 0;
		place_row(s, print, s->rows[i], run, &n_run);
	}
	if (s->parts->n == n_before + 1)
		s->parts->n = n_before;
}

static uint64_t *hosts_of(const struct pd_rows_set *set, const struct pd_rows *rows)
{
	uint64_t *host = pd_alloc((set->n + 1) * sizeof *host);
	for (size_t i = 0; i < set->n; i++)
		host[i] = rows->host[pd_rows_set_row(set, (uint32_t)i)];
	return host;
}

void pd_match_parts_split(struct pd_match_parts *p, const struct pd_match_groups *prints, const struct pd_rows_set *set, enum pd_match_scope scope,
		    struct pd_verifier *v, struct pd_match_groups *out)
{
	uint64_t *host = scope == PD_SCOPE_SAME_HOST && prints->n_multi ? hosts_of(set, v->rows) : NULL;
	struct split s = { .parts = p, .set = set, .v = v, .host = host };
	for (size_t c = 0; c < prints->n_multi; c++)
		split_group(&s, prints->rows + prints->start[c], prints->start[c + 1] - prints->start[c]);
	if (p->n) {
		pd_items_sort(&s.followers);
		pd_match_groups_make(out, prints->n_rows, &s.followers, v->rows->budget);
	}
	pd_items_release(&s.followers);
	free(s.rows);
	free(host);
}

void pd_match_parts_release(struct pd_match_parts *p)
{
	free(p->v);
	*p = (struct pd_match_parts){ 0 };
}

/* The first part that is not below (print, host). */
static size_t part_bound(const struct pd_match_parts *p, uint32_t print, uint64_t host)
{
	return PD_LOWER_BOUND(i, 0, p->n, p->v[i].print < print || (p->v[i].print == print && p->v[i].host < host));
}

void pd_match_parts_of(const struct pd_match_parts *p, uint32_t print, const uint64_t *host, size_t *from, size_t *to)
{
	*from = part_bound(p, print, host ? *host : 0);
	*to = *from;
	while (*to < p->n && *to - *from < PD_PARTS_TRIED && p->v[*to].print == print && (!host || p->v[*to].host == *host))
		++*to;
}

bool pd_match_parts_several(const struct pd_match_parts *p, uint32_t print)
{
	size_t at = p->n ? part_bound(p, print, 0) : 0;
	return at < p->n && p->v[at].print == print;
}
