/* SPDX-License-Identifier: MIT */
#include "match/match.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/equal.h"
#include "join/choose.h"
#include "join/join.h"
#include "match/matching.h"

#define LOOK_TASK 16384		/* pairs that a thread looks at again at a time */

static void release(struct pd_matching *m)
{
	pd_groups_release(&m->prints);
	pd_parts_release(&m->parts);
	pd_links_release(&m->links);
	pd_neighbours_release(&m->near);
	pd_near_rows_release(&m->bands);
}

/* Does one row speak for all that have this fingerprint? */
static bool one_speaks(const struct pd_matching *m, uint32_t print)
{
	if (m->o->all_pairs || m->rows->side || m->o->scope == PD_SCOPE_OTHER_HOSTS)
		return !pd_groups_crowded(pd_matching_prints(m), print);
	return !pd_parts_several(&m->parts, print);
}

/* Most candidates of a generous k are near by chance: they go before they cost memory twice. */
struct looking {
	const struct pd_matching *m;
	struct pd_join_pairs *pairs;
	struct pd_verifier *verifiers;	/* one for each thread */
	size_t *left;			/* of each task's pairs */
};

static void look_task(void *ctx, size_t task, int thread)
{
	const struct looking *l = ctx;
	const struct pd_matching *m = l->m;
	size_t from = task * LOOK_TASK, to = from + LOOK_TASK < l->pairs->n ? from + LOOK_TASK : l->pairs->n, n = from;
	double similarity;
	for (size_t i = from; i < to; i++) {
		const struct pd_join_pair *p = &l->pairs->v[i];
		if (i + 8 < to) {
			pd_rows_expect(m->rows, pd_set_row(m->set, p[8].a));
			pd_rows_expect(m->rows, pd_set_row(m->set, p[8].b));
		}
		if (pd_verify_rows(&l->verifiers[thread], pd_set_row(m->set, p->a), pd_set_row(m->set, p->b), p->distance, &similarity) ||
		    !one_speaks(m, p->a) || !one_speaks(m, p->b))
			l->pairs->v[n++] = *p;
	}
	l->left[task] = n - from;
}

static void drop_chance_pairs(const struct pd_matching *m, struct pd_join_pairs *pairs)
{
	int threads = m->o->threads > 1 ? m->o->threads : 1;
	size_t n = 0, tasks = (pairs->n + LOOK_TASK - 1) / LOOK_TASK;
	struct looking l = { .m = m, .pairs = pairs };
	l.left = pd_alloc((tasks + 1) * sizeof *l.left);
	l.verifiers = pd_zalloc((size_t)threads * sizeof *l.verifiers);
	for (int i = 0; i < threads; i++)
		l.verifiers[i] = (struct pd_verifier){ .o = &m->o->verify, .rows = m->rows };
	pd_parallel(threads, tasks, look_task, &l);
	for (size_t i = 0; i < tasks; i++) {
		memmove(pairs->v + n, pairs->v + i * LOOK_TASK, l.left[i] * sizeof *pairs->v);
		n += l.left[i];
	}
	pairs->n = n;
	for (int i = 0; i < threads; i++)
		pd_verifier_release(&l.verifiers[i]);
	free(l.verifiers);
	free(l.left);
}

/* Which groups have rows on each side, by name. */
struct sides {
	uint8_t *of;
	uint32_t *list[2];
	size_t n[2];
	struct pd_array memory[3];
};

static void find_sides(const struct pd_matching *m, struct sides *s)
{
	const struct pd_groups *g = pd_matching_prints(m);
	s->of = pd_array_room(&s->memory[2], m->rows->budget, m->set->n + 1);
	memset(s->of, 0, m->set->n + 1);
	for (size_t i = 0; i < m->set->n; i++)
		s->of[pd_groups_name(g, (uint32_t)i)] |= m->rows->side[pd_set_row(m->set, (uint32_t)i)];
	for (int side = 0; side < 2; side++) {
		s->list[side] = pd_array_room(&s->memory[side], m->rows->budget, (g->n_groups + 1) * sizeof *s->list[side]);
		for (size_t i = 0; i < m->set->n; i++)
			if (s->of[i] & (PD_SIDE_A << side))
				s->list[side][s->n[side]++] = (uint32_t)i;
	}
}

static void use_sides(struct pd_join_keys *keys, const struct sides *s)
{
	keys->ids = s->list[0];
	keys->n = s->n[0];
	keys->against = s->list[1];
	keys->n_against = s->n[1];
	keys->sides = s->of;
}

static void release_sides(struct sides *s)
{
	for (int i = 0; i < 3; i++)
		pd_array_release(&s->memory[i]);
}

/* Keys in, the pairs of groups near each other out. */
static int join_keys(struct pd_matching *m, struct pd_join_keys *keys, struct pd_join_pairs *pairs, struct pd_match_stats *stats,
		     struct pd_err *e)
{
	struct sides sides = { 0 };
	struct pd_array names = { 0 };
	if (m->rows->side) {
		find_sides(m, &sides);
		use_sides(keys, &sides);
	} else {
		keys->ids = pd_groups_names(pd_matching_prints(m), &names, m->rows->budget);
	}
	int status = pd_join_plan_choose_against(&stats->plan, m->o->plan, keys->bits, m->o->k, keys->n, keys->n_against, e);
	if (!status)
		status = pd_join_within(keys, &stats->plan, m->o->threads, m->rows->budget, pairs, e);
	release_sides(&sides);
	pd_array_release(&names);
	return status;
}

/* A row may have a partner before the first of its own group, where that group's other rows speak for themselves. */
static bool from_both_ends(const void *ctx, const struct pd_join_pair *p)
{
	const struct pd_matching *m = ctx;
	return pd_groups_crowded(pd_matching_prints(m), p->a) && pd_matching_all_speak(m, p->a);
}

static int join_prints(struct pd_matching *m, struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_join_pairs pairs = { 0 };
	struct pd_join_keys keys = { .bits = m->rows->bits, .v = m->set->keys, .n = pd_matching_prints(m)->n_groups };
	double t = pd_cpu_seconds();
	stats->distinct = keys.n;
	int status = join_keys(m, &keys, &pairs, stats, e);
	stats->join_seconds = pd_cpu_seconds() - t;
	stats->candidates = pairs.n;
	t = pd_cpu_seconds();
	if (!status && m->looks)
		drop_chance_pairs(m, &pairs);
	stats->verify_seconds += pd_cpu_seconds() - t;
	if (!status)
		status = pd_neighbours_init(&m->near, &pairs, from_both_ends, m, m->o->threads, m->rows->budget, e);
	pd_join_pairs_release(&pairs);
	return status;
}

static int join_sketches(struct pd_matching *m, struct pd_match_stats *stats, struct pd_err *e)
{
	double t = pd_cpu_seconds();
	int status = PD_OK;
	if (m->rows->sketched && !m->o->verify.off)
		status = pd_near_rows_find(&m->bands, m->rows, m->set, &m->links, m->o, e);
	stats->band_width = m->bands.width;
	stats->bands_seconds = pd_cpu_seconds() - t;
	return status;
}

/* Groups of equal keys become links of the parts that are alike by their sketches too. */
static void make_links(struct pd_matching *m, struct pd_match_stats *stats)
{
	struct pd_verify_options verify = m->o->verify;
	struct pd_verifier verifier = { .o = &verify, .rows = m->rows };
	struct pd_groups by_part = { 0 };
	double t = pd_cpu_seconds();
	/* Pages of one host are no pair there, so they may stand together as pages of two would. */
	if (m->o->scope == PD_SCOPE_OTHER_HOSTS)
		verify.least_same_host = verify.least;
	if (m->looks && !m->o->all_pairs)
		pd_parts_split(&m->parts, &m->prints, m->set, m->o->scope, &verifier, &by_part);
	stats->verify_seconds += pd_cpu_seconds() - t;
	pd_verifier_release(&verifier);
	pd_links_init(&m->links, m->parts.n ? &by_part : &m->prints, m->o, m->rows, m->set);
}

static int match_open(struct pd_matching *m, struct pd_match_stats *stats, struct pd_err *e)
{
	if (!m->set->n)
		return PD_OK;
	int status = pd_equal_groups(m->set->keys, m->set->words, m->set->n, m->o->threads, m->rows->budget, &m->prints, e);
	if (status)
		return status;
	m->looks = !m->digests && !m->o->verify.off && (m->rows->sketched || m->o->verify.k_unknown < m->o->k);
	make_links(m, stats);
	if (!m->digests && m->o->candidates != PD_CANDIDATES_HAMMING)
		status = join_sketches(m, stats, e);
	if (!status && !m->digests && m->o->candidates != PD_CANDIDATES_BANDS)
		status = join_prints(m, stats, e);
	return status ? status : pd_budget_check(m->rows->budget, e);
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_matching prints = { .rows = rows, .o = o, .set = &rows->prints };
	struct pd_matching digests = { .rows = rows, .o = o, .set = &rows->digests, .digests = true };
	*stats = (struct pd_match_stats){ 0 };
	int status = match_open(&prints, stats, e);
	if (!status)
		status = match_open(&digests, stats, e);
	if (!status)
		status = pd_matching_give(&prints, &digests, sink, stats);
	release(&prints);
	release(&digests);
	return status;
}
