/* SPDX-License-Identifier: MIT */
#include "match/near.h"

#include <stdlib.h>

#include "base/threads.h"
#include "join/plan.h"

#define VERIFY_TASK 16384	/* pairs that a thread verifies at a time */
#define FIRST_ROUND 40	/* fingerprints; each round takes twice as many as the one before */
#define COVER_AT_ONCE 65536	/* fingerprints that are held against those taken before */
#define NONE UINT32_MAX

/* Does one row stand for all that have this fingerprint? */
static bool has_one_representative(const struct pd_match_set *m, uint32_t print)
{
	if (m->o->all_pairs || m->rows->side || m->o->scope == PD_SCOPE_OTHER_HOSTS)
		return !pd_match_groups_is_multi(pd_match_set_prints(m), print);
	return !pd_match_parts_several(&m->parts, print);
}

/* Most candidates of a generous k are near by chance: they go before they cost memory twice. */
struct verifying {
	const struct pd_match_set *m;
	struct pd_join_pairs *pairs;
	struct pd_verifier *verifiers;	/* one for each thread */
	size_t *left;			/* of each task's pairs */
};

static void verify_task(void *ctx, size_t task, int thread)
{
	const struct verifying *v = ctx;
	const struct pd_match_set *m = v->m;
	struct pd_join_pair *pairs = v->pairs->v;
	size_t from = task * VERIFY_TASK, to = from + VERIFY_TASK < v->pairs->n ? from + VERIFY_TASK : v->pairs->n, n = from;
	double similarity;
	for (size_t i = from; i < to; i++) {
		const struct pd_join_pair *p = &pairs[i];
		if (i + 8 < to) {
			pd_rows_expect(m->rows, pd_rows_set_row(m->set, p[8].a));
			pd_rows_expect(m->rows, pd_rows_set_row(m->set, p[8].b));
		}
		if (pd_verify_rows(&v->verifiers[thread], pd_rows_set_row(m->set, p->a), pd_rows_set_row(m->set, p->b), p->distance, &similarity) ||
		    !has_one_representative(m, p->a) || !has_one_representative(m, p->b))
			pairs[n++] = *p;
	}
	v->left[task] = n - from;
}

static void verify_pairs(const struct pd_match_set *m, struct pd_join_pairs *pairs, struct pd_match_stats *stats)
{
	int threads = m->o->threads > 1 ? m->o->threads : 1;
	size_t n = 0, tasks = (pairs->n + VERIFY_TASK - 1) / VERIFY_TASK;
	struct verifying v = { .m = m, .pairs = pairs };
	double t = pd_cpu_seconds();
	stats->candidates += pairs->n;
	if (!m->looks)
		return;
	v.left = pd_alloc((tasks + 1) * sizeof *v.left);
	v.verifiers = pd_zalloc((size_t)threads * sizeof *v.verifiers);
	for (int i = 0; i < threads; i++)
		v.verifiers[i] = pd_match_verifier(m->o, m->rows);
	pd_parallel(threads, tasks, verify_task, &v);
	for (size_t i = 0; i < tasks; i++) {
		memmove(pairs->v + n, pairs->v + i * VERIFY_TASK, v.left[i] * sizeof *pairs->v);
		n += v.left[i];
	}
	pairs->n = n;
	for (int i = 0; i < threads; i++)
		pd_verifier_release(&v.verifiers[i]);
	free(v.verifiers);
	free(v.left);
	stats->verify_seconds += pd_cpu_seconds() - t;
}

/* Which groups have rows on each side, by name. */
struct sides {
	uint8_t *of;
	uint32_t *list[2];
	size_t n[2];
	struct pd_array memory[3];
};

static void find_sides(const struct pd_match_set *m, struct sides *s)
{
	const struct pd_match_groups *g = pd_match_set_prints(m);
	s->of = pd_array_room(&s->memory[2], m->rows->budget, m->set->n + 1);
	memset(s->of, 0, m->set->n + 1);
	for (size_t i = 0; i < m->set->n; i++)
		s->of[pd_match_groups_name(g, (uint32_t)i)] |= m->rows->side[pd_rows_set_row(m->set, (uint32_t)i)];
	for (int side = 0; side < 2; side++) {
		s->list[side] = pd_array_room(&s->memory[side], m->rows->budget, (g->n_groups + 1) * sizeof *s->list[side]);
		for (size_t i = 0; i < m->set->n; i++)
			if (s->of[i] & (PD_SIDE_A << side))
				s->list[side][s->n[side]++] = (uint32_t)i;
	}
}

static int join(const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_join_plan *plan, struct pd_join_pairs *out,
		struct pd_err *e)
{
	int status = pd_join_plan_choose_against(plan, m->o->plan, keys->bits, m->o->k, keys->n, keys->n_against, e);
	return status ? status : pd_join_within(keys, plan, m->o->threads, m->rows->budget, out, e);
}

/* What is known of a fingerprint while a dense set is joined round by round. */
enum state { WAITS, IN_ROUND, TAKEN, COVERED = 4 };	/* never 3: what `sides` of struct pd_join_keys would misread */

struct dense {
	const struct pd_match_set *m;
	const struct pd_join_keys *keys;	/* all */
	struct pd_match_stats *stats;
	uint32_t leaders;			/* that cover a fingerprint */
	uint8_t *state;				/* by name, like those that follow */
	uint32_t *n_near;			/* of those taken before */
	uint32_t *leader;			/* the first that it matches */
	uint32_t *round, *taken;		/* names, ascending */
	size_t n_round, n_taken;
	struct pd_items *found;
	uint8_t *alone;
};

static uint32_t name_at(const struct pd_join_keys *keys, size_t i)
{
	return keys->ids ? keys->ids[i] : (uint32_t)i;
}

/* 0 ... 1, the same for the same fingerprint everywhere. */
static double place_of(const struct pd_join_keys *keys, uint32_t name)
{
	size_t bytes = (size_t)keys->bits / 8;
	return (double)(pd_hash64((const char *)keys->v + name * bytes, bytes) >> 11) * 0x1p-53;
}

/* Fingerprints from one place to another are this round's. */
static void begin_round(struct dense *d, double from, double to)
{
	d->n_round = d->n_taken = 0;
	for (size_t i = 0; i < d->keys->n; i++) {
		uint32_t name = name_at(d->keys, i);
		double place = place_of(d->keys, name);
		if (place >= from && place < to) {
			d->state[name] = IN_ROUND;
			d->round[d->n_round++] = name;
		} else if (d->state[name] == TAKEN) {
			d->taken[d->n_taken++] = name;
		}
	}
}

static int distance_of(const struct dense *d, uint32_t a, uint32_t b)
{
	size_t words = (size_t)d->keys->bits / 64;
	return pd_bits_distance(d->keys->v + a * words, d->keys->v + b * words, (int)words);
}

static void find_pair(struct dense *d, uint32_t a, uint32_t b, int distance)
{
	pd_items_add_pair(d->found, a, b, (uint32_t)distance);
}

/* Names of this round with those taken before that lie near them, in the order of both. */
struct covering {
	struct dense *d;
	struct pd_items near;		/* name in the high half, the other in the low one; the distance, or FAILED */
	size_t *start;			/* name after name: where its part begins, and the end */
	size_t n_names;
	struct pd_verifier *verifiers;	/* one for each thread */
};

#define FAILED UINT32_MAX
#define COVER_NAMES 256		/* that a thread deals with at a time */

static bool may_be_covered(const struct dense *d, uint32_t name, uint32_t other)
{
	return d->n_near[name] >= d->leaders && has_one_representative(d->m, name) && has_one_representative(d->m, other);
}

/* What is covered needs the first that it matches, and no more. */
static void cover_task(void *ctx, size_t task, int thread)
{
	struct covering *c = ctx;
	const struct pd_match_set *m = c->d->m;
	size_t to = (task + 1) * COVER_NAMES < c->n_names ? (task + 1) * COVER_NAMES : c->n_names;
	double similarity;
	for (size_t i = task * COVER_NAMES; i < to; i++)
		for (size_t j = c->start[i]; j < c->start[i + 1]; j++) {
			uint32_t name = (uint32_t)(c->near.v[j].key >> 32), other = (uint32_t)c->near.v[j].key;
			if (m->looks && has_one_representative(m, name) && has_one_representative(m, other) &&
			    !pd_verify_rows(&c->verifiers[thread], pd_rows_set_row(m->set, name), pd_rows_set_row(m->set, other),
					    (int)c->near.v[j].value, &similarity)) {
				c->near.v[j].value = FAILED;
			} else if (may_be_covered(c->d, name, other)) {
				c->d->leader[name] = other;
				break;
			}
		}
}

static void verify_covering(struct covering *c)
{
	const struct pd_match_set *m = c->d->m;
	int threads = m->o->threads > 1 ? m->o->threads : 1;
	double t = pd_cpu_seconds();
	c->start = pd_alloc((c->near.n + 1) * sizeof *c->start);
	for (size_t i = 0; i < c->near.n; i++)
		if (!i || c->near.v[i].key >> 32 != c->near.v[i - 1].key >> 32)
			c->start[c->n_names++] = i;
	c->start[c->n_names] = c->near.n;
	c->verifiers = pd_zalloc((size_t)threads * sizeof *c->verifiers);
	for (int i = 0; i < threads; i++)
		c->verifiers[i] = pd_match_verifier(m->o, m->rows);
	pd_parallel(threads, (c->n_names + COVER_NAMES - 1) / COVER_NAMES, cover_task, c);
	for (int i = 0; i < threads; i++)
		pd_verifier_release(&c->verifiers[i]);
	free(c->verifiers);
	free(c->start);
	c->d->stats->verify_seconds += pd_cpu_seconds() - t;
}

/* Some of this round's with all that were taken before: what is covered keeps its link alone. */
static int cover(struct dense *d, const uint32_t *names, size_t n, struct pd_err *e)
{
	struct covering c = { .d = d };
	struct pd_join_keys keys = *d->keys;
	struct pd_join_pairs pairs = { 0 };
	struct pd_join_plan plan;
	keys.ids = names;
	keys.n = n;
	keys.against = d->taken;
	keys.n_against = d->n_taken;
	keys.sides = d->state;
	int status = join(d->m, &keys, &plan, &pairs, e);
	for (size_t i = 0; i < pairs.n; i++) {
		const struct pd_join_pair *p = &pairs.v[i];
		uint32_t name = d->state[p->a] == IN_ROUND ? p->a : p->b;
		d->n_near[name]++;
		pd_items_add(&c.near, (uint64_t)name << 32 | (name == p->a ? p->b : p->a), p->distance);
	}
	d->stats->candidates += pairs.n;
	pd_join_pairs_release(&pairs);
	pd_items_sort(&c.near);
	verify_covering(&c);
	for (size_t i = 0; i < c.near.n; i++) {
		uint32_t name = (uint32_t)(c.near.v[i].key >> 32), other = (uint32_t)c.near.v[i].key;
		if (c.near.v[i].value != FAILED && !may_be_covered(d, name, other))
			find_pair(d, name, other, (int)c.near.v[i].value);
	}
	pd_items_release(&c.near);
	for (size_t i = 0; i < n; i++) {
		uint32_t name = names[i];
		if (d->n_near[name] < d->leaders)
			continue;
		d->state[name] = COVERED;
		d->alone[name] = d->leader[name] == NONE;
		if (d->leader[name] == NONE)
			continue;
		d->stats->linked++;
		find_pair(d, name, d->leader[name], distance_of(d, name, d->leader[name]) | PD_NEAR_LINKED);
	}
	return status;
}

/* All of this round's, some at a time, so that what lies near them does not fill memory. */
static int cover_round(struct dense *d, struct pd_err *e)
{
	size_t some = d->n_taken > COVER_AT_ONCE ? d->n_taken : COVER_AT_ONCE;
	int status = PD_OK;
	for (size_t from = 0; !status && d->n_taken && from < d->n_round; from += some)
		status = cover(d, d->round + from, d->n_round - from < some ? d->n_round - from : some, e);
	return status;
}

/* This round's that are not covered with each other. */
static int take(struct dense *d, struct pd_err *e)
{
	struct pd_join_keys keys = *d->keys;
	struct pd_join_pairs pairs = { 0 };
	struct pd_join_plan plan;
	size_t n = 0;
	for (size_t i = 0; i < d->n_round; i++)
		if (d->state[d->round[i]] == IN_ROUND)
			d->round[n++] = d->round[i];
	keys.ids = d->round;
	keys.n = n;
	int status = n > 1 ? join(d->m, &keys, &plan, &pairs, e) : PD_OK;
	verify_pairs(d->m, &pairs, d->stats);
	for (size_t i = 0; i < pairs.n; i++)
		find_pair(d, pairs.v[i].a, pairs.v[i].b, pairs.v[i].distance);
	pd_join_pairs_release(&pairs);
	for (size_t i = 0; i < n; i++)
		d->state[d->round[i]] = TAKEN;
	return status;
}

static int join_dense(const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_match_stats *stats, uint8_t *alone,
		      struct pd_join_pairs *out, struct pd_err *e)
{
	struct pd_items all;
	struct pd_array memory[5] = { { 0 } };
	size_t n = m->set->n + 1;
	struct pd_join_keys unlimited = *keys;
	unlimited.limit = NULL;
	struct dense d = { .m = m, .keys = &unlimited, .stats = stats, .alone = alone };
	double by_chance = (double)keys->n * pd_join_chance(keys->bits, m->o->k), n_keys = (double)keys->n;
	int status = PD_OK;
	d.leaders = PD_NEAR_LEADERS + (uint32_t)(2 * by_chance);
	d.state = pd_array_room(&memory[0], m->rows->budget, n);
	d.n_near = pd_array_room(&memory[1], m->rows->budget, n * sizeof *d.n_near);
	d.leader = pd_array_room(&memory[2], m->rows->budget, n * sizeof *d.leader);
	d.round = pd_array_room(&memory[3], m->rows->budget, n * sizeof *d.round);
	d.taken = pd_array_room(&memory[4], m->rows->budget, n * sizeof *d.taken);
	memset(d.state, WAITS, n);
	memset(d.n_near, 0, n * sizeof *d.n_near);
	memset(d.leader, 0xff, n * sizeof *d.leader);
	d.found = pd_items_lists(1, m->rows->budget);
	for (double from = 0, to = FIRST_ROUND / n_keys; !status && from < 1; from = to, to *= 2) {
		begin_round(&d, from, to);
		status = cover_round(&d, e);
		if (!status)
			status = take(&d, e);
	}
	int gathered = pd_items_gather(d.found, 1, m->o->threads, &all, e);
	pd_join_pairs_take(out, &all);
	for (int i = 0; i < 5; i++)
		pd_array_release(&memory[i]);
	return status ? status : gathered;
}

static bool may_link(const struct pd_match_set *m)
{
	return m->o->scope == PD_SCOPE_ALL && !m->o->all_pairs && !m->rows->side;
}

/* What one page stands for to all others it does not to those of one host or one side.  There bands tell such rows from each
 * other (bands.h), if all have what they need.  Where every pair is asked for there is no other way than to look at it. */
static bool may_leave_to_sketches(const struct pd_match_set *m)
{
	return !m->o->all_pairs && !m->o->verify.off && m->rows->sketched == m->rows->n;
}

/* Keys in, the pairs of groups near each other out. */
static int join_keys(const struct pd_match_set *m, struct pd_join_keys *keys, struct pd_match_near *near,
		     struct pd_match_stats *stats, struct pd_err *e)
{
	double n = (double)keys->n, t = pd_cpu_seconds(), verified = stats->verify_seconds;
	double others = keys->against ? (double)keys->n_against : n;
	struct pd_join_limit limit = { .most = PD_NEAR_PAIRS_LEAST + (uint64_t)(PD_NEAR_PAIRS * (n + others) / 2 +
									     n * others * pd_join_chance(keys->bits, m->o->k)) };
	keys->limit = may_link(m) || may_leave_to_sketches(m) ? &limit : NULL;
	int status = join(m, keys, &stats->plan, &near->after, e);
	if (!status && pd_join_is_over(keys)) {
		near->alone = pd_zalloc(m->set->n + 1);
		if (may_link(m))
			status = join_dense(m, keys, stats, near->alone, &near->after, e);
		else
			memset(near->alone, 1, m->set->n);
	} else if (!status) {
		verify_pairs(m, &near->after, stats);
	}
	stats->join_seconds += pd_cpu_seconds() - t - (stats->verify_seconds - verified);
	return status;
}

/* A row may have a partner before the first of its own group, where that group's other rows are joined, too. */
static int turn_pairs(struct pd_match_near *near, const struct pd_match_set *m, struct pd_err *e)
{
	struct pd_items *turned = pd_items_lists(1, m->rows->budget), sorted;
	for (size_t i = 0; i < near->after.n; i++) {
		const struct pd_join_pair *p = &near->after.v[i];
		if (pd_match_groups_is_multi(pd_match_set_prints(m), p->a) && pd_match_set_all_represent(m, p->a))
			pd_items_add(turned, (uint64_t)p->b << 32 | p->a, p->distance);
	}
	int status = pd_items_gather(turned, 1, m->o->threads, &sorted, e);
	pd_join_pairs_take(&near->before, &sorted);
	return status;
}

/* Of a group in more parts than are compared, all are left to their sketches. */
static void mark_many_parts(struct pd_match_near *near, const struct pd_match_set *m)
{
	const struct pd_match_parts *p = &m->parts;
	for (size_t from = 0, to; from < p->n; from = to) {
		for (to = from + 1; to < p->n && p->v[to].print == p->v[from].print; to++)
			;
		if (to - from <= PD_PARTS_TRIED)
			continue;
		if (!near->alone)
			near->alone = pd_zalloc(m->set->n + 1);
		near->alone[p->v[from].print] = 1;
	}
}

int pd_match_near_find(struct pd_match_near *near, const struct pd_match_set *m, struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_join_keys keys = { .bits = m->rows->bits, .v = m->set->keys, .n = pd_match_set_prints(m)->n_groups };
	struct sides sides = { 0 };
	struct pd_array names = { 0 };
	stats->distinct = keys.n;
	if (m->rows->side) {
		find_sides(m, &sides);
		keys.ids = sides.list[0];
		keys.n = sides.n[0];
		keys.against = sides.list[1];
		keys.n_against = sides.n[1];
		keys.sides = sides.of;
	} else {
		keys.ids = pd_match_groups_names(pd_match_set_prints(m), &names, m->rows->budget);
	}
	int status = join_keys(m, &keys, near, stats, e);
	if (!status)
		status = turn_pairs(near, m, e);
	mark_many_parts(near, m);
	for (int i = 0; i < 3; i++)
		pd_array_release(&sides.memory[i]);
	pd_array_release(&names);
	return status;
}

void pd_match_near_release(struct pd_match_near *near)
{
	pd_join_pairs_release(&near->after);
	pd_join_pairs_release(&near->before);
	free(near->alone);
}
