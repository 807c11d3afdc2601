/* SPDX-License-Identifier: MIT
 *
 * First groups near each other are found, then pairs of groups are emitted as pairs of rows.
 */
#include "match/match.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/threads.h"
#include "join/join.h"
#include "match/bands.h"

/* --- groups near each other ---
 *
 * Groups of equal fingerprints -> the groups near each other, as far as they are verified, from both ends.
 * Partners of a row are emitted from the smaller row, so pairs in the order of their smaller group are all that most rows
 * need; the other way round only those pairs are kept whose smaller group may have a row after one of the larger.
 *
 * Dense neighbourhoods.  Where thousands of fingerprints lie within k of each other, all pairs would be their number
 * squared.  So all pairs are joined only while there are no more than NEAR_PAIRS a fingerprint, beyond those that chance
 * gives.  If there are more, fingerprints are taken in an order that depends on their values alone.  One that lies within k
 * of NEAR_LEADERS or more of those taken before it is covered: it is linked to the first of them that it matches, in
 * the order of rows, as a page with the same fingerprint would be, and joined with no other.  What is not covered is joined
 * with all that is not, and so nothing is lost where no neighbourhood is dense.  Covered groups that match none of those
 * before are left to their sketches (`alone`).  With a scope or two sides nothing is linked so, and if there are more pairs than
 * that, all are left to their sketches, as long as all have one; so they are where k is small because bands stand beside it and
 * there are more than NEAR_PAIRS_BESIDE.  Where some have none each fingerprint keeps its first partners, in that same order. */

#define NEAR_PAIRS 64
#define NEAR_PAIRS_BESIDE 8	/* where sketches are there to find what k is too small for */
#define NEAR_PAIRS_LEAST (1 << 20)	/* whatever the number of fingerprints */
#define NEAR_LEADERS 32

#define NEAR_LINKED 0x8000	/* in a pair's distance: one is covered, and linked to the other */

struct near {
	struct pd_join_pairs after;	/* (group, one after it), in order */
	struct pd_join_pairs before;	/* (group, one before it), in order */
	uint8_t *alone;			/* by the name of a group: its rows are left to their sketches; NULL: none is */
	uint8_t *free;			/* by name: no other stands for it; NULL: for none */
};

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

/* Those of a task, before the others cost it anything. */
static void keep_own(const struct pd_match_set *m, struct pd_join_pairs *pairs)
{
	const struct pd_match_share *share = m->o->share;
	const uint64_t *keys = m->set->keys;
	size_t n = 0, words = (size_t)m->set->words;
	if (!share || !share->is_own)
		return;
	for (size_t i = 0; i < pairs->n; i++)
		if (share->is_own(share->ctx, keys + pairs->v[i].a * words, keys + pairs->v[i].b * words))
			pairs->v[n++] = pairs->v[i];
	pairs->n = n;
}

static void verify_pairs(const struct pd_match_set *m, struct pd_join_pairs *pairs, struct pd_match_stats *stats)
{
	int threads = m->o->threads > 1 ? m->o->threads : 1;
	size_t n = 0, tasks = (pairs->n + VERIFY_TASK - 1) / VERIFY_TASK;
	struct verifying v = { .m = m, .pairs = pairs };
	double t = pd_cpu_seconds();
	keep_own(m, pairs);
	stats->candidates += pairs->n;
	if (!m->verifies)
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

static int join_prints(const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_join_plan *plan, struct pd_join_pairs *out,
		struct pd_err *e)
{
	int status = pd_join_plan_choose(plan, m->o->plan, keys->bits, m->o->k, keys->n, keys->n_against, e);
	return status ? status : pd_join_within(keys, plan, m->o->threads, m->rows->budget, out, e);
}

/* Connected components: names that pairs join, in whatever chain.  By name: itself, or one nearer to the first of its component. */
static uint32_t *components_new(size_t n)
{
	uint32_t *component = pd_alloc(n * sizeof *component);
	for (size_t i = 0; i < n; i++)
		component[i] = (uint32_t)i;
	return component;
}

static uint32_t component_of(uint32_t *component, uint32_t name)
{
	while (component[name] != name)
		name = component[name] = component[component[name]];
	return name;
}

/* True: they were two. */
static bool unite(uint32_t *component, uint32_t a, uint32_t b)
{
	a = component_of(component, a);
	b = component_of(component, b);
	component[a > b ? a : b] = a < b ? a : b;
	return a != b;
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
	uint32_t *component;
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

static int ascending_places(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

/* The end of the first round: FIRST_ROUND places lie before it, not about so many.  What is covered meets all that were taken, so
 * one more of them is one more comparison for each of the others. */
static double first_end(const struct pd_join_keys *keys)
{
	double share = 2. * FIRST_ROUND / (double)keys->n, *places = NULL;
	size_t n = 0, cap = 0;
	for (; n < FIRST_ROUND && share < 1; share *= 2) {
		n = 0;
		for (size_t i = 0; i < keys->n; i++) {
			double place = place_of(keys, name_at(keys, i));
			if (place >= share)
				continue;
			places = pd_grow(places, n, &cap, sizeof *places);
			places[n++] = place;
		}
	}
	if (n)
		qsort(places, n, sizeof *places, ascending_places);
	double end = n > FIRST_ROUND ? places[FIRST_ROUND] : 1;
	free(places);
	return end;
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

static void add_found_pair(struct dense *d, uint32_t a, uint32_t b, int distance)
{
	pd_items_add_pair(d->found, a, b, (uint32_t)distance);
	unite(d->component, a, b);
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
			if (m->verifies && has_one_representative(m, name) && has_one_representative(m, other) &&
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
static int cover_some(struct dense *d, const uint32_t *names, size_t n, struct pd_err *e)
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
	int status = join_prints(d->m, &keys, &plan, &pairs, e);
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
			add_found_pair(d, name, other, (int)c.near.v[i].value);
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
		add_found_pair(d, name, d->leader[name], distance_of(d, name, d->leader[name]) | NEAR_LINKED);
	}
	return status;
}

/* All of this round's, some at a time, so that what lies near them does not fill memory. */
static int cover_round(struct dense *d, struct pd_err *e)
{
	size_t some = d->n_taken > COVER_AT_ONCE ? d->n_taken : COVER_AT_ONCE;
	int status = PD_OK;
	for (size_t from = 0; !status && d->n_taken && from < d->n_round; from += some)
		status = cover_some(d, d->round + from, d->n_round - from < some ? d->n_round - from : some, e);
	return status;
}

/* This round's that are not covered with each other. */
static int take_round(struct dense *d, struct pd_err *e)
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
	int status = n > 1 ? join_prints(d->m, &keys, &plan, &pairs, e) : PD_OK;
	verify_pairs(d->m, &pairs, d->stats);
	for (size_t i = 0; i < pairs.n; i++)
		add_found_pair(d, pairs.v[i].a, pairs.v[i].b, pairs.v[i].distance);
	pd_join_pairs_release(&pairs);
	for (size_t i = 0; i < n; i++)
		d->state[d->round[i]] = TAKEN;
	return status;
}

/* --- the first partners of each ---
 *
 * With a scope or two sides a page does not stand for others to all, and without sketches nothing else tells those of a component from
 * each other.  So each fingerprint asks those that it may pair with, in rounds as above, until it has met `enough` of them, and
 * keeps those that it matches.  Every fingerprint asks for itself: one with a partner keeps one, whatever is kept of others, and
 * one with few keeps all.  What asks and who is asked is chosen so that only pairs in scope are met: host by host; or those of
 * two halves of the hosts, once for each bit of their numbers, which any two hosts differ in. */

#define ASKS 1
#define ASKED 2
#define AT_ONCE_COMPARED 4096	/* pairs of so few that a join would take longer */
#define SEVERAL UINT64_MAX	/* homes */
#define COMPONENT_ASKED 32768	/* of other components, at a time, about so many */

struct asker {
	const struct pd_match_set *m;
	const struct pd_join_keys *keys;	/* all */
	struct pd_match_stats *stats;
	struct pd_verifier verifier;
	uint32_t enough;
	uint8_t *role;				/* by name, like those that follow */
	uint8_t *alone;
	uint32_t *n_near, *n_matched;
	uint64_t *home[2];			/* other hosts: the number of its host, or SEVERAL; of those that ask, and that are asked */
	uint32_t *asks, *asked, *round;
	size_t n_asks, n_asked;
	struct pd_items *found;
	uint32_t *component;
	uint8_t *part;				/* ASKS, ASKED: what it does when components are joined */
	bool joins_components, joined;		/* at work; and some that were two are one */
};

static bool has_enough(const struct asker *k, uint32_t name)
{
	if (k->joins_components)
		return k->n_matched[name] || k->n_near[name] >= k->enough;
	return k->n_near[name] >= k->enough && (k->n_matched[name] || k->alone[name]);
}

/* What has enough may have partners that it does not ask. */
static bool stops_asking(struct asker *k, uint32_t name)
{
	bool stops = has_enough(k, name);
	if (stops && !k->joins_components)
		k->part[name] = ASKS | ASKED;
	return stops;
}

/* Those that components have in common may lie on one host. */
static bool is_out_of_scope(const struct asker *k, uint32_t asks, uint32_t asked)
{
	uint64_t home = k->home[0][asks];
	return k->joins_components && k->m->o->scope == PD_SCOPE_OTHER_HOSTS && home != SEVERAL && home == k->home[1][asked];
}

static void meet(struct asker *k, uint32_t a, uint32_t b, int distance)
{
	const struct pd_match_set *m = k->m;
	uint32_t ends[2] = { a, b };
	struct pd_sketch sketch;
	double similarity;
	bool asks[2] = { k->role[a] & ASKS && k->role[b] & ASKED, k->role[b] & ASKS && k->role[a] & ASKED };
	if (!asks[0] && !asks[1])
		return;
	k->stats->candidates++;
	if (is_out_of_scope(k, ends[!asks[0]], ends[asks[0]])) {
		k->n_near[ends[!asks[0]]]++;
		return;
	}
	bool matches = !m->verifies || !has_one_representative(m, a) || !has_one_representative(m, b) ||
		       pd_verify_rows(&k->verifier, pd_rows_set_row(m->set, a), pd_rows_set_row(m->set, b), distance, &similarity);
	for (int i = 0; i < 2; i++)
		if (asks[i]) {
			k->n_near[ends[i]]++;
			k->n_matched[ends[i]] += matches;
			if (k->n_near[ends[i]] == k->enough && !k->n_matched[ends[i]] && !k->joins_components)
				k->alone[ends[i]] = pd_rows_sketch(m->rows, pd_rows_set_row(m->set, ends[i]), &sketch);
		}
	bool were_two = matches && unite(k->component, a, b);
	k->joined |= were_two;
	if (k->joins_components ? were_two : matches)
		pd_items_add_pair(k->found, a, b, (uint32_t)distance);
}

static int key_distance(const struct asker *k, uint32_t a, uint32_t b)
{
	size_t words = (size_t)k->keys->bits / 64;
	return pd_bits_distance(k->keys->v + a * words, k->keys->v + b * words, (int)words);
}

static void compare_few(struct asker *k)
{
	for (size_t i = 0; i < k->n_asks; i++)
		for (size_t j = 0; j < k->n_asked; j++) {
			uint32_t a = k->asks[i], b = k->asked[j];
			/* Of the two ways in which two that both ask and are asked meet one counts. */
			if (a == b || (a > b && k->role[a] == (ASKS | ASKED) && k->role[b] == (ASKS | ASKED)))
				continue;
			int distance = key_distance(k, a, b);
			if (distance <= k->m->o->k)
				meet(k, a, b, distance);
		}
}

/* Those that still ask, some at a time, with those of a round. */
static int ask_round(struct asker *k, size_t n_round, struct pd_err *e)
{
	size_t n = 0;
	int status = PD_OK;
	for (size_t i = 0; i < k->n_asks; i++)
		if (stops_asking(k, k->asks[i]))
			k->role[k->asks[i]] &= (uint8_t)~ASKS;
		else
			k->asks[n++] = k->asks[i];
	k->n_asks = n;
	for (size_t from = 0; !status && n_round && from < n; from += COVER_AT_ONCE) {
		struct pd_join_keys keys = *k->keys;
		struct pd_join_pairs pairs = { 0 };
		struct pd_join_plan plan;
		size_t to = from + COVER_AT_ONCE < n ? from + COVER_AT_ONCE : n;
		for (size_t i = 0; i < n; i++)
			k->role[k->asks[i]] = (uint8_t)((k->role[k->asks[i]] & ~ASKS) | (i >= from && i < to ? ASKS : 0));
		keys.limit = NULL;
		keys.ids = k->asks + from;
		keys.n = to - from;
		keys.against = k->round;
		keys.n_against = n_round;
		keys.sides = k->role;
		status = join_prints(k->m, &keys, &plan, &pairs, e);
		for (size_t i = 0; i < pairs.n; i++)
			meet(k, pairs.v[i].a, pairs.v[i].b, pairs.v[i].distance);
		pd_join_pairs_release(&pairs);
	}
	return status;
}

/* Those listed in `asks` and `asked`, both ascending. */
static int ask_in_rounds(struct asker *k, struct pd_err *e)
{
	int status = PD_OK;
	size_t n_asks = 0;
	for (size_t i = 0; i < k->n_asks; i++)
		if (!stops_asking(k, k->asks[i]))
			k->asks[n_asks++] = k->asks[i];
	k->n_asks = n_asks;
	if (!k->n_asks || !k->n_asked)
		return PD_OK;
	for (size_t i = 0; i < k->n_asks; i++)
		k->role[k->asks[i]] |= ASKS;
	if (k->n_asks * k->n_asked <= AT_ONCE_COMPARED) {
		for (size_t i = 0; i < k->n_asked; i++)
			k->role[k->asked[i]] |= ASKED;
		compare_few(k);
	} else {
		double end = k->joins_components && k->n_asked > COMPONENT_ASKED ? COMPONENT_ASKED / (double)k->n_asked : 1;
		for (double from = 0, to = FIRST_ROUND / (double)k->n_asked; !status && from < end; from = to, to = fmin(2 * to, end)) {
			size_t n = 0;
			for (size_t i = 0; i < k->n_asked; i++) {
				double place = place_of(k->keys, k->asked[i]);
				if (place >= from && place < to)
					k->round[n++] = k->asked[i];
			}
			for (size_t i = 0; i < n; i++)
				k->role[k->round[i]] |= ASKED;
			status = ask_round(k, n, e);
			for (size_t i = 0; i < n; i++)
				k->role[k->round[i]] &= (uint8_t)~ASKED;
		}
	}
	for (size_t i = 0; i < k->n_asks; i++)
		k->role[k->asks[i]] = 0;
	for (size_t i = 0; i < k->n_asked; i++)
		k->role[k->asked[i]] = 0;
	return status;
}

/* --- components that touch ---
 *
 * A fingerprint that stopped asking, or is covered, may be all that its component has in common with another.  So those of each
 * component ask such ones of others until they match one, those of no component first; then, for each bit of the components' numbers, those
 * whose number differs in it; and again, as long as that makes one component of two.  A pair that does is kept.  A fingerprint asks no
 * more that met `enough` and matched none. */

/* Names that may ask, and that may be asked, both ascending. */
struct touching {
	const uint32_t *asks, *asked;
	size_t n_asks, n_asked;
};

/* By name: which component, of those in which some are asked; NONE: in none of them. */
static uint32_t *number_components(struct asker *k, const struct touching *c, uint32_t *n_components)
{
	size_t n = k->m->set->n + 1;
	uint32_t *number = pd_alloc(n * sizeof *number);
	memset(number, 0xff, n * sizeof *number);
	*n_components = 0;
	for (size_t i = 0; i < c->n_asked; i++)
		if (k->part[c->asked[i]] & ASKED && number[component_of(k->component, c->asked[i])] == NONE)
			number[component_of(k->component, c->asked[i])] = (*n_components)++;
	for (size_t i = 0; i < c->n_asks; i++)
		number[c->asks[i]] = number[component_of(k->component, c->asks[i])];
	for (size_t i = 0; i < c->n_asked; i++)
		number[c->asked[i]] = number[component_of(k->component, c->asked[i])];
	return number;
}

/* Those whose component's number has this value of a bit ask those that have the other; bit < 0: those of no component ask all. */
static int ask_components(struct asker *k, const struct touching *c, const uint32_t *number, int bit, uint32_t value, struct pd_err *e)
{
	k->n_asks = k->n_asked = 0;
	for (size_t i = 0; i < c->n_asks; i++) {
		uint32_t name = c->asks[i];
		bool now = bit < 0 ? number[name] == NONE : number[name] != NONE && (number[name] >> bit & 1) == value;
		if (!now || !(k->part[name] & ASKS))
			continue;
		k->n_near[name] = k->n_matched[name] = 0;
		k->asks[k->n_asks++] = name;
	}
	for (size_t i = 0; i < c->n_asked; i++)
		if (k->part[c->asked[i]] & ASKED && (bit < 0 || (number[c->asked[i]] >> bit & 1) != value))
			k->asked[k->n_asked++] = c->asked[i];
	return ask_in_rounds(k, e);
}

static int join_components(struct asker *k, const struct touching *c, struct pd_err *e)
{
	int status = PD_OK;
	uint32_t n;
	k->joins_components = k->joined = true;
	for (bool first = true; !status && k->joined; first = false) {
		uint32_t *number = number_components(k, c, &n);
		k->joined = false;
		if (first)
			status = ask_components(k, c, number, -1, 0, e);
		for (int bit = 0, bits = k->joined ? 0 : 32; !status && bit < bits && n && (n - 1) >> bit; bit++)
			for (uint32_t value = 0; !status && value < 2; value++)
				status = ask_components(k, c, number, bit, value, e);
		free(number);
	}
	k->joins_components = false;
	return status;
}

/* A fingerprint on a host and a side. */
struct at_host {
	uint64_t host;
	uint32_t name;
	uint8_t side;
};

static int by_place(const void *x, const void *y)
{
	const struct at_host *a = x, *b = y;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Where all rows are, by host, then by name, once each; without a scope on one host. */
static struct at_host *list_places(const struct pd_match_set *m, size_t *n)
{
	struct at_host *v = pd_alloc((m->set->n + 1) * sizeof *v);
	for (size_t i = 0; i < m->set->n; i++)
		v[i] = (struct at_host){ m->o->scope == PD_SCOPE_ALL ? 0 : m->links.host[i], pd_match_groups_name(pd_match_set_prints(m), (uint32_t)i),
				       m->rows->side ? m->rows->side[pd_rows_set_row(m->set, (uint32_t)i)] : PD_SIDE_A | PD_SIDE_B };
	qsort(v, m->set->n, sizeof *v, by_place);
	for (size_t i = *n = 0; i < m->set->n; i++)
		if (*n && !by_place(&v[*n - 1], &v[i]))
			v[*n - 1].side |= v[i].side;
		else
			v[(*n)++] = v[i];
	return v;
}

static void ask_anew(struct asker *k, const struct at_host *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->n_near[v[i].name] = k->n_matched[v[i].name] = 0;
}

/* Whoever asked here, each a component of its own. */
static void begin_components(struct asker *k, const struct at_host *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->component[v[i].name] = v[i].name;
}

/* The names of one side, in the order of places. */
static size_t names_on(const struct at_host *v, size_t n, uint8_t side, uint32_t *names)
{
	size_t n_names = 0;
	for (size_t i = 0; i < n; i++)
		if (v[i].side & side)
			names[n_names++] = v[i].name;
	return n_names;
}

/* Of two sides both ask, one after the other: a page of either may be near none but those that have enough. */
static uint8_t last_side(const struct asker *k)
{
	return k->m->rows->side ? PD_SIDE_B : PD_SIDE_A;
}

static uint8_t asked_side(const struct asker *k, uint8_t side)
{
	return k->m->rows->side ? side ^ (PD_SIDE_A | PD_SIDE_B) : side;
}

/* Those of one host. */
static int ask_inside(struct asker *k, const struct at_host *v, size_t n, struct pd_err *e)
{
	uint32_t *asks = pd_alloc(2 * (n + 1) * sizeof *asks), *asked = asks + n + 1;
	int status = PD_OK;
	for (size_t from = 0, to; !status && from < n; from = to) {
		for (to = from; to < n && v[to].host == v[from].host; to++)
			;
		struct touching c = { .asks = asks, .asked = asked };
		begin_components(k, v + from, to - from);
		for (uint8_t side = PD_SIDE_A; !status && side <= last_side(k); side = (uint8_t)(side << 1)) {
			c.n_asks = names_on(v + from, to - from, side, asks);
			c.n_asked = names_on(v + from, to - from, asked_side(k, side), asked);
			memcpy(k->asks, asks, (k->n_asks = c.n_asks) * sizeof *asks);
			memcpy(k->asked, asked, (k->n_asked = c.n_asked) * sizeof *asked);
			ask_anew(k, v + from, to - from);
			status = ask_in_rounds(k, e);
		}
		if (!status)
			status = join_components(k, &c, e);
	}
	free(asks);
	return status;
}

static bool has_home(const struct asker *k, int asked, uint32_t name, bool several, int bit, uint64_t value)
{
	uint64_t home = k->home[asked][name];
	if (home == SEVERAL || several)
		return home == SEVERAL && several;
	return bit < 0 || (home >> bit & 1) == value;
}

#define NOWHERE (UINT64_MAX - 1)

/* names: all, ascending; those with some homes ask those with others. */
static int ask_homes(struct asker *k, const uint32_t *names, size_t n, int asks, int asked, int bit, uint64_t value, struct pd_err *e)
{
	k->n_asks = k->n_asked = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = names[i];
		if (k->home[0][name] != NOWHERE && (asks < 0 || has_home(k, 0, name, asks, bit, value)))
			k->asks[k->n_asks++] = name;
		if (k->home[1][name] != NOWHERE && (asked < 0 || has_home(k, 1, name, asked, bit, !value)))
			k->asked[k->n_asked++] = name;
	}
	return ask_in_rounds(k, e);
}

/* names: all, ascending. */
static int join_homes(struct asker *k, const uint32_t *names, size_t n, struct pd_err *e)
{
	uint32_t *asks = pd_alloc(2 * (n + 1) * sizeof *asks), *asked = asks + n + 1;
	struct touching c = { .asks = asks, .asked = asked };
	for (size_t i = 0; i < n; i++) {
		if (k->home[0][names[i]] != NOWHERE)
			asks[c.n_asks++] = names[i];
		if (k->home[1][names[i]] != NOWHERE)
			asked[c.n_asked++] = names[i];
	}
	int status = join_components(k, &c, e);
	free(asks);
	return status;
}

/* Those of different hosts that one side has: first what is on several. */
static int ask_side(struct asker *k, const struct at_host *v, size_t n, const uint32_t *names, size_t n_names, uint8_t side, struct pd_err *e)
{
	uint64_t number = 0;
	for (size_t i = 0; i < k->m->set->n; i++)
		k->home[0][i] = k->home[1][i] = NOWHERE;
	for (size_t i = 0; i < n; i++) {
		number += i && v[i].host != v[i - 1].host;
		for (int asked = 0; asked < 2; asked++) {
			uint64_t *home = &k->home[asked][v[i].name];
			if (v[i].side & (asked ? asked_side(k, side) : side))
				*home = *home == NOWHERE ? number : SEVERAL;
		}
	}
	ask_anew(k, v, n);
	int status = ask_homes(k, names, n_names, -1, 1, -1, 0, e);
	if (!status)
		status = ask_homes(k, names, n_names, 1, 0, -1, 0, e);
	/* Anew for each bit: those that keep partners of the other half alone might fall in two that never meet. */
	for (int bit = 0; !status && number >> bit; bit++) {
		ask_anew(k, v, n);
		for (uint64_t value = 0; !status && value < 2; value++)
			status = ask_homes(k, names, n_names, 0, 0, bit, value, e);
	}
	return status;
}

static int ask_outside(struct asker *k, const struct at_host *v, size_t n, struct pd_err *e)
{
	const struct pd_match_set *m = k->m;
	uint32_t *names = pd_alloc((m->set->n + 1) * sizeof *names);
	size_t n_names = 0;
	int status = PD_OK;
	for (size_t i = 0; i < m->set->n; i++)
		if (pd_match_groups_name(pd_match_set_prints(m), (uint32_t)i) == i)
			names[n_names++] = (uint32_t)i;
	begin_components(k, v, n);
	for (uint8_t side = PD_SIDE_A; !status && side <= last_side(k); side = (uint8_t)(side << 1))
		status = ask_side(k, v, n, names, n_names, side, e);
	if (!status)
		status = join_homes(k, names, n_names, e);
	free(names);
	return status;
}

/* `found` and `component` are the caller's. */
static void open_asker(struct asker *k, const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_match_stats *stats,
		       uint8_t *alone)
{
	size_t n = m->set->n + 1;
	*k = (struct asker){ .m = m, .keys = keys, .stats = stats, .alone = alone, .verifier = pd_match_verifier(m->o, m->rows) };
	k->enough = NEAR_LEADERS + (uint32_t)(2 * (double)keys->n * pd_join_chance(keys->bits, m->o->k));
	k->role = pd_zalloc(n);
	k->part = pd_zalloc(n);
	k->n_near = pd_zalloc(n * sizeof *k->n_near);
	k->n_matched = pd_zalloc(n * sizeof *k->n_matched);
	k->asks = pd_alloc(n * sizeof *k->asks);
	k->asked = pd_alloc(n * sizeof *k->asked);
	k->round = pd_alloc(n * sizeof *k->round);
	for (int i = 0; i < 2; i++)
		k->home[i] = pd_alloc(n * sizeof *k->home[i]);
}

static void close_asker(struct asker *k)
{
	pd_verifier_release(&k->verifier);
	for (int i = 0; i < 2; i++)
		free(k->home[i]);
	free(k->round);
	free(k->asked);
	free(k->asks);
	free(k->n_matched);
	free(k->n_near);
	free(k->part);
	free(k->role);
}

/* Once each. */
static void keep_once(struct pd_items *pairs)
{
	size_t n = 0;
	for (size_t i = 0; i < pairs->n; i++)
		if (!i || pairs->v[i].key != pairs->v[i - 1].key)
			pairs->v[n++] = pairs->v[i];
	pairs->n = n;
}

static int keep_first(const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_match_stats *stats, struct near *near,
		      struct pd_err *e)
{
	size_t n_places;
	struct at_host *places = list_places(m, &n_places);
	struct asker k;
	struct pd_items all;
	open_asker(&k, m, keys, stats, near->alone);
	k.found = pd_items_lists(1, m->rows->budget);
	k.component = components_new(m->set->n + 1);
	int status = (m->o->scope == PD_SCOPE_OTHER_HOSTS ? ask_outside : ask_inside)(&k, places, n_places, e);
	int gathered = pd_items_gather(k.found, 1, m->o->threads, &all, e);
	keep_once(&all);
	pd_join_pairs_take(&near->after, &all);
	close_asker(&k);
	free(k.component);
	free(places);
	return status ? status : gathered;
}

/* What is covered is compared with no other.  So all that are not, and those of other components, ask it. */
static int join_covered(struct dense *d, struct pd_err *e)
{
	struct asker k;
	size_t n = d->keys->n;
	uint32_t *names = pd_alloc((n + 1) * sizeof *names);
	open_asker(&k, d->m, d->keys, d->stats, d->alone);
	k.found = d->found;
	k.component = d->component;
	for (size_t i = 0; i < n; i++) {
		names[i] = name_at(d->keys, i);
		if (!d->alone[names[i]])
			k.part[names[i]] = d->state[names[i]] == COVERED ? ASKS | ASKED : ASKS;
	}
	int status = join_components(&k, &(struct touching){ names, names, n, n }, e);
	close_asker(&k);
	free(names);
	return status;
}

static int join_dense(const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_match_stats *stats,
		      struct near *near, struct pd_err *e)
{
	struct pd_items all;
	struct pd_array memory[5] = { { 0 } };
	size_t n = m->set->n + 1;
	struct pd_join_keys unlimited = *keys;
	unlimited.limit = NULL;
	struct dense d = { .m = m, .keys = &unlimited, .stats = stats, .alone = near->alone };
	double by_chance = (double)keys->n * pd_join_chance(keys->bits, m->o->k);
	int status = PD_OK;
	d.leaders = NEAR_LEADERS + (uint32_t)(2 * by_chance);
	d.state = pd_array_room(&memory[0], m->rows->budget, n);
	d.n_near = pd_array_room(&memory[1], m->rows->budget, n * sizeof *d.n_near);
	d.leader = pd_array_room(&memory[2], m->rows->budget, n * sizeof *d.leader);
	d.round = pd_array_room(&memory[3], m->rows->budget, n * sizeof *d.round);
	d.taken = pd_array_room(&memory[4], m->rows->budget, n * sizeof *d.taken);
	memset(d.state, WAITS, n);
	memset(d.n_near, 0, n * sizeof *d.n_near);
	memset(d.leader, 0xff, n * sizeof *d.leader);
	d.component = components_new(n);
	d.found = pd_items_lists(1, m->rows->budget);
	for (double from = 0, to = first_end(keys); !status && from < 1; from = to, to *= 2) {
		begin_round(&d, from, to);
		status = cover_round(&d, e);
		if (!status)
			status = take_round(&d, e);
	}
	near->free = pd_zalloc(n);
	for (size_t i = 0; i < n; i++)
		near->free[i] = d.state[i] != COVERED || d.leader[i] == NONE;
	if (!status)
		status = join_covered(&d, e);
	int gathered = pd_items_gather(d.found, 1, m->o->threads, &all, e);
	keep_once(&all);
	pd_join_pairs_take(&near->after, &all);
	free(d.component);
	for (int i = 0; i < 5; i++)
		pd_array_release(&memory[i]);
	return status ? status : gathered;
}

static bool may_link(const struct pd_match_set *m)
{
	return m->o->scope == PD_SCOPE_ALL && !m->o->all_pairs && !m->rows->side;
}

/* What one page stands for to all others it does not to those of one host or one side.  There bands tell such rows from each
 * other (bands.h), if all have what they need.  Where every pair is asked for there is no other way than to compare it. */
static bool may_leave_to_sketches(const struct pd_match_options *o, const struct pd_rows *rows)
{
	return !o->all_pairs && !o->verify.off && rows->sketched == rows->n;
}

/* A k that was chosen to stand beside bands names what costs nothing; what lies close together is theirs. */
bool pd_match_leaves_dense(const struct pd_match_options *o, const struct pd_rows *rows)
{
	return o->candidates == PD_CANDIDATES_BOTH && o->k < pd_verify_default_k(rows->bits, 0) && may_leave_to_sketches(o, rows);
}

/* n: mean of both sides, each a key's others. */
static uint64_t near_most(const struct pd_match_options *o, const struct pd_rows *rows, double n, double pairs_of_all)
{
	return NEAR_PAIRS_LEAST + (uint64_t)((pd_match_leaves_dense(o, rows) ? NEAR_PAIRS_BESIDE : NEAR_PAIRS) * n +
					      pairs_of_all * pd_join_chance(rows->bits, o->k));
}

uint64_t pd_match_near_most(const struct pd_match_options *o, const struct pd_rows *rows, double n)
{
	return near_most(o, rows, n, n * n);
}

/* More are near each other than are all compared: `after` is what is kept of them, `alone` what is left to its sketches. */
static int find_near_where_dense(struct near *near, const struct pd_match_set *m, const struct pd_join_keys *keys, struct pd_match_stats *stats,
				 struct pd_err *e)
{
	near->alone = pd_zalloc(m->set->n + 1);
	if (may_link(m) && !pd_match_leaves_dense(m->o, m->rows))
		return join_dense(m, keys, stats, near, e);
	if (!may_leave_to_sketches(m->o, m->rows))
		return keep_first(m, keys, stats, near, e);
	memset(near->alone, 1, m->set->n);
	return PD_OK;
}

/* A row may have a partner before the first of its own group, where that group's other rows are joined, too. */
static int turn_pairs(struct near *near, const struct pd_match_set *m, struct pd_err *e)
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
static bool mark_many_parts(struct near *near, const struct pd_match_set *m)
{
	bool many = false;
	const struct pd_match_parts *p = &m->parts;
	for (size_t from = 0, to; from < p->n; from = to) {
		for (to = from + 1; to < p->n && p->v[to].print == p->v[from].print; to++)
			;
		if (to - from <= PD_PARTS_TRIED)
			continue;
		if (!near->alone)
			near->alone = pd_zalloc(m->set->n + 1);
		near->alone[p->v[from].print] = 1;
		many = true;
	}
	return many;
}

static int find_near(struct near *near, const struct pd_match_set *m, struct pd_match_stats *stats, struct pd_err *e)
{
	const struct pd_match_share *share = m->o->share;
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
	double n = (double)keys.n, others = keys.against ? (double)keys.n_against : n;
	struct pd_join_limit limit = { .most = share ? share->near_most : near_most(m->o, m->rows, (n + others) / 2, n * others) };
	keys.limit = !limit.most || (m->o->all_pairs && !share) ? NULL : &limit;
	double t = pd_cpu_seconds(), verified = stats->verify_seconds;
	int status = join_prints(m, &keys, &stats->plan, &near->after, e);
	if (!status && !pd_join_is_over(&keys))
		verify_pairs(m, &near->after, stats);
	else if (!status && share)
		stats->dense = true;
	else if (!status)
		status = find_near_where_dense(near, m, &keys, stats, e);
	stats->join_seconds += pd_cpu_seconds() - t - (stats->verify_seconds - verified);
	if (!status)
		status = turn_pairs(near, m, e);
	stats->many_parts = mark_many_parts(near, m);
	for (int i = 0; i < 3; i++)
		pd_array_release(&sides.memory[i]);
	pd_array_release(&names);
	return status;
}

static void release_near(struct near *near)
{
	pd_join_pairs_release(&near->after);
	pd_join_pairs_release(&near->before);
	free(near->alone);
	free(near->free);
}

/* --- emitting ---
 *
 * Threads take stretches of rows one after the other, each formats the pairs of its stretch, and writes when its turn has come;
 * one that has much to write waits for its turn and goes on from there, so that memory stays small and the output is the same
 * for any number of threads. */

#define STRETCH 16384		/* rows that a thread takes at a time */
#define BATCH 1024		/* pairs formatted together */
#define WRITE_AT ((size_t)1 << 20)	/* bytes that wait for their turn */

/* All that was found in one set of rows. */
struct found {
	struct pd_match_set set;
	struct near near;	/* groups by fingerprint */
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
		if (m->verifies && !pd_verify_rows(&r->verifier, pd_rows_set_row(m->set, a), pd_rows_set_row(m->set, p->member), p->distance, &p->similarity))
			continue;
		r->partners.v[n++] = *p;
	}
	r->partners.n = n;
}

/* Where the pairs whose first end is `group` or larger begin. */
static size_t near_from(const struct pd_join_pairs *pairs, uint32_t group)
{
	return PD_LOWER_BOUND(i, 0, pairs->n, pairs->v[i].a < group);
}

static void add_near(struct reading *r, uint32_t a, uint32_t print, const struct pd_join_pairs *pairs, size_t at)
{
	if (at >= pairs->n || pairs->v[at].a != print)
		at = near_from(pairs, print);
	for (; at < pairs->n && pairs->v[at].a == print; at++)
		pd_match_add_near(r->m, a, pairs->v[at].b, pairs->v[at].distance & ~NEAR_LINKED, pairs->v[at].distance & NEAR_LINKED,
				  &r->partners);
}

/* All partners of `a` after it. */
static void find_partners(struct reading *r, uint32_t a)
{
	const struct pd_match_set *m = r->m;
	uint32_t print = pd_match_groups_name(pd_match_set_prints(m), a);
	r->partners.n = 0;
	pd_match_add_equal(m, a, &r->partners);
	if (pd_match_represents(m, a)) {
		add_near(r, a, print, &r->found->near.after, r->after);
		if (r->found->near.before.n)
			add_near(r, a, print, &r->found->near.before, r->before);
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
static void write_formatted(struct emission *g, struct emitter *w)
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
		write_formatted(g, w);
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
	write_formatted(g, w);
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

/* --- texts that are fetched once it is known whose are needed --- */

static void mark_rows(void *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	uint64_t *there = rows;
	(void)out;
	for (size_t i = 0; i < n; i++) {
		__atomic_fetch_or(&there[pairs[i].a / 64], UINT64_C(1) << (pairs[i].a % 64), __ATOMIC_RELAXED);
		__atomic_fetch_or(&there[pairs[i].b / 64], UINT64_C(1) << (pairs[i].b % 64), __ATOMIC_RELAXED);
	}
}

/* Pairs are emitted twice: finding the partners of rows costs less than keeping all pairs. */
static int fetch_texts(const struct found *prints, const struct found *digests, const struct pd_match_sink *sink)
{
	int threads = prints->set.o->threads > 1 ? prints->set.o->threads : 1;
	struct pd_match_sink mark = { .formatters = pd_alloc((size_t)threads * sizeof *mark.formatters), .format = mark_rows };
	uint64_t pairs = 0;
	for (int i = 0; i < threads; i++)
		mark.formatters[i] = prints->set.rows->there;
	int status = emit_pairs(prints, digests, &mark, &pairs);
	free(mark.formatters);
	return status ? status : sink->fetch(sink->ctx);
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

/* Fingerprints near each other, and what bands add to them; of rows without fingerprints only equal texts match. */
static int find_set_pairs(struct found *f, struct pd_match_stats *stats, struct pd_err *e)
{
	const struct pd_match_set *m = &f->set;
	int status = pd_match_set_open(&f->set, &stats->verify_seconds, e);
	bool by_bands = !m->o->share || m->o->share->band != PD_BANDS_NONE;
	if (status || !m->set->n || m->digests)
		return status ? status : pd_budget_check(m->rows->budget, e);
	if (m->o->candidates != PD_CANDIDATES_BANDS)
		status = find_near(&f->near, m, stats, e);
	if (!status && by_bands && (m->o->candidates != PD_CANDIDATES_HAMMING || f->near.alone)) {
		double t = pd_cpu_seconds();
		bool left = m->o->candidates == PD_CANDIDATES_HAMMING;
		status = pd_match_bands_find(&f->bands, m, left ? f->near.alone : f->near.free, left ? m->o->k : -1, e);
		stats->band_width = f->bands.width;
		stats->band_reach = f->bands.reach;
		stats->band_looks = f->bands.compared;
		stats->bands_seconds = pd_cpu_seconds() - t;
	}
	return status ? status : pd_budget_check(m->rows->budget, e);
}

static void release_found(struct found *f)
{
	pd_match_set_release(&f->set);
	release_near(&f->near);
	pd_items_release(&f->bands.pairs);
}

struct pd_match_pair pd_match_doubted(const struct pd_rows *rows, const struct pd_doubt *doubt)
{
	const struct pd_rows_set *set = &rows->fingerprints;
	uint32_t a = member_from(set, doubt->a), b = member_from(set, doubt->b);
	size_t words = (size_t)set->words;
	bool prints = a < set->n && pd_rows_set_row(set, a) == doubt->a;
	int distance = prints ? pd_bits_distance(set->keys + a * words, set->keys + b * words, (int)words) : -1;
	return (struct pd_match_pair){ .a = doubt->a, .b = doubt->b, .distance = distance, .similarity = doubt->similarity };
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct found prints = { .set = { .rows = rows, .o = o, .set = &rows->fingerprints } };
	struct found digests = { .set = { .rows = rows, .o = o, .set = &rows->digests, .digests = true } };
	*stats = (struct pd_match_stats){ 0 };
	int status = find_set_pairs(&prints, stats, e);
	if (!status)
		status = find_set_pairs(&digests, stats, e);
	if (!status && sink->fetch)
		status = fetch_texts(&prints, &digests, sink);
	if (!status)
		status = emit_pairs(&prints, &digests, sink, &stats->pairs);
	release_found(&prints);
	release_found(&digests);
	return status;
}
