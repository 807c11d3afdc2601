/* SPDX-License-Identifier: MIT
 *
 * Find groups near each other, then emit pairs of groups as pairs of rows.
 */
#include "match/match.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/threads.h"
#include "base/union.h"
#include "index/join.h"
#include "match/bands.h"

/* --- groups near each other ---
 *
 * Groups of equal fingerprints -> the groups within k of each other, verified where possible.  A group's name is the
 * number of its first fingerprint.
 *
 * Pairs of rows are emitted from the smaller row.  For most rows the list `after` is sufficient: pairs in the order of
 * their smaller group.  The list `before` has the same pairs the other way round, but only those whose smaller group
 * may have a row after a row of the larger group.
 *
 * Dense neighbourhoods.  If thousands of fingerprints are within k of each other, the number of pairs is quadratic.  So
 * all pairs are found only if there are at most NEAR_PAIRS per fingerprint, in addition to those expected by chance. 
 * Otherwise the set is dense, and fingerprints are processed in a random order that depends only on their values, in
 * rounds of increasing size (join_dense):
 *
 * - A fingerprint that is within k of at least NEAR_REPRESENTATIVES representatives becomes *represented*.  It is
 *   linked to the first of them that it matches, in the order of rows, like a page with an equal fingerprint, and it is
 *   compared with no other.  If it matches none of them, it is compared only by the sketch search (`sketch_only`).
 * - All other fingerprints become *representatives*.  They are compared with each other, so no pair is lost where no
 *   neighbourhood is dense.
 *
 * In the list of pairs, a represented fingerprint thus has only its representative.  With a scope or two sides a
 * fingerprint cannot represent another one for all rows.  Then a dense set is compared only by the sketch search if all rows
 * have sketches.  The same is done if k is small because the sketch search runs as well, and there are more than
 * NEAR_PAIRS_WITH_BANDS pairs per fingerprint.  If some rows have no sketch, each fingerprint keeps its first partners,
 * in the same random order (keep_first_partners). */

#define NEAR_PAIRS 64
#define NEAR_PAIRS_WITH_BANDS 8	   /* if the sketch search finds what a small k misses */
#define NEAR_PAIRS_LEAST (1 << 20) /* for any number of fingerprints */
#define NEAR_REPRESENTATIVES 32

#define NEAR_LINKED 0x8000 /* flag in a pair's distance: one of them is represented by the other */

struct near {
	struct pd_index_pairs after;  /* (group, a later group), in order */
	struct pd_index_pairs before; /* (group, an earlier group), in order */
	uint8_t *sketch_only;	      /* by name of a group: its rows are compared only by the sketch search; NULL: no group
					 * is */
	uint8_t *unrepresented;	      /* by name: it has no representative; NULL: no group is represented */
};

#define VERIFY_TASK 16384     /* pairs that a thread verifies at a time */
#define FIRST_ROUND 40	      /* number of fingerprints; each round has twice as many as the previous one */
#define QUERIES_AT_ONCE 65536 /* fingerprints in one join with the representatives */
#define NONE UINT32_MAX

/* Return whether one row represents all rows with this fingerprint. */
static bool has_one_representative(const struct pd_match_set *m, uint32_t print)
{
	if (m->o->all_pairs || m->rows->side || m->o->scope == PD_SCOPE_OTHER_HOSTS)
		return !pd_match_groups_is_multi(pd_match_set_prints(m), print);
	return !pd_match_parts_several(&m->parts, print);
}

/* Verify candidates.  With a generous k most of them are near by chance, so they are removed before they use more
 * memory. */
struct verifying {
	const struct pd_match_set *m;
	struct pd_index_pairs *pairs;
	struct pd_verifier *verifiers; /* one for each thread */
	size_t *left;		       /* number of verified pairs of each task */
};

static void verify_task(void *ctx, size_t task, int thread)
{
	const struct verifying *v = ctx;
	const struct pd_match_set *m = v->m;
	struct pd_index_pair *pairs = v->pairs->v;
	size_t from = task * VERIFY_TASK, to = from + VERIFY_TASK < v->pairs->n ? from + VERIFY_TASK : v->pairs->n, n = from;
	double similarity;
	if (pd_call_status())
		to = from;
	for (size_t i = from; i < to; i++) {
		const struct pd_index_pair *p = &pairs[i];
		if (i + 8 < to) {
			pd_rows_expect(m->rows, pd_rows_set_row(m->set, p[8].a));
			pd_rows_expect(m->rows, pd_rows_set_row(m->set, p[8].b));
		}
		if (pd_verify_rows(&v->verifiers[thread], pd_rows_set_row(m->set, p->a), pd_rows_set_row(m->set, p->b), p->distance,
				   &similarity) ||
		    !has_one_representative(m, p->a) || !has_one_representative(m, p->b))
			pairs[n++] = *p;
	}
	v->left[task] = n - from;
}

/* Keep the pairs that this share of the rows owns, before the others are verified. */
static void keep_own_pairs(const struct pd_match_set *m, struct pd_index_pairs *pairs)
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

static void verify_pairs(const struct pd_match_set *m, struct pd_index_pairs *pairs, struct pd_match_stats *stats)
{
	int threads = m->o->threads > 1 ? m->o->threads : 1;
	size_t n = 0, tasks = (pairs->n + VERIFY_TASK - 1) / VERIFY_TASK;
	struct verifying v = { .m = m, .pairs = pairs };
	double t = pd_cpu_seconds();
	keep_own_pairs(m, pairs);
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

/* The sides on which each group has rows, by name. */
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

static int join_fingerprints(const struct pd_match_set *m, const struct pd_index_keys *keys, struct pd_index_plan *plan,
			     struct pd_index_pairs *out, struct pd_err *e)
{
	int status = pd_index_plan_choose(plan, m->o->plan, keys->bits, m->o->k, keys->n, keys->n_against, e);
	return status ? status : pd_index_join_within(keys, plan, m->o->threads, m->rows->budget, out, e);
}

/* State of a fingerprint while a dense set is processed. */
enum state {
	PENDING,
	IN_ROUND,
	REPRESENTATIVE,
	REPRESENTED = 4
}; /* never 3, which `sides` of struct pd_index_keys would
							 * misinterpret */

struct dense {
	const struct pd_match_set *m;
	const struct pd_index_keys *keys; /* all fingerprints */
	struct pd_match_stats *stats;
	uint32_t min_near;		   /* number of near representatives from which on a fingerprint is
						 * represented */
	uint8_t *state;			   /* by name, like the next members */
	uint32_t *n_near;		   /* number of near representatives */
	uint32_t *representative;	   /* the first representative that it matches */
	uint32_t *round, *representatives; /* names, ascending */
	size_t n_round, n_representatives;
	struct pd_items *found;
	uint8_t *sketch_only;
	uint32_t *component;
};

static uint32_t name_at(const struct pd_index_keys *keys, size_t i)
{
	return keys->ids ? keys->ids[i] : (uint32_t)i;
}

/* Return the random rank of a fingerprint, from 0 to 1: a hash of its value. */
static double rank_of(const struct pd_index_keys *keys, uint32_t name)
{
	size_t bytes = (size_t)keys->bits / 8;
	return (double)(pd_hash64((const char *)keys->v + name * bytes, bytes) >> 11) * 0x1p-53;
}

static int by_rank(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

/* Return the rank at which the first round ends, so that it has exactly FIRST_ROUND fingerprints.  Later fingerprints
 * are compared with all representatives, so each additional one costs a comparison with every other fingerprint. */
static double first_round_end(const struct pd_index_keys *keys)
{
	double share = 2. * FIRST_ROUND / (double)keys->n, *ranks = NULL;
	size_t n = 0, cap = 0;
	for (; n < FIRST_ROUND && share < 1; share *= 2) {
		n = 0;
		for (size_t i = 0; i < keys->n; i++) {
			double rank = rank_of(keys, name_at(keys, i));
			if (rank >= share)
				continue;
			ranks = pd_grow(ranks, n, &cap, sizeof *ranks);
			ranks[n++] = rank;
		}
	}
	if (n)
		qsort(ranks, n, sizeof *ranks, by_rank);
	double end = n > FIRST_ROUND ? ranks[FIRST_ROUND] : 1;
	free(ranks);
	return end;
}

/* Begin a round with the fingerprints whose ranks are in this interval. */
static void begin_round(struct dense *d, double from, double to)
{
	d->n_round = d->n_representatives = 0;
	for (size_t i = 0; i < d->keys->n; i++) {
		uint32_t name = name_at(d->keys, i);
		double rank = rank_of(d->keys, name);
		if (rank >= from && rank < to) {
			d->state[name] = IN_ROUND;
			d->round[d->n_round++] = name;
		} else if (d->state[name] == REPRESENTATIVE) {
			d->representatives[d->n_representatives++] = name;
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
	pd_union_join(d->component, a, b);
}

/* Fingerprints of this round with the representatives near them, sorted by both. */
struct assignment {
	struct dense *d;
	struct pd_items near; /* name in the high half, representative in the low half; the value is the
					 * distance, or FAILED */
	size_t *start;	      /* start of each name's entries, and the end */
	size_t n_names;
	struct pd_verifier *verifiers; /* one for each thread */
};

#define FAILED UINT32_MAX
#define ASSIGN_NAMES 256 /* names that a thread processes at a time */

static bool may_be_represented(const struct dense *d, uint32_t name, uint32_t other)
{
	return d->n_near[name] >= d->min_near && has_one_representative(d->m, name) && has_one_representative(d->m, other);
}

/* Assign each fingerprint to the first representative that it matches. */
static void assign_task(void *ctx, size_t task, int thread)
{
	struct assignment *c = ctx;
	const struct pd_match_set *m = c->d->m;
	size_t to = (task + 1) * ASSIGN_NAMES < c->n_names ? (task + 1) * ASSIGN_NAMES : c->n_names;
	double similarity;
	if (pd_call_status())
		return;
	for (size_t i = task * ASSIGN_NAMES; i < to; i++)
		for (size_t j = c->start[i]; j < c->start[i + 1]; j++) {
			uint32_t name = (uint32_t)(c->near.v[j].key >> 32), other = (uint32_t)c->near.v[j].key;
			if (m->verifies && has_one_representative(m, name) && has_one_representative(m, other) &&
			    !pd_verify_rows(&c->verifiers[thread], pd_rows_set_row(m->set, name), pd_rows_set_row(m->set, other),
					    (int)c->near.v[j].value, &similarity)) {
				c->near.v[j].value = FAILED;
			} else if (may_be_represented(c->d, name, other)) {
				c->d->representative[name] = other;
				break;
			}
		}
}

static void assign_representatives(struct assignment *c)
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
	pd_parallel(threads, (c->n_names + ASSIGN_NAMES - 1) / ASSIGN_NAMES, assign_task, c);
	for (int i = 0; i < threads; i++)
		pd_verifier_release(&c->verifiers[i]);
	free(c->verifiers);
	free(c->start);
	c->d->stats->verify_seconds += pd_cpu_seconds() - t;
}

/* Join some fingerprints of this round with all representatives of earlier rounds.  If a fingerprint becomes
 * represented, only its link is kept. */
static int assign_some(struct dense *d, const uint32_t *names, size_t n, struct pd_err *e)
{
	struct assignment c = { .d = d };
	struct pd_index_keys keys = *d->keys;
	struct pd_index_pairs pairs = { 0 };
	struct pd_index_plan plan;
	keys.ids = names;
	keys.n = n;
	keys.against = d->representatives;
	keys.n_against = d->n_representatives;
	keys.sides = d->state;
	int status = join_fingerprints(d->m, &keys, &plan, &pairs, e);
	for (size_t i = 0; i < pairs.n; i++) {
		const struct pd_index_pair *p = &pairs.v[i];
		uint32_t name = d->state[p->a] == IN_ROUND ? p->a : p->b;
		d->n_near[name]++;
		pd_items_add(&c.near, (uint64_t)name << 32 | (name == p->a ? p->b : p->a), p->distance);
	}
	d->stats->candidates += pairs.n;
	pd_index_pairs_release(&pairs);
	pd_items_sort(&c.near);
	assign_representatives(&c);
	for (size_t i = 0; i < c.near.n; i++) {
		uint32_t name = (uint32_t)(c.near.v[i].key >> 32), other = (uint32_t)c.near.v[i].key;
		if (c.near.v[i].value != FAILED && !may_be_represented(d, name, other))
			add_found_pair(d, name, other, (int)c.near.v[i].value);
	}
	pd_items_release(&c.near);
	for (size_t i = 0; i < n; i++) {
		uint32_t name = names[i];
		if (d->n_near[name] < d->min_near)
			continue;
		d->state[name] = REPRESENTED;
		d->sketch_only[name] = d->representative[name] == NONE;
		if (d->representative[name] == NONE)
			continue;
		d->stats->linked++;
		add_found_pair(d, name, d->representative[name], distance_of(d, name, d->representative[name]) | NEAR_LINKED);
	}
	return status;
}

/* Do so for all fingerprints of the round, some at a time, to bound the memory for near pairs. */
static int assign_round(struct dense *d, struct pd_err *e)
{
	size_t some = d->n_representatives > QUERIES_AT_ONCE ? d->n_representatives : QUERIES_AT_ONCE;
	int status = PD_OK;
	for (size_t from = 0; !status && d->n_representatives && from < d->n_round; from += some)
		status = assign_some(d, d->round + from, d->n_round - from < some ? d->n_round - from : some, e);
	return status;
}

/* Join the fingerprints of this round that are not represented with each other.  They become representatives. */
static int join_round(struct dense *d, struct pd_err *e)
{
	struct pd_index_keys keys = *d->keys;
	struct pd_index_pairs pairs = { 0 };
	struct pd_index_plan plan;
	size_t n = 0;
	for (size_t i = 0; i < d->n_round; i++)
		if (d->state[d->round[i]] == IN_ROUND)
			d->round[n++] = d->round[i];
	keys.ids = d->round;
	keys.n = n;
	int status = n > 1 ? join_fingerprints(d->m, &keys, &plan, &pairs, e) : PD_OK;
	verify_pairs(d->m, &pairs, d->stats);
	for (size_t i = 0; i < pairs.n; i++)
		add_found_pair(d, pairs.v[i].a, pairs.v[i].b, pairs.v[i].distance);
	pd_index_pairs_release(&pairs);
	for (size_t i = 0; i < n; i++)
		d->state[d->round[i]] = REPRESENTATIVE;
	return status;
}

/* --- the first partners of each fingerprint ---
 *
 * Used for a dense set with a scope or two sides.  There a page cannot represent others for all rows, and if rows have
 * no sketches, all pairs would have to be compared.  Instead each fingerprint is a *query* that is compared with its
 * *targets*, the fingerprints that it may pair with.  Targets come in rounds by random rank, as above.  A query stops
 * after `stop_after` targets within k, and keeps the pairs that match.  A query with few partners finds all of them; a
 * query with many keeps at least one.
 *
 * Queries and targets are chosen so that only pairs in scope are compared: one host after the other; or, for pairs of
 * different hosts, two halves of the hosts, once for each bit of the hosts' numbers, since the numbers of any two hosts
 * differ in some bit. */

#define QUERY 1
#define TARGET 2
#define AT_ONCE_COMPARED 4096	 /* below this number of pairs a join would take longer */
#define SEVERAL_HOSTS UINT64_MAX /* host of a fingerprint with rows on several hosts */
#define COMPONENT_TARGETS 32768	 /* approximate number of targets in other components */

struct searcher {
	const struct pd_match_set *m;
	const struct pd_index_keys *keys; /* all fingerprints */
	struct pd_match_stats *stats;
	struct pd_verifier verifier;
	uint32_t stop_after;
	uint8_t *role; /* by name, like the next members */
	uint8_t *sketch_only;
	uint32_t *n_near, *n_matched;
	uint64_t *host[2]; /* for other-hosts, of queries and of targets: number of the host,
						 * SEVERAL_HOSTS, or NO_HOST */
	uint32_t *queries, *targets, *round;
	size_t n_queries, n_targets;
	struct pd_items *found;
	uint32_t *component;
	uint8_t *component_role;       /* QUERY, TARGET: its role when components are joined */
	bool joins_components, joined; /* currently joining components; two components were joined */
};

static bool has_enough_near(const struct searcher *k, uint32_t name)
{
	if (k->joins_components)
		return k->n_matched[name] || k->n_near[name] >= k->stop_after;
	return k->n_near[name] >= k->stop_after && (k->n_matched[name] || k->sketch_only[name]);
}

/* Return whether the query stops.  A query that stops may have partners that it has not been compared with. */
static bool stops_searching(struct searcher *k, uint32_t name)
{
	bool stops = has_enough_near(k, name);
	if (stops && !k->joins_components)
		k->component_role[name] = QUERY | TARGET;
	return stops;
}

/* Return whether both are on the same host.  When components are joined this is possible even with scope
 * other-hosts. */
static bool is_out_of_scope(const struct searcher *k, uint32_t query, uint32_t target)
{
	uint64_t host = k->host[0][query];
	return k->joins_components && k->m->o->scope == PD_SCOPE_OTHER_HOSTS && host != SEVERAL_HOSTS && host == k->host[1][target];
}

static void add_candidate(struct searcher *k, uint32_t a, uint32_t b, int distance)
{
	const struct pd_match_set *m = k->m;
	uint32_t ends[2] = { a, b };
	struct pd_sketch sketch;
	double similarity;
	bool is_query[2] = { k->role[a] & QUERY && k->role[b] & TARGET, k->role[b] & QUERY && k->role[a] & TARGET };
	if (!is_query[0] && !is_query[1])
		return;
	k->stats->candidates++;
	if (is_out_of_scope(k, ends[!is_query[0]], ends[is_query[0]])) {
		k->n_near[ends[!is_query[0]]]++;
		return;
	}
	bool matches = !m->verifies || !has_one_representative(m, a) || !has_one_representative(m, b) ||
		       pd_verify_rows(&k->verifier, pd_rows_set_row(m->set, a), pd_rows_set_row(m->set, b), distance, &similarity);
	for (int i = 0; i < 2; i++)
		if (is_query[i]) {
			k->n_near[ends[i]]++;
			k->n_matched[ends[i]] += matches;
			if (k->n_near[ends[i]] == k->stop_after && !k->n_matched[ends[i]] && !k->joins_components)
				k->sketch_only[ends[i]] = pd_rows_sketch(m->rows, pd_rows_set_row(m->set, ends[i]), &sketch);
		}
	bool were_two = matches && pd_union_join(k->component, a, b);
	k->joined |= were_two;
	if (k->joins_components ? were_two : matches)
		pd_items_add_pair(k->found, a, b, (uint32_t)distance);
}

static int key_distance(const struct searcher *k, uint32_t a, uint32_t b)
{
	size_t words = (size_t)k->keys->bits / 64;
	return pd_bits_distance(k->keys->v + a * words, k->keys->v + b * words, (int)words);
}

static void compare_few(struct searcher *k)
{
	for (size_t i = 0; i < k->n_queries; i++)
		for (size_t j = 0; j < k->n_targets; j++) {
			uint32_t a = k->queries[i], b = k->targets[j];
			/* If both are queries and targets, only one of the two orders counts. */
			if (a == b || (a > b && k->role[a] == (QUERY | TARGET) && k->role[b] == (QUERY | TARGET)))
				continue;
			int distance = key_distance(k, a, b);
			if (distance <= k->m->o->k)
				add_candidate(k, a, b, distance);
		}
}

/* Compare the remaining queries, some at a time, with the targets of a round. */
static int search_round(struct searcher *k, size_t n_round, struct pd_err *e)
{
	size_t n = 0;
	int status = PD_OK;
	for (size_t i = 0; i < k->n_queries; i++)
		if (stops_searching(k, k->queries[i]))
			k->role[k->queries[i]] &= (uint8_t)~QUERY;
		else
			k->queries[n++] = k->queries[i];
	k->n_queries = n;
	for (size_t from = 0; !status && n_round && from < n; from += QUERIES_AT_ONCE) {
		struct pd_index_keys keys = *k->keys;
		struct pd_index_pairs pairs = { 0 };
		struct pd_index_plan plan;
		size_t to = from + QUERIES_AT_ONCE < n ? from + QUERIES_AT_ONCE : n;
		for (size_t i = 0; i < n; i++)
			k->role[k->queries[i]] = (uint8_t)((k->role[k->queries[i]] & ~QUERY) | (i >= from && i < to ? QUERY : 0));
		keys.limit = NULL;
		keys.ids = k->queries + from;
		keys.n = to - from;
		keys.against = k->round;
		keys.n_against = n_round;
		keys.sides = k->role;
		status = join_fingerprints(k->m, &keys, &plan, &pairs, e);
		for (size_t i = 0; i < pairs.n; i++)
			add_candidate(k, pairs.v[i].a, pairs.v[i].b, pairs.v[i].distance);
		pd_index_pairs_release(&pairs);
	}
	return status;
}

/* Compare `queries` with `targets`, both ascending. */
static int search_in_rounds(struct searcher *k, struct pd_err *e)
{
	int status = PD_OK;
	size_t n_queries = 0;
	for (size_t i = 0; i < k->n_queries; i++)
		if (!stops_searching(k, k->queries[i]))
			k->queries[n_queries++] = k->queries[i];
	k->n_queries = n_queries;
	if (!k->n_queries || !k->n_targets)
		return PD_OK;
	for (size_t i = 0; i < k->n_queries; i++)
		k->role[k->queries[i]] |= QUERY;
	if (k->n_queries * k->n_targets <= AT_ONCE_COMPARED) {
		for (size_t i = 0; i < k->n_targets; i++)
			k->role[k->targets[i]] |= TARGET;
		compare_few(k);
	} else {
		double end = k->joins_components && k->n_targets > COMPONENT_TARGETS ? COMPONENT_TARGETS / (double)k->n_targets : 1;
		for (double from = 0, to = FIRST_ROUND / (double)k->n_targets; !status && from < end;
		     from = to, to = fmin(2 * to, end)) {
			size_t n = 0;
			for (size_t i = 0; i < k->n_targets; i++) {
				double rank = rank_of(k->keys, k->targets[i]);
				if (rank >= from && rank < to)
					k->round[n++] = k->targets[i];
			}
			for (size_t i = 0; i < n; i++)
				k->role[k->round[i]] |= TARGET;
			status = search_round(k, n, e);
			for (size_t i = 0; i < n; i++)
				k->role[k->round[i]] &= (uint8_t)~TARGET;
		}
	}
	for (size_t i = 0; i < k->n_queries; i++)
		k->role[k->queries[i]] = 0;
	for (size_t i = 0; i < k->n_targets; i++)
		k->role[k->targets[i]] = 0;
	return status;
}

/* --- joining components ---
 *
 * A query that stopped, or a represented fingerprint, may be the only connection of its component with another one.  So
 * these fingerprints are compared with such fingerprints of other components until one matches: first the fingerprints
 * that are in none of these components, then, for each bit of the components' numbers, the fingerprints whose numbers
 * differ in this bit.  This is repeated as long as it joins components.  Only pairs that join two components are kept. 
 * A query with `stop_after` near targets and no match is not compared further. */

/* Names of possible queries and targets, both ascending. */
struct component_search {
	const uint32_t *queries, *targets;
	size_t n_queries, n_targets;
};

/* Number the components that contain a target.  By name: number of its component; NONE: it is in another component. */
static uint32_t *number_components(struct searcher *k, const struct component_search *c, uint32_t *n_components)
{
	size_t n = k->m->set->n + 1;
	uint32_t *number = pd_alloc(n * sizeof *number);
	memset(number, 0xff, n * sizeof *number);
	*n_components = 0;
	for (size_t i = 0; i < c->n_targets; i++)
		if (k->component_role[c->targets[i]] & TARGET && number[pd_union_find(k->component, c->targets[i])] == NONE)
			number[pd_union_find(k->component, c->targets[i])] = (*n_components)++;
	for (size_t i = 0; i < c->n_queries; i++)
		number[c->queries[i]] = number[pd_union_find(k->component, c->queries[i])];
	for (size_t i = 0; i < c->n_targets; i++)
		number[c->targets[i]] = number[pd_union_find(k->component, c->targets[i])];
	return number;
}

/* Compare fingerprints of which the number of the component has this value in a bit with those that have the other
 * value; bit < 0: fingerprints in no numbered component with all targets. */
static int search_components(struct searcher *k, const struct component_search *c, const uint32_t *number, int bit, uint32_t value,
			     struct pd_err *e)
{
	k->n_queries = k->n_targets = 0;
	for (size_t i = 0; i < c->n_queries; i++) {
		uint32_t name = c->queries[i];
		bool now = bit < 0 ? number[name] == NONE : number[name] != NONE && (number[name] >> bit & 1) == value;
		if (!now || !(k->component_role[name] & QUERY))
			continue;
		k->n_near[name] = k->n_matched[name] = 0;
		k->queries[k->n_queries++] = name;
	}
	for (size_t i = 0; i < c->n_targets; i++)
		if (k->component_role[c->targets[i]] & TARGET && (bit < 0 || (number[c->targets[i]] >> bit & 1) != value))
			k->targets[k->n_targets++] = c->targets[i];
	return search_in_rounds(k, e);
}

static int join_components(struct searcher *k, const struct component_search *c, struct pd_err *e)
{
	int status = PD_OK;
	uint32_t n;
	k->joins_components = k->joined = true;
	for (bool first = true; !status && k->joined; first = false) {
		uint32_t *number = number_components(k, c, &n);
		k->joined = false;
		if (first)
			status = search_components(k, c, number, -1, 0, e);
		for (int bit = 0, bits = k->joined ? 0 : 32; !status && bit < bits && n && (n - 1) >> bit; bit++)
			for (uint32_t value = 0; !status && value < 2; value++)
				status = search_components(k, c, number, bit, value, e);
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

static int by_host(const void *x, const void *y)
{
	const struct at_host *a = x, *b = y;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* List the hosts of all fingerprints, by host, then by name, without duplicates; without a scope, all on one host. */
static struct at_host *list_hosts(const struct pd_match_set *m, size_t *n)
{
	struct at_host *v = pd_alloc((m->set->n + 1) * sizeof *v);
	for (size_t i = 0; i < m->set->n; i++)
		v[i] = (struct at_host){ m->o->scope == PD_SCOPE_ALL ? 0 : m->links.host[i],
					 pd_match_groups_name(pd_match_set_prints(m), (uint32_t)i),
					 m->rows->side ? m->rows->side[pd_rows_set_row(m->set, (uint32_t)i)]
						       : PD_SIDE_A | PD_SIDE_B };
	qsort(v, m->set->n, sizeof *v, by_host);
	for (size_t i = *n = 0; i < m->set->n; i++)
		if (*n && !by_host(&v[*n - 1], &v[i]))
			v[*n - 1].side |= v[i].side;
		else
			v[(*n)++] = v[i];
	return v;
}

static void reset_counts(struct searcher *k, const struct at_host *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->n_near[v[i].name] = k->n_matched[v[i].name] = 0;
}

/* Make each listed fingerprint a separate component. */
static void begin_components(struct searcher *k, const struct at_host *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->component[v[i].name] = v[i].name;
}

/* List the names with rows on a side, in the order of `v`. */
static size_t names_on(const struct at_host *v, size_t n, uint8_t side, uint32_t *names)
{
	size_t n_names = 0;
	for (size_t i = 0; i < n; i++)
		if (v[i].side & side)
			names[n_names++] = v[i].name;
	return n_names;
}

/* With two sides, the fingerprints of both sides are queries, one side after the other: a page may be near only
 * fingerprints of the other side that have stopped. */
static uint8_t last_side(const struct searcher *k)
{
	return k->m->rows->side ? PD_SIDE_B : PD_SIDE_A;
}

static uint8_t target_side(const struct searcher *k, uint8_t side)
{
	return k->m->rows->side ? side ^ (PD_SIDE_A | PD_SIDE_B) : side;
}

/* Search within each host. */
static int search_each_host(struct searcher *k, const struct at_host *v, size_t n, struct pd_err *e)
{
	uint32_t *queries = pd_alloc(2 * (n + 1) * sizeof *queries), *targets = queries + n + 1;
	int status = PD_OK;
	for (size_t from = 0, to; !status && from < n; from = to) {
		for (to = from; to < n && v[to].host == v[from].host; to++)
			;
		struct component_search c = { .queries = queries, .targets = targets };
		begin_components(k, v + from, to - from);
		for (uint8_t side = PD_SIDE_A; !status && side <= last_side(k); side = (uint8_t)(side << 1)) {
			c.n_queries = names_on(v + from, to - from, side, queries);
			c.n_targets = names_on(v + from, to - from, target_side(k, side), targets);
			memcpy(k->queries, queries, (k->n_queries = c.n_queries) * sizeof *queries);
			memcpy(k->targets, targets, (k->n_targets = c.n_targets) * sizeof *targets);
			reset_counts(k, v + from, to - from);
			status = search_in_rounds(k, e);
		}
		if (!status)
			status = join_components(k, &c, e);
	}
	free(queries);
	return status;
}

static bool is_on_host(const struct searcher *k, int is_target, uint32_t name, bool several, int bit, uint64_t value)
{
	uint64_t host = k->host[is_target][name];
	if (host == SEVERAL_HOSTS || several)
		return host == SEVERAL_HOSTS && several;
	return bit < 0 || (host >> bit & 1) == value;
}

#define NO_HOST (UINT64_MAX - 1)

/* Search from fingerprints on some hosts to fingerprints on others.  names: all, ascending.  several_queries: 1: only
 * queries on several hosts; 0: only on one host whose number has this value in `bit`; -1: all.  several_targets: the same
 * for targets, with the other value. */
static int search_hosts(struct searcher *k, const uint32_t *names, size_t n, int several_queries, int several_targets, int bit,
			uint64_t value, struct pd_err *e)
{
	k->n_queries = k->n_targets = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = names[i];
		if (k->host[0][name] != NO_HOST && (several_queries < 0 || is_on_host(k, 0, name, several_queries, bit, value)))
			k->queries[k->n_queries++] = name;
		if (k->host[1][name] != NO_HOST && (several_targets < 0 || is_on_host(k, 1, name, several_targets, bit, !value)))
			k->targets[k->n_targets++] = name;
	}
	return search_in_rounds(k, e);
}

/* Join the components of all names, which are ascending. */
static int join_hosts(struct searcher *k, const uint32_t *names, size_t n, struct pd_err *e)
{
	uint32_t *queries = pd_alloc(2 * (n + 1) * sizeof *queries), *targets = queries + n + 1;
	struct component_search c = { .queries = queries, .targets = targets };
	for (size_t i = 0; i < n; i++) {
		if (k->host[0][names[i]] != NO_HOST)
			queries[c.n_queries++] = names[i];
		if (k->host[1][names[i]] != NO_HOST)
			targets[c.n_targets++] = names[i];
	}
	int status = join_components(k, &c, e);
	free(queries);
	return status;
}

/* Search from the fingerprints of one side to those of other hosts, beginning with fingerprints on several hosts. */
static int search_side(struct searcher *k, const struct at_host *v, size_t n, const uint32_t *names, size_t n_names, uint8_t side,
		       struct pd_err *e)
{
	uint64_t number = 0;
	for (size_t i = 0; i < k->m->set->n; i++)
		k->host[0][i] = k->host[1][i] = NO_HOST;
	for (size_t i = 0; i < n; i++) {
		number += i && v[i].host != v[i - 1].host;
		for (int is_target = 0; is_target < 2; is_target++) {
			uint64_t *host = &k->host[is_target][v[i].name];
			if (v[i].side & (is_target ? target_side(k, side) : side))
				*host = *host == NO_HOST ? number : SEVERAL_HOSTS;
		}
	}
	reset_counts(k, v, n);
	int status = search_hosts(k, names, n_names, -1, 1, -1, 0, e);
	if (!status)
		status = search_hosts(k, names, n_names, 1, 0, -1, 0, e);
	/* Counts are reset for each bit.  Otherwise queries that stop with partners from only the other half could form
	 * two components that are never compared. */
	for (int bit = 0; !status && number >> bit; bit++) {
		reset_counts(k, v, n);
		for (uint64_t value = 0; !status && value < 2; value++)
			status = search_hosts(k, names, n_names, 0, 0, bit, value, e);
	}
	return status;
}

static int search_other_hosts(struct searcher *k, const struct at_host *v, size_t n, struct pd_err *e)
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
		status = search_side(k, v, n, names, n_names, side, e);
	if (!status)
		status = join_hosts(k, names, n_names, e);
	free(names);
	return status;
}

/* The caller sets `found` and `component`. */
static void open_searcher(struct searcher *k, const struct pd_match_set *m, const struct pd_index_keys *keys,
			  struct pd_match_stats *stats, uint8_t *sketch_only)
{
	size_t n = m->set->n + 1;
	*k = (struct searcher){
		.m = m, .keys = keys, .stats = stats, .sketch_only = sketch_only, .verifier = pd_match_verifier(m->o, m->rows)
	};
	k->stop_after = NEAR_REPRESENTATIVES + (uint32_t)(2 * (double)keys->n * pd_index_chance(keys->bits, m->o->k));
	k->role = pd_zalloc(n);
	k->component_role = pd_zalloc(n);
	k->n_near = pd_zalloc(n * sizeof *k->n_near);
	k->n_matched = pd_zalloc(n * sizeof *k->n_matched);
	k->queries = pd_alloc(n * sizeof *k->queries);
	k->targets = pd_alloc(n * sizeof *k->targets);
	k->round = pd_alloc(n * sizeof *k->round);
	for (int i = 0; i < 2; i++)
		k->host[i] = pd_alloc(n * sizeof *k->host[i]);
}

static void close_searcher(struct searcher *k)
{
	pd_verifier_release(&k->verifier);
	for (int i = 0; i < 2; i++)
		free(k->host[i]);
	free(k->round);
	free(k->targets);
	free(k->queries);
	free(k->n_matched);
	free(k->n_near);
	free(k->component_role);
	free(k->role);
}

/* Remove duplicates. */
static void remove_duplicates(struct pd_items *pairs)
{
	size_t n = 0;
	for (size_t i = 0; i < pairs->n; i++)
		if (!i || pairs->v[i].key != pairs->v[i - 1].key)
			pairs->v[n++] = pairs->v[i];
	pairs->n = n;
}

static int keep_first_partners(const struct pd_match_set *m, const struct pd_index_keys *keys, struct pd_match_stats *stats,
			       struct near *near, struct pd_err *e)
{
	size_t n_hosts;
	struct at_host *hosts = list_hosts(m, &n_hosts);
	struct searcher k;
	struct pd_items all;
	open_searcher(&k, m, keys, stats, near->sketch_only);
	k.found = pd_items_lists(1, m->rows->budget);
	k.component = pd_alloc((m->set->n + 1) * sizeof *k.component);
	pd_union_init(k.component, m->set->n + 1);
	int status = (m->o->scope == PD_SCOPE_OTHER_HOSTS ? search_other_hosts : search_each_host)(&k, hosts, n_hosts, e);
	int gathered = pd_items_gather(k.found, 1, m->o->threads, &all, e);
	remove_duplicates(&all);
	pd_index_pairs_take(&near->after, &all);
	close_searcher(&k);
	free(k.component);
	free(hosts);
	return status ? status : gathered;
}

/* Join represented fingerprints, which were compared only with their representatives.  All representatives, and
 * represented fingerprints of other components, are compared with them. */
static int join_represented(struct dense *d, struct pd_err *e)
{
	struct searcher k;
	size_t n = d->keys->n;
	uint32_t *names = pd_alloc((n + 1) * sizeof *names);
	open_searcher(&k, d->m, d->keys, d->stats, d->sketch_only);
	k.found = d->found;
	k.component = d->component;
	for (size_t i = 0; i < n; i++) {
		names[i] = name_at(d->keys, i);
		if (!d->sketch_only[names[i]])
			k.component_role[names[i]] = d->state[names[i]] == REPRESENTED ? QUERY | TARGET : QUERY;
	}
	int status = join_components(&k, &(struct component_search){ names, names, n, n }, e);
	close_searcher(&k);
	free(names);
	return status;
}

static int join_dense(const struct pd_match_set *m, const struct pd_index_keys *keys, struct pd_match_stats *stats,
		      struct near *near, struct pd_err *e)
{
	struct pd_items all;
	struct pd_array memory[5] = { { 0 } };
	size_t n = m->set->n + 1;
	struct pd_index_keys unlimited = *keys;
	unlimited.limit = NULL;
	struct dense d = { .m = m, .keys = &unlimited, .stats = stats, .sketch_only = near->sketch_only };
	double by_chance = (double)keys->n * pd_index_chance(keys->bits, m->o->k);
	int status = PD_OK;
	d.min_near = NEAR_REPRESENTATIVES + (uint32_t)(2 * by_chance);
	d.state = pd_array_room(&memory[0], m->rows->budget, n);
	d.n_near = pd_array_room(&memory[1], m->rows->budget, n * sizeof *d.n_near);
	d.representative = pd_array_room(&memory[2], m->rows->budget, n * sizeof *d.representative);
	d.round = pd_array_room(&memory[3], m->rows->budget, n * sizeof *d.round);
	d.representatives = pd_array_room(&memory[4], m->rows->budget, n * sizeof *d.representatives);
	memset(d.state, PENDING, n);
	memset(d.n_near, 0, n * sizeof *d.n_near);
	memset(d.representative, 0xff, n * sizeof *d.representative);
	d.component = pd_alloc(n * sizeof *d.component);
	pd_union_init(d.component, n);
	d.found = pd_items_lists(1, m->rows->budget);
	for (double from = 0, to = first_round_end(keys); !status && from < 1; from = to, to *= 2) {
		begin_round(&d, from, to);
		status = assign_round(&d, e);
		if (!status)
			status = join_round(&d, e);
	}
	near->unrepresented = pd_zalloc(n);
	for (size_t i = 0; i < n; i++)
		near->unrepresented[i] = d.state[i] != REPRESENTED || d.representative[i] == NONE;
	if (!status)
		status = join_represented(&d, e);
	int gathered = pd_items_gather(d.found, 1, m->o->threads, &all, e);
	remove_duplicates(&all);
	pd_index_pairs_take(&near->after, &all);
	free(d.component);
	for (int i = 0; i < 5; i++)
		pd_array_release(&memory[i]);
	return status ? status : gathered;
}

static bool may_link(const struct pd_match_set *m)
{
	return m->o->scope == PD_SCOPE_ALL && !m->o->all_pairs && !m->rows->side;
}

/* Return whether a dense set may be compared only by the sketch search (bands.h).  This is used with a scope or two sides, where
 * one page cannot represent another for all rows.  All rows must have sketches.  If all pairs are requested, they must
 * be compared. */
static bool may_leave_to_sketches(const struct pd_match_options *o, const struct pd_rows *rows)
{
	return !o->all_pairs && !o->verify.off && rows->sketched == rows->n;
}

/* Return whether dense neighbourhoods are compared only by the sketch search because k was chosen to supplement it: then
 * fingerprints find only pairs that are cheap to find. */
bool pd_match_leaves_dense(const struct pd_match_options *o, const struct pd_rows *rows)
{
	return o->candidates == PD_CANDIDATES_BOTH && o->k < pd_verify_default_k(rows->bits, 0) && may_leave_to_sketches(o, rows);
}

/* n: number of keys, the mean of both sides. */
static uint64_t near_most(const struct pd_match_options *o, const struct pd_rows *rows, double n, double pairs_of_all)
{
	return NEAR_PAIRS_LEAST + (uint64_t)((pd_match_leaves_dense(o, rows) ? NEAR_PAIRS_WITH_BANDS : NEAR_PAIRS) * n +
					     pairs_of_all * pd_index_chance(rows->bits, o->k));
}

uint64_t pd_match_near_most(const struct pd_match_options *o, const struct pd_rows *rows, double n)
{
	return near_most(o, rows, n, n * n);
}

/* Find pairs in a set with more near pairs than are compared.  `after` receives the pairs that are kept, `sketch_only`
 * marks groups that are compared only by the sketch search. */
static int find_near_in_dense(struct near *near, const struct pd_match_set *m, const struct pd_index_keys *keys,
			      struct pd_match_stats *stats, struct pd_err *e)
{
	near->sketch_only = pd_zalloc(m->set->n + 1);
	if (may_link(m) && !pd_match_leaves_dense(m->o, m->rows))
		return join_dense(m, keys, stats, near, e);
	if (!may_leave_to_sketches(m->o, m->rows))
		return keep_first_partners(m, keys, stats, near, e);
	memset(near->sketch_only, 1, m->set->n);
	return PD_OK;
}

/* Make the list `before`.  A row may have a partner before the first row of its own group if all rows of that group are
 * joined. */
static int reverse_pairs(struct near *near, const struct pd_match_set *m, struct pd_err *e)
{
	struct pd_items *reversed = pd_items_lists(1, m->rows->budget), sorted;
	for (size_t i = 0; i < near->after.n; i++) {
		const struct pd_index_pair *p = &near->after.v[i];
		if (pd_match_groups_is_multi(pd_match_set_prints(m), p->a) && pd_match_set_all_represent(m, p->a))
			pd_items_add(reversed, (uint64_t)p->b << 32 | p->a, p->distance);
	}
	int status = pd_items_gather(reversed, 1, m->o->threads, &sorted, e);
	pd_index_pairs_take(&near->before, &sorted);
	return status;
}

/* If a group has more than PD_PARTS_TRIED parts, leave all its rows to the sketch search. */
static bool mark_many_parts(struct near *near, const struct pd_match_set *m)
{
	bool many = false;
	const struct pd_match_parts *p = &m->parts;
	for (size_t from = 0, to; from < p->n; from = to) {
		for (to = from + 1; to < p->n && p->v[to].print == p->v[from].print; to++)
			;
		if (to - from <= PD_PARTS_TRIED)
			continue;
		if (!near->sketch_only)
			near->sketch_only = pd_zalloc(m->set->n + 1);
		near->sketch_only[p->v[from].print] = 1;
		many = true;
	}
	return many;
}

static int find_near(struct near *near, const struct pd_match_set *m, struct pd_match_stats *stats, struct pd_err *e)
{
	const struct pd_match_share *share = m->o->share;
	struct pd_index_keys keys = { .bits = m->rows->bits, .v = m->set->keys, .n = pd_match_set_prints(m)->n_groups };
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
	struct pd_index_limit limit = { .most = share ? share->near_most : near_most(m->o, m->rows, (n + others) / 2, n * others) };
	keys.limit = !limit.most || (m->o->all_pairs && !share) ? NULL : &limit;
	double t = pd_cpu_seconds(), verified = stats->verify_seconds;
	int status = join_fingerprints(m, &keys, &stats->plan, &near->after, e);
	if (!status && !pd_index_is_over(&keys))
		verify_pairs(m, &near->after, stats);
	else if (!status && share)
		stats->dense = true;
	else if (!status)
		status = find_near_in_dense(near, m, &keys, stats, e);
	stats->join_seconds += pd_cpu_seconds() - t - (stats->verify_seconds - verified);
	if (!status)
		status = reverse_pairs(near, m, e);
	stats->many_parts = mark_many_parts(near, m);
	for (int i = 0; i < 3; i++)
		pd_array_release(&sides.memory[i]);
	pd_array_release(&names);
	return status;
}

static void release_near(struct near *near)
{
	pd_index_pairs_release(&near->after);
	pd_index_pairs_release(&near->before);
	free(near->sketch_only);
	free(near->unrepresented);
}

/* --- emitting ---
 *
 * Threads take stretches of rows in turn, and format the pairs of their stretch.  Output is written in the order of
 * stretches.  A thread with much output waits for its turn and then continues, so that memory is bounded and the output
 * is the same for any number of threads. */

#define STRETCH 16384		   /* rows that a thread takes at a time */
#define BATCH 1024		   /* pairs formatted together */
#define WRITE_AT ((size_t)1 << 20) /* bytes that may wait for their turn */

/* All results for one set of rows. */
struct found {
	struct pd_match_set set;
	struct near near;	     /* groups by fingerprint */
	struct pd_match_bands bands; /* candidates by sketch */
};

/* Position of a thread in one set. */
struct reading {
	const struct pd_match_set *m;
	const struct found *found;
	uint32_t next; /* the next member to process */
	uint32_t end;
	size_t after, before, bands; /* index of the first entry for `next` or a later member */
	struct pd_verifier verifier;
	struct pd_match_partners partners; /* of one row; sorted before they are emitted */
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
	int status; /* set by the thread that is writing */
};

static int by_member(const void *x, const void *y)
{
	const struct pd_match_partner *a = x, *b = y;
	return (a->member > b->member) - (a->member < b->member);
}

/* Sort the partners and remove duplicates, which occur if both fingerprints and sketches, or both sides, found a
 * pair. */
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

/* Remove the partners of `a` that are not verified. */
static void verify_partners(struct reading *r, uint32_t a)
{
	const struct pd_match_set *m = r->m;
	size_t n = 0;
	for (size_t i = 0; i < r->partners.n; i++) {
		struct pd_match_partner *p = &r->partners.v[i];
		p->similarity = PD_SIMILARITY_UNKNOWN;
		if (m->verifies && !pd_verify_rows(&r->verifier, pd_rows_set_row(m->set, a), pd_rows_set_row(m->set, p->member),
						   p->distance, &p->similarity))
			continue;
		r->partners.v[n++] = *p;
	}
	r->partners.n = n;
}

/* Return the index of the first pair whose first group is `group` or larger. */
static size_t near_from(const struct pd_index_pairs *pairs, uint32_t group)
{
	return PD_LOWER_BOUND(i, 0, pairs->n, pairs->v[i].a < group);
}

static void add_near(struct reading *r, uint32_t a, uint32_t print, const struct pd_index_pairs *pairs, size_t at)
{
	if (at >= pairs->n || pairs->v[at].a != print)
		at = near_from(pairs, print);
	for (; at < pairs->n && pairs->v[at].a == print; at++)
		pd_match_add_near(r->m, a, pairs->v[at].b, pairs->v[at].distance & ~NEAR_LINKED,
				  pairs->v[at].distance & NEAR_LINKED, &r->partners);
}

/* Find all partners after `a`. */
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

/* Skip to the next row that may have a partner; most rows have none. */
static void skip_unpaired(struct reading *r)
{
	const struct pd_match_set *m = r->m;
	const struct pd_index_pairs *after = &r->found->near.after, *before = &r->found->near.before;
	uint32_t next = pd_match_groups_next(&m->links.groups, r->next);
	const struct pd_match_groups *fingerprints = pd_match_set_prints(m);
	if (fingerprints != &m->links.groups && pd_match_groups_next(fingerprints, r->next) < next)
		next = pd_match_groups_next(fingerprints, r->next);
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

/* Write the formatted pairs when it is the task's turn. */
static void write_formatted(struct emission *g, struct emitter *w)
{
	if (!w->out.n)
		return;
	pd_turns_wait(g->turns, w->task);
	if (!g->status)
		__atomic_store_n(&g->status, pd_call_status(), __ATOMIC_RELAXED);
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
		w->batch[w->n++] =
			(struct pd_match_pair){ row, pd_rows_set_row(r->m->set, p->member), p->distance, p->similarity, p->linked };
		if (w->n == BATCH)
			format_batch(g, w);
	}
	r->next++;
	skip_unpaired(r);
}

/* Return the first member whose row is `row` or later. */
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
	skip_unpaired(r);
}

static void stretch_task(void *ctx, size_t task, int thread)
{
	struct emission *g = ctx;
	struct emitter *w = &g->emitters[thread];
	struct reading *x = &w->sets[0], *y = &w->sets[1];
	w->task = task;
	for (int i = 0; i < 2; i++)
		begin_stretch(&w->sets[i], task * STRETCH, (task + 1) * STRETCH);
	/* Both sets are read in parallel, so that pairs are in the order of rows. */
	while ((x->next < x->end || y->next < y->end) && !__atomic_load_n(&g->status, __ATOMIC_RELAXED) && !pd_call_status()) {
		bool first = y->next >= y->end ||
			     (x->next < x->end && pd_rows_set_row(x->m->set, x->next) < pd_rows_set_row(y->m->set, y->next));
		emit_row(g, w, first ? x : y);
	}
	format_batch(g, w);
	write_formatted(g, w);
	pd_turns_end(g->turns, task);
}

static void emitter_init(struct emitter *w, const struct found *fingerprints, const struct found *digests)
{
	const struct found *found[2] = { fingerprints, digests };
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

/* Emit the pairs of both sets, in the order of rows; *pairs: their number. */
static int emit_pairs(const struct found *fingerprints, const struct found *digests, const struct pd_match_sink *sink,
		      uint64_t *pairs)
{
	int threads = fingerprints->set.o->threads > 1 ? fingerprints->set.o->threads : 1;
	size_t tasks = (fingerprints->set.rows->n + STRETCH - 1) / STRETCH;
	struct emission g = { .sink = sink, .turns = pd_turns_new(), .n_rows = fingerprints->set.rows->n };
	g.emitters = pd_zalloc((size_t)threads * sizeof *g.emitters);
	for (int i = 0; i < threads; i++) {
		emitter_init(&g.emitters[i], fingerprints, digests);
		g.emitters[i].formatter = sink->formatters[i];
	}
	pd_parallel(threads, tasks, stretch_task, &g);
	for (int i = 0; i < threads; i++) {
		*pairs += g.emitters[i].pairs;
		emitter_release(&g.emitters[i]);
	}
	free(g.emitters);
	pd_turns_free(g.turns);
	return g.status ? g.status : pd_call_status();
}

/* --- texts that are fetched after the pairs are known --- */

static void mark_rows(void *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	uint64_t *there = rows;
	(void)out;
	for (size_t i = 0; i < n; i++) {
		__atomic_fetch_or(&there[pairs[i].a / 64], UINT64_C(1) << (pairs[i].a % 64), __ATOMIC_RELAXED);
		__atomic_fetch_or(&there[pairs[i].b / 64], UINT64_C(1) << (pairs[i].b % 64), __ATOMIC_RELAXED);
	}
}

/* Pairs are emitted twice: finding the partners of rows again costs less than storing all pairs. */
static int fetch_texts(const struct found *fingerprints, const struct found *digests, const struct pd_match_sink *sink)
{
	int threads = fingerprints->set.o->threads > 1 ? fingerprints->set.o->threads : 1;
	struct pd_match_sink mark = { .formatters = pd_alloc((size_t)threads * sizeof *mark.formatters), .format = mark_rows };
	uint64_t pairs = 0;
	for (int i = 0; i < threads; i++)
		mark.formatters[i] = fingerprints->set.rows->there;
	int status = emit_pairs(fingerprints, digests, &mark, &pairs);
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

const char *const pd_match_scope_names[] = { "all",	      "same-host",   "other-hosts",
					     "same-language", "same-domain", "other-domains",
					     "same-site",     "other-sites", NULL };
const char *const pd_match_candidates_names[] = { "hamming", "bands", "both", NULL };

/* Find pairs by fingerprints and by the sketch search.  Rows without fingerprints only match if their texts are
 * equal. */
static int find_set_pairs(struct found *f, struct pd_match_stats *stats, struct pd_err *e)
{
	const struct pd_match_set *m = &f->set;
	int status = pd_match_set_open(&f->set, &stats->verify_seconds, e);
	bool by_bands = !m->o->share || m->o->share->band != PD_BANDS_NONE;
	if (status || !m->set->n || m->digests)
		return status ? status : pd_budget_check(m->rows->budget, e);
	if (m->o->candidates != PD_CANDIDATES_BANDS)
		status = find_near(&f->near, m, stats, e);
	if (!status && by_bands && (m->o->candidates != PD_CANDIDATES_HAMMING || f->near.sketch_only)) {
		double t = pd_cpu_seconds();
		bool left = m->o->candidates == PD_CANDIDATES_HAMMING;
		status = pd_match_bands_find(&f->bands, m, left ? f->near.sketch_only : f->near.unrepresented, left ? m->o->k : -1,
					     e);
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
	bool fingerprints = a < set->n && pd_rows_set_row(set, a) == doubt->a;
	int distance = fingerprints ? pd_bits_distance(set->keys + a * words, set->keys + b * words, (int)words) : -1;
	return (struct pd_match_pair){ .a = doubt->a, .b = doubt->b, .distance = distance, .similarity = doubt->similarity };
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct found fingerprints = { .set = { .rows = rows, .o = o, .set = &rows->fingerprints } };
	struct found digests = { .set = { .rows = rows, .o = o, .set = &rows->digests, .digests = true } };
	*stats = (struct pd_match_stats){ 0 };
	int status = find_set_pairs(&fingerprints, stats, e);
	if (!status)
		status = find_set_pairs(&digests, stats, e);
	if (!status && sink->fetch)
		status = fetch_texts(&fingerprints, &digests, sink);
	if (!status)
		status = emit_pairs(&fingerprints, &digests, sink, &stats->pairs);
	release_found(&fingerprints);
	release_found(&digests);
	return status;
}
