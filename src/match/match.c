/* SPDX-License-Identifier: MIT */
#include "match/match.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/join.h"
#include "match/near_rows.h"
#include "match/parts.h"

struct near {
	uint32_t group;
	uint16_t distance;
};

/* One set of rows: its groups of equal keys in their parts, and which groups lie near each other. */
struct match {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	const struct pd_row_set *set;
	bool digests;			/* no fingerprints here: only equal texts match */
	struct pd_verifier verifier;
	bool looks;			/* pairs are looked at a second time */
	struct pd_parts parts;
	struct pd_links links;		/* of parts */
	size_t *start;			/* group -> its neighbours: near[start[g]] … near[start[g + 1] - 1] */
	struct near *near;
	struct pd_near_rows bands;	/* candidates by sketch */
	struct pd_partners partners;	/* of one row, sorted before they are given out */
};

static void match_release(struct match *m)
{
	pd_verifier_release(&m->verifier);
	pd_parts_release(&m->parts);
	pd_links_release(&m->links);
	pd_near_rows_release(&m->bands);
	free(m->start);
	free(m->near);
	free(m->partners.v);
}

/* Pairs of groups -> neighbours in both directions. */
static void link_groups(struct match *m, const struct pd_pairs *pairs)
{
	size_t n = m->parts.n_prints;
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

/* The partners of `a` in the parts of a group near its own. */
static void add_near(struct match *m, uint32_t a, const struct near *near)
{
	const uint64_t *host = m->o->scope == PD_SCOPE_SAME_HOST ? &m->links.host[a] : NULL;
	size_t from, to;
	pd_links_near(&m->links, a, near->group, near->distance, &m->partners);
	if (!m->parts.n_extra)
		return;
	for (pd_parts_extra(&m->parts, near->group, host, &from, &to); from < to; from++)
		pd_links_near(&m->links, a, (uint32_t)(m->parts.n_prints + from), near->distance, &m->partners);
}

/* Leaves out the partners of `a` that do not stand a second look. */
static void look_again(struct match *m, uint32_t a)
{
	size_t n = 0;
	for (size_t i = 0; i < m->partners.n; i++) {
		struct pd_partner *p = &m->partners.v[i];
		p->similarity = m->digests && !m->o->verify.off ? 1 : PD_SIMILARITY_UNKNOWN;
		if (m->looks && !pd_verify_rows(&m->verifier, m->set->row[a], m->set->row[p->member], p->distance, &p->similarity))
			continue;
		m->partners.v[n++] = *p;
	}
	m->partners.n = n;
}

/* In order; once each, though fingerprints and sketches, or two sides, may both have found them. */
static void sort_partners(struct match *m)
{
	struct pd_partners *p = &m->partners;
	size_t n = 0;
	if (p->n > 1)
		qsort(p->v, p->n, sizeof *p->v, by_member);
	for (size_t i = 0; i < p->n; i++)
		if (!n || p->v[n - 1].member != p->v[i].member)
			p->v[n++] = p->v[i];
	p->n = n;
}

/* Gives out the pairs of `a` with larger rows. */
static int give_out(struct match *m, uint32_t a, pd_match_fn *each, void *ctx, uint64_t *pairs)
{
	uint32_t group = m->links.groups.group[a], print = pd_part_print(&m->parts, group);
	const uint32_t *start = m->links.groups.start;
	if (m->start[print] == m->start[print + 1] && start[group + 1] - start[group] == 1 && pd_near_rows_next(&m->bands) != a)
		return PD_OK;	/* most rows are like no other */
	m->partners.n = 0;
	pd_links_equal(&m->links, a, m->digests ? -1 : 0, &m->partners);
	for (size_t i = m->start[print]; i < m->start[print + 1]; i++)
		add_near(m, a, &m->near[i]);
	pd_near_rows_add(&m->bands, &m->links, m->set, a, &m->partners);
	look_again(m, a);
	sort_partners(m);
	for (size_t i = 0; i < m->partners.n; i++) {
		const struct pd_partner *p = &m->partners.v[i];
		struct pd_match_pair pair = { m->set->row[a], m->set->row[p->member], p->distance, p->similarity };
		int status = each(ctx, &pair);
		if (status < 0)
			return status;
	}
	*pairs += m->partners.n;
	return PD_OK;
}

/* Does one row speak for all that have this fingerprint? */
static bool one_speaks(const struct match *m, uint32_t print)
{
	const struct pd_groups *g = &m->links.groups;
	size_t from = 0, to = 0;
	if (m->o->all_pairs || m->rows->side || m->o->scope == PD_SCOPE_OTHER_HOSTS)
		return g->start[print + 1] - g->start[print] == 1 && !m->parts.n_extra;
	if (m->parts.n_extra)
		pd_parts_extra(&m->parts, print, NULL, &from, &to);
	return from == to;
}

/* Most candidates of a generous k are near by chance: they go before they cost memory twice. */
static void drop_chance_pairs(struct match *m, struct pd_pairs *pairs)
{
	const struct pd_groups *g = &m->links.groups;
	double similarity;
	size_t n = 0;
	for (size_t i = 0; m->looks && i < pairs->n; i++) {
		const struct pd_pair *p = &pairs->v[i];
		uint32_t a = m->set->row[g->first[p->a]], b = m->set->row[g->first[p->b]];
		if (pd_verify_rows(&m->verifier, a, b, p->distance, &similarity) || !one_speaks(m, p->a) || !one_speaks(m, p->b))
			pairs->v[n++] = *p;
	}
	if (m->looks)
		pairs->n = n;
}

/* Which groups have rows on each side. */
struct sides {
	uint8_t *of;
	uint32_t *list[2];
	size_t n[2];
};

static void find_sides(const struct match *m, struct sides *s)
{
	size_t n = m->parts.n_prints;
	s->of = pd_zalloc(n + 1);
	for (size_t i = 0; i < m->set->n; i++)
		s->of[pd_part_print(&m->parts, m->links.groups.group[i])] |= m->rows->side[m->set->row[i]];
	for (int side = 0; side < 2; side++) {
		s->list[side] = pd_alloc((n + 1) * sizeof *s->list[side]);
		for (size_t i = 0; i < n; i++)
			if (s->of[i] & (PD_SIDE_A << side))
				s->list[side][s->n[side]++] = (uint32_t)i;
	}
}

static void use_sides(struct pd_keys *keys, const struct sides *s)
{
	keys->ids = s->list[0];
	keys->n = s->n[0];
	keys->against = s->list[1];
	keys->n_against = s->n[1];
	keys->sides = s->of;
}

static void release_sides(struct sides *s)
{
	free(s->of);
	free(s->list[0]);
	free(s->list[1]);
}

static int join_prints(struct match *m, struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_pairs pairs = { 0 };
	struct pd_groups prints = m->links.groups;	/* borrowed: the first parts alone */
	struct pd_keys keys = { .bits = m->rows->bits, .n = m->parts.n_prints };
	struct sides sides = { 0 };
	double t = pd_cpu_seconds();
	prints.n_groups = stats->distinct = keys.n;
	if (m->rows->side) {
		find_sides(m, &sides);
		use_sides(&keys, &sides);
	}
	int status = pd_plan_choose_against(&stats->plan, m->o->plan, keys.bits, m->o->k, keys.n, keys.n_against, e);
	if (status) {
		release_sides(&sides);
		return status;
	}
	uint64_t *distinct = pd_groups_keys(&prints, m->set->keys, m->set->words);
	keys.v = distinct;
	status = pd_join(&keys, &stats->plan, m->o->threads, &pairs, e);
	stats->join_seconds = pd_cpu_seconds() - t;
	stats->candidates = pairs.n;
	free(distinct);
	release_sides(&sides);
	t = pd_cpu_seconds();
	if (!status)
		drop_chance_pairs(m, &pairs);
	stats->verify_seconds += pd_cpu_seconds() - t;
	if (!status)
		link_groups(m, &pairs);
	pd_pairs_release(&pairs);
	return status;
}

static void join_sketches(struct match *m, struct pd_match_stats *stats)
{
	double t = pd_cpu_seconds();
	if (m->rows->sketched && !m->o->verify.off)
		pd_near_rows_find(&m->bands, m->rows, m->set, &m->links, m->o);
	stats->band_width = m->bands.width;
	stats->bands_seconds = pd_cpu_seconds() - t;
}

/* Groups of equal keys, in the parts that are alike by their sketches too. */
static void split_parts(struct match *m, struct pd_groups *groups, struct pd_match_stats *stats)
{
	struct pd_verify_options verify = m->o->verify;
	double t = pd_cpu_seconds();
	m->parts.n_prints = groups->n_groups;
	if (!m->looks || m->o->all_pairs)
		return;
	/* Pages of one host are no pair there, so they may stand together as pages of two would. */
	if (m->o->scope == PD_SCOPE_OTHER_HOSTS)
		verify.least_same_host = verify.least;
	m->verifier.o = &verify;
	pd_parts_split(&m->parts, groups, m->set, m->o->scope, &m->verifier);
	m->verifier.o = &m->o->verify;
	stats->verify_seconds += pd_cpu_seconds() - t;
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
	m->looks = !m->digests && !m->o->verify.off && (m->rows->sketched || m->o->verify.k_unknown < m->o->k);
	m->verifier = (struct pd_verifier){ .o = &m->o->verify, .rows = m->rows };
	split_parts(m, &groups, stats);
	pd_links_init(&m->links, &groups, m->o, m->set->row, m->rows->host, m->rows->side);
	if (!m->digests && m->o->candidates != PD_CANDIDATES_HAMMING)
		join_sketches(m, stats);
	if (!m->digests && m->o->candidates != PD_CANDIDATES_BANDS)
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
