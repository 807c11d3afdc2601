/* SPDX-License-Identifier: MIT */
#include "match/match.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/join.h"
#include "match/links.h"

struct near {
	uint32_t group;
	uint16_t distance;
};

/* One set of rows: its groups of equal keys, and which groups lie near each other. */
struct match {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	const struct pd_row_set *set;
	bool digests;			/* no fingerprints here: only equal texts match */
	struct pd_links links;
	size_t *start;			/* group -> its neighbours: near[start[g]] … near[start[g + 1] - 1] */
	struct near *near;
	struct pd_partners partners;	/* of one row, sorted before they are given out */
};

static void match_release(struct match *m)
{
	pd_links_release(&m->links);
	free(m->start);
	free(m->near);
	free(m->partners.v);
}

/* Pairs of groups -> neighbours in both directions. */
static void link_groups(struct match *m, const struct pd_pairs *pairs)
{
	size_t n = m->links.groups.n_groups;
	m->start = pd_zalloc((n + 2) * sizeof *m->start);
	m->near = pd_alloc(2 * pairs->n * sizeof *m->near);
	for (size_t i = 0; i < pairs->n; i++) {
		m->start[pairs->v[i].a + 2]++;
		m->start[pairs->v[i].b + 2]++;
	}
	for (size_t i = 2; i < n + 2; i++)
		m->start[i] += m->start[i - 1];
	/* start[x + 1] is where x's next neighbour goes; in the end it is where x's neighbours end. */
	for (size_t i = 0; i < pairs->n; i++) {
		const struct pd_pair *p = &pairs->v[i];
		m->near[m->start[p->a + 1]++] = (struct near){ p->b, p->distance };
		m->near[m->start[p->b + 1]++] = (struct near){ p->a, p->distance };
	}
}

static int by_member(const void *x, const void *y)
{
	const struct pd_partner *a = x, *b = y;
	return (a->member > b->member) - (a->member < b->member);
}

/* Gives out the pairs of `a` with larger rows. */
static int give_out(struct match *m, uint32_t a, pd_match_fn *each, void *ctx, uint64_t *pairs)
{
	uint32_t group = m->links.groups.group[a];
	m->partners.n = 0;
	pd_links_equal(&m->links, a, m->digests ? -1 : 0, &m->partners);
	for (size_t i = m->start[group]; i < m->start[group + 1]; i++)
		pd_links_near(&m->links, a, m->near[i].group, m->near[i].distance, &m->partners);
	if (m->partners.n > 1)
		qsort(m->partners.v, m->partners.n, sizeof *m->partners.v, by_member);
	for (size_t i = 0; i < m->partners.n; i++) {
		const struct pd_partner *p = &m->partners.v[i];
		int status = each(ctx, m->set->row[a], m->set->row[p->member], p->distance);
		if (status < 0)
			return status;
	}
	*pairs += m->partners.n;
	return PD_OK;
}

static int join_prints(struct match *m, struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_pairs pairs = { 0 };
	struct pd_keys keys = { .bits = m->rows->bits, .n = m->links.groups.n_groups };
	double t = pd_cpu_seconds();
	int status = pd_plan_choose(&stats->plan, m->o->plan, keys.bits, m->o->k, keys.n, e);
	if (status)
		return status;
	uint64_t *distinct = pd_groups_keys(&m->links.groups, m->set->keys, m->set->words);
	keys.v = distinct;
	status = pd_join(&keys, &stats->plan, m->o->threads, &pairs, e);
	if (!status)
		link_groups(m, &pairs);
	stats->distinct = keys.n;
	stats->join_seconds = pd_cpu_seconds() - t;
	pd_pairs_release(&pairs);
	free(distinct);
	return status;
}

static int match_open(struct match *m, struct pd_match_stats *stats, struct pd_err *e)
{
	static const struct pd_pairs none = { 0 };
	if (!m->set->n)
		return PD_OK;
	struct pd_groups groups = { 0 };
	int status = pd_equal_groups(m->set->keys, m->set->words, NULL, m->set->n, &groups, e);
	if (status)
		return status;
	pd_links_init(&m->links, &groups, m->o, m->set->row, m->rows->host);
	if (!m->digests)
		return join_prints(m, stats, e);
	link_groups(m, &none);
	return PD_OK;
}

/* Both sets side by side, so that pairs come out in the order of rows. */
static int walk(struct match *prints, struct match *digests, pd_match_fn *each, void *ctx, uint64_t *pairs)
{
	size_t p = 0, d = 0;
	int status = PD_OK;
	while (!status && (p < prints->set->n || d < digests->set->n)) {
		bool print = d >= digests->set->n || (p < prints->set->n && prints->set->row[p] < digests->set->row[d]);
		status = print ? give_out(prints, (uint32_t)p++, each, ctx, pairs) :
				 give_out(digests, (uint32_t)d++, each, ctx, pairs);
	}
	return status;
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, pd_match_fn *each, void *ctx,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct match prints = { .rows = rows, .o = o, .set = &rows->prints };
	struct match digests = { .rows = rows, .o = o, .set = &rows->digests, .digests = true };
	*stats = (struct pd_match_stats){ 0 };
	int status = match_open(&prints, stats, e);
	if (!status)
		status = match_open(&digests, stats, e);
	if (!status)
		status = walk(&prints, &digests, each, ctx, &stats->pairs);
	match_release(&prints);
	match_release(&digests);
	return status;
}
