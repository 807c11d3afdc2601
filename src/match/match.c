/* SPDX-License-Identifier: MIT
 *
 * Threads take stretches of rows one after the other, each formats the pairs of its stretch, and writes when its turn has come; one that has much to write waits for its turn and
 * goes on from there, so that memory stays small and the output is the same for any number of threads.
 */
#include "match/match.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/threads.h"

/* --- emitting --- */

#define STRETCH 16384		/* rows that a thread takes at a time */
#define BATCH 256		/* pairs formatted together */
#define WRITE_AT ((size_t)1 << 20)	/* bytes that wait for their turn */

/* All that was found in one set of rows. */
struct found {
	struct pd_match_set set;
	struct pd_match_near near;	/* groups by fingerprint */
	struct pd_match_bands bands;		/* candidates by sketch */
};

/* How far a thread is in one set. */
struct reading {
	const struct pd_match_set *m;
	const struct found *found;
	uint32_t next;			/* the first member that is not dealt with */
	uint32_t end;
	size_t after, before, bands;	/* the first entries of `next` or a later one */
	struct pd_verifier verifier;
	struct pd_match_partners partners;	/* of one row, sorted before they are emitted */
};

struct emitter {
	struct reading sets[2];
	struct pd_match_pair batch[BATCH];
	size_t n, task;
	uint64_t pairs;
	struct pd_buf out;
	void *formatter;
};

struct emission {
	const struct pd_match_sink *sink;
	struct emitter *emitters;
	struct pd_turns *turns;
	size_t n_rows;
	int status;			/* set by the thread whose turn it is */
};

static int by_member(const void *x, const void *y)
{
	const struct pd_match_partner *a = x, *b = y;
	return (a->member > b->member) - (a->member < b->member);
}

/* In order; once each, though fingerprints and sketches, or two sides, may both have found them. */
static void sort_partners(struct pd_match_partners *p)
{
	size_t n = 1, in_order = 1;
	while (in_order < p->n && p->v[in_order - 1].member < p->v[in_order].member)
		in_order++;
	if (in_order >= p->n)
		return;
	qsort(p->v, p->n, sizeof *p->v, by_member);
	for (size_t i = 1; i < p->n; i++)
		if (p->v[n - 1].member != p->v[i].member)
			p->v[n++] = p->v[i];
		else
			p->v[n - 1].linked |= p->v[i].linked;
	p->n = n;
}

/* Leaves out the partners of `a` that are not verified. */
static void verify_partners(struct reading *r, uint32_t a)
{
	const struct pd_match_set *m = r->m;
	size_t n = 0;
	for (size_t i = 0; i < r->partners.n; i++) {
		struct pd_match_partner *p = &r->partners.v[i];
		p->similarity = PD_SIMILARITY_UNKNOWN;
		if (m->looks && !pd_verify_rows(&r->verifier, pd_rows_set_row(m->set, a), pd_rows_set_row(m->set, p->member), p->distance, &p->similarity))
			continue;
		r->partners.v[n++] = *p;
	}
	r->partners.n = n;
}

/* The partners of `a` in the parts of a group near its own, the first of them where they are many. */
static void add_near(struct reading *r, uint32_t a, const struct pd_join_pair *near)
{
	int distance = near->distance & ~PD_NEAR_LINKED;
	size_t before = r->partners.n;
	const struct pd_match_set *m = r->m;
	const uint64_t *host = pd_match_scope_inside(m->o->scope) ? &m->links.host[a] : NULL;
	size_t from, to;
	if (!pd_match_parts_several(&m->parts, near->b)) {
		pd_match_links_near(&m->links, a, near->b, distance, &r->partners);
		for (size_t i = before; i < r->partners.n; i++)
			r->partners.v[i].linked = near->distance & PD_NEAR_LINKED;
		return;
	}
	pd_match_parts_of(&m->parts, near->b, host, &from, &to);
	for (; from < to; from++)
		pd_match_links_near(&m->links, a, m->parts.v[from].first, distance, &r->partners);
}

/* Where the pairs whose first end is `group` or larger begin. */
static size_t near_from(const struct pd_join_pairs *pairs, uint32_t group)
{
	return PD_LOWER_BOUND(i, 0, pairs->n, pairs->v[i].a < group);
}

static void add_all_near(struct reading *r, uint32_t a, uint32_t print, const struct pd_join_pairs *pairs, size_t at)
{
	if (at >= pairs->n || pairs->v[at].a != print)
		at = near_from(pairs, print);
	for (; at < pairs->n && pairs->v[at].a == print; at++)
		add_near(r, a, &pairs->v[at]);
}

/* All partners of `a` behind it. */
static void find_partners(struct reading *r, uint32_t a)
{
	const struct pd_match_set *m = r->m;
	uint32_t print = pd_match_groups_name(pd_match_set_prints(m), a);
	r->partners.n = 0;
	pd_match_links_equal(&m->links, a, m->digests ? -1 : 0, &r->partners);
	if (pd_match_links_represents(&m->links, a)) {
		add_all_near(r, a, print, &r->found->near.after, r->after);
		if (r->found->near.before.n)
			add_all_near(r, a, print, &r->found->near.before, r->before);
	}
	if (r->bands < r->found->bands.pairs.n && r->found->bands.pairs.v[r->bands].key >> 32 == a)
		r->bands = pd_match_bands_add(&r->found->bands, r->bands, m, &r->partners);
	verify_partners(r, a);
	sort_partners(&r->partners);
}

/* Most rows are like no other: on to the next that may have a partner. */
static void skip_alone(struct reading *r)
{
	const struct pd_match_set *m = r->m;
	const struct pd_join_pairs *after = &r->found->near.after, *before = &r->found->near.before;
	uint32_t next = pd_match_groups_next(&m->links.groups, r->next);
	const struct pd_match_groups *prints = pd_match_set_prints(m);
	if (prints != &m->links.groups && pd_match_groups_next(prints, r->next) < next)
		next = pd_match_groups_next(prints, r->next);
	while (r->after < after->n && after->v[r->after].a < r->next)
		r->after++;
	while (r->before < before->n && before->v[r->before].a < r->next)
		r->before++;
	if (r->after < after->n && after->v[r->after].a < next)
		next = after->v[r->after].a;
	if (r->before < before->n && before->v[r->before].a < next)
		next = before->v[r->before].a;
	if (r->bands < r->found->bands.pairs.n && r->found->bands.pairs.v[r->bands].key >> 32 < next)
		next = (uint32_t)(r->found->bands.pairs.v[r->bands].key >> 32);
	r->next = next < r->end ? next : r->end;
}

/* What was formatted, when the task's turn has come. */
static void write_out(struct emission *g, struct emitter *w)
{
	if (!w->out.n)
		return;
	pd_turns_wait(g->turns, w->task);
	if (!g->status)
		__atomic_store_n(&g->status, g->sink->write(g->sink->ctx, &w->out), __ATOMIC_RELAXED);
	pd_buf_clear(&w->out);
}

static void format_batch(struct emission *g, struct emitter *w)
{
	g->sink->format(w->formatter, w->batch, w->n, &w->out);
	w->pairs += w->n;
	w->n = 0;
	if (w->out.n >= WRITE_AT)
		write_out(g, w);
}

static void emit_row(struct emission *g, struct emitter *w, struct reading *r)
{
	uint32_t a = r->next, row = pd_rows_set_row(r->m->set, a);
	find_partners(r, a);
	for (size_t i = 0; i < r->partners.n; i++) {
		const struct pd_match_partner *p = &r->partners.v[i];
		w->batch[w->n++] = (struct pd_match_pair){ row, pd_rows_set_row(r->m->set, p->member), p->distance, p->similarity,
								 p->linked };
		if (w->n == BATCH)
			format_batch(g, w);
	}
	r->next++;
	skip_alone(r);
}

/* The first member whose row is `row` or later. */
static uint32_t member_from(const struct pd_rows_set *set, size_t row)
{
	if (!set->row)
		return (uint32_t)(row < set->n ? row : set->n);
	return (uint32_t)PD_LOWER_BOUND(i, 0, set->n, set->row[i] < row);
}

static size_t bands_from(const struct pd_items *pairs, uint32_t member)
{
	return PD_LOWER_BOUND(i, 0, pairs->n, pairs->v[i].key >> 32 < member);
}

static void begin_stretch(struct reading *r, size_t from, size_t to)
{
	r->next = member_from(r->m->set, from);
	r->end = member_from(r->m->set, to);
	r->after = near_from(&r->found->near.after, r->next);
	r->before = near_from(&r->found->near.before, r->next);
	r->bands = bands_from(&r->found->bands.pairs, r->next);
	skip_alone(r);
}

static void stretch_task(void *ctx, size_t task, int thread)
{
	struct emission *g = ctx;
	struct emitter *w = &g->emitters[thread];
	struct reading *x = &w->sets[0], *y = &w->sets[1];
	w->task = task;
	for (int i = 0; i < 2; i++)
		begin_stretch(&w->sets[i], task * STRETCH, (task + 1) * STRETCH);
	/* Both sets side by side, so that pairs come out in the order of rows. */
	while ((x->next < x->end || y->next < y->end) && !__atomic_load_n(&g->status, __ATOMIC_RELAXED)) {
		bool first = y->next >= y->end || (x->next < x->end && pd_rows_set_row(x->m->set, x->next) < pd_rows_set_row(y->m->set, y->next));
		emit_row(g, w, first ? x : y);
	}
	format_batch(g, w);
	write_out(g, w);
	pd_turns_end(g->turns, task);
}

static void emitter_init(struct emitter *w, const struct found *prints, const struct found *digests)
{
	const struct found *found[2] = { prints, digests };
	for (int i = 0; i < 2; i++) {
		w->sets[i].found = found[i];
		w->sets[i].m = &found[i]->set;
		w->sets[i].verifier = pd_match_verifier(found[i]->set.o, found[i]->set.rows);
		w->sets[i].verifier.texts = found[i]->set.digests;
	}
}

static void emitter_release(struct emitter *w)
{
	for (int i = 0; i < 2; i++) {
		pd_verifier_release(&w->sets[i].verifier);
		free(w->sets[i].partners.v);
	}
	pd_buf_release(&w->out);
}

/* The pairs of both sets, in the order of rows; *pairs: how many. */
static int emit_pairs(const struct found *prints, const struct found *digests, const struct pd_match_sink *sink,
		     uint64_t *pairs)
{
	int threads = prints->set.o->threads > 1 ? prints->set.o->threads : 1;
	size_t tasks = (prints->set.rows->n + STRETCH - 1) / STRETCH;
	struct emission g = { .sink = sink, .turns = pd_turns_new(), .n_rows = prints->set.rows->n };
	g.emitters = pd_zalloc((size_t)threads * sizeof *g.emitters);
	for (int i = 0; i < threads; i++) {
		emitter_init(&g.emitters[i], prints, digests);
		g.emitters[i].formatter = sink->formatters[i];
	}
	pd_parallel(threads, tasks, stretch_task, &g);
	for (int i = 0; i < threads; i++) {
		*pairs += g.emitters[i].pairs;
		emitter_release(&g.emitters[i]);
	}
	free(g.emitters);
	pd_turns_free(g.turns);
	return g.status;
}

/* --- matching --- */

const struct pd_match_scope_choice pd_match_scope_choices[] = {
	{ "all", PD_SCOPE_ALL, PD_REALM_NONE },
	{ "same-host", PD_SCOPE_SAME_HOST, PD_REALM_HOST },
	{ "other-hosts", PD_SCOPE_OTHER_HOSTS, PD_REALM_HOST },
	{ "same-language", PD_SCOPE_SAME_LANGUAGE, PD_REALM_LANGUAGE },
	{ "same-domain", PD_SCOPE_SAME_HOST, PD_REALM_OWNER },
	{ "other-domains", PD_SCOPE_OTHER_HOSTS, PD_REALM_OWNER },
	{ "same-site", PD_SCOPE_SAME_HOST, PD_REALM_OWNER, true },
	{ "other-sites", PD_SCOPE_OTHER_HOSTS, PD_REALM_OWNER, true },
};

const char *const pd_match_scope_names[] = { "all", "same-host", "other-hosts", "same-language", "same-domain", "other-domains",
					     "same-site", "other-sites", NULL };
const char *const pd_match_candidates_names[] = { "hamming", "bands", "both", NULL };

/* Of rows without fingerprints only equal texts match. */
static int find_near(struct found *f, struct pd_match_stats *stats, struct pd_err *e)
{
	const struct pd_match_set *m = &f->set;
	int status = PD_OK;
	if (!m->set->n || m->digests)
		return PD_OK;
	if (m->o->candidates != PD_CANDIDATES_BANDS)
		status = pd_match_near_find(&f->near, m, stats, e);
	if (!status && (m->o->candidates != PD_CANDIDATES_HAMMING || f->near.alone)) {
		double t = pd_cpu_seconds();
		status = pd_match_bands_find(&f->bands, m, m->o->candidates == PD_CANDIDATES_HAMMING ? f->near.alone : NULL, e);
		stats->band_width = f->bands.width;
		stats->band_reach = f->bands.reach;
		stats->band_looks = f->bands.looks;
		stats->bands_seconds = pd_cpu_seconds() - t;
	}
	return status;
}

static int find_pairs(struct found *f, struct pd_match_stats *stats, struct pd_err *e)
{
	int status = pd_match_set_open(&f->set, &stats->verify_seconds, e);
	if (!status)
		status = find_near(f, stats, e);
	return status ? status : pd_budget_check(f->set.rows->budget, e);
}

static void release_found(struct found *f)
{
	pd_match_set_release(&f->set);
	pd_match_near_release(&f->near);
	pd_match_bands_release(&f->bands);
}

struct pd_match_pair pd_match_doubted(const struct pd_rows *rows, const struct pd_doubt *doubt)
{
	const struct pd_rows_set *set = &rows->prints;
	uint32_t a = member_from(set, doubt->a), b = member_from(set, doubt->b);
	size_t words = (size_t)set->words;
	bool prints = a < set->n && pd_rows_set_row(set, a) == doubt->a;
	int distance = prints ? pd_bits_distance(set->keys + a * words, set->keys + b * words, (int)words) : -1;
	return (struct pd_match_pair){ .a = doubt->a, .b = doubt->b, .distance = distance, .similarity = doubt->similarity };
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct found prints = { .set = { .rows = rows, .o = o, .set = &rows->prints } };
	struct found digests = { .set = { .rows = rows, .o = o, .set = &rows->digests, .digests = true } };
	*stats = (struct pd_match_stats){ 0 };
	int status = find_pairs(&prints, stats, e);
	if (!status)
		status = find_pairs(&digests, stats, e);
	if (!status)
		status = emit_pairs(&prints, &digests, sink, &stats->pairs);
	release_found(&prints);
	release_found(&digests);
	return status;
}
