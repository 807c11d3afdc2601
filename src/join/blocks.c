/* SPDX-License-Identifier: MIT
 *
 * For each block in turn: keys are sorted by it, and each bucket meets itself and the buckets whose value is within the
 * block's radius.  Where two buckets that meet are big, the bits that are still open are cut into blocks of their own,
 * with what is left of the distance, and the same is done inside.  So a pair is caught by a chain of blocks, one for each
 * level, and counts only when no earlier block of any of those levels catches it too.
 */
#include "join/blocks.h"

#include <stdlib.h>

#include "base/threads.h"
#include "join/frame.h"
#include "join/gather.h"
#include "join/masks.h"
#include "join/suspects.h"
#include "join/table.h"

#define DEPTH_MAX 6	/* then all with all */
#define TASKS 256	/* ranges of buckets that threads take one by one */

/* Sorted tables that meet; a == b: one, with itself. */
struct meeting {
	struct pd_frame frame;
	const struct pd_key_table *a, *b;
	const struct pd_masks *masks;
	int depth;
};

/* Tables of one level of splitting, kept for the next; and what was planned there last. */
struct level {
	struct pd_key_table a, b, whole_a, whole_b;
	struct pd_masks masks;
	struct pd_plan_part part;
	struct pd_plan plan;
};

struct worker {
	const struct pd_keys *keys;
	const struct pd_scan *scan;
	int k;
	struct pd_split split;
	struct pd_hits hits;
	struct pd_suspects suspects;
	struct pd_gather gather;
	struct level levels[DEPTH_MAX];
};

static void meet_bucket(struct worker *w, const struct meeting *m, size_t v);

/* Hits count when the whole keys are near and no earlier block has them. */
static void take_hits(struct worker *w, const struct meeting *m)
{
	for (size_t i = 0; i < w->hits.n; i++)
		pd_suspects_add(&w->suspects, &m->frame, m->a->index + w->hits.v[i].a, m->b->index + w->hits.v[i].b);
	w->hits.n = 0;
}

static const struct pd_scan_loops *loops_of(const struct worker *w, const struct meeting *m)
{
	return &w->scan->by[m->a->is_half ? PD_SCAN_HALF : pd_scan_width_of(w->keys->bits)];
}

static void compare(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self, int spent)
{
	int k = m->a->is_half ? m->frame.window.spare - spent : w->k;
	if (self)
		loops_of(w, m)->self(a, k, &w->hits);
	else
		loops_of(w, m)->cross(a, b, k, &w->hits);
}

/* A bucket with all the neighbours that were listed. */
static void compare_gathered(struct worker *w, const struct meeting *m, struct pd_key_run a, int spent)
{
	while (pd_gather_next(&w->gather, m->b, loops_of(w, m))) {
		compare(w, m, a, (struct pd_key_run){ &w->gather.columns, 0, w->gather.n }, false, spent);
		for (size_t i = 0; i < w->hits.n; i++)
			w->hits.v[i].b = pd_gather_place(&w->gather, w->hits.v[i].b);
		take_hits(w, m);
	}
}

/* A bucket of halves as one of whole keys. */
static struct pd_key_run whole_run(const struct worker *w, const struct pd_key_table *t, struct pd_key_run run,
				   struct pd_key_table *whole)
{
	if (!t->is_half)
		return run;
	struct pd_key_source some = pd_source_some(w->keys, t->index + run.from, run.to - run.from);
	pd_table_build(whole, &some, (struct pd_table_shape){ 0 });
	return (struct pd_key_run){ &whole->columns, 0, whole->n };
}

/* Two runs that meet inside a bucket. */
struct couple {
	const struct pd_key_table *a_table, *b_table;
	struct pd_key_run a, b;
	bool self;
};

/* The buckets of a couple, sorted again by the blocks of `plan`. */
static void split_couple(struct worker *w, const struct meeting *m, const struct couple *c, const struct pd_plan *plan,
			 const struct pd_key *usable)
{
	struct level *level = &w->levels[m->depth];
	int words = w->keys->bits / 64;
	struct meeting inner = { .a = &level->a, .b = c->self ? &level->a : &level->b, .masks = &level->masks,
				 .depth = m->depth + 1 };
	struct pd_key_source a = pd_source_run(c->a_table, c->a, words), b = pd_source_run(c->b_table, c->b, words);
	for (int i = 0; i < plan->n_blocks; i++) {
		if (plan->radius[i] < 0)
			continue;
		pd_frame_open(&inner.frame, &m->frame, plan, i, usable);
		if (pd_frame_left(&inner.frame, 0) < 0)
			break;
		struct pd_table_shape shape = { plan->first_bit[i], plan->n_bits[i], NULL };
		pd_table_build(&level->a, &a, shape);
		if (!c->self)
			pd_table_build(&level->b, &b, shape);
		pd_masks_fill(&level->masks, plan->n_bits[i], plan->radius[i]);
		for (size_t v = 0; v < inner.a->n_values; v++)
			meet_bucket(w, &inner, v);
		pd_suspects_settle(&w->suspects);
	}
}

static bool is_big(const struct worker *w, struct pd_key_run a, struct pd_key_run b)
{
	return (double)(a.to - a.from) * (double)(b.to - b.from) > (double)w->split.over * (double)w->split.over;
}

/* Bits in which the keys of a run differ from `first`. */
static void add_varying(struct pd_key *varying, struct pd_key_run run, const struct pd_key *first, int words)
{
	for (int w = 0; w < words; w++)
		for (size_t i = run.from; i < run.to; i++)
			varying->w[w] |= run.columns->w[w][i] ^ first->w[w];
}

static struct pd_plan_part open_part(const struct worker *w, const struct couple *c)
{
	int words = w->keys->bits / 64;
	struct pd_plan_part part = { .n_a = c->a.to - c->a.from, .n_b = c->self ? 0 : c->b.to - c->b.from };
	struct pd_key first = { { 0 } };
	for (int i = 0; i < words; i++)
		first.w[i] = c->a.columns->w[i][c->a.from];
	add_varying(&part.varying, c->a, &first, words);
	if (!c->self)
		add_varying(&part.varying, c->b, &first, words);
	return part;
}

static bool alike(size_t a, size_t b)
{
	return a <= b + b / 8 && b <= a + a / 8;
}

/* The cheaper of two ways: by the bits of later blocks alone, where less distance is left, or by all that are open.
 * Buckets of one size are many: what was planned for the last is used for the next. */
static struct pd_plan plan_couple(struct worker *w, const struct meeting *m, const struct couple *c, int spent,
				  struct pd_key *usable)
{
	struct level *level = &w->levels[m->depth];
	struct pd_plan_part part = open_part(w, c), *last = &level->part;
	struct pd_plan plans[2];
	const struct pd_key *open[2] = { &m->frame.later, &m->frame.open };
	int left[2] = { pd_frame_left(&m->frame, spent), m->frame.plan->k - spent };
	for (int i = 0; i < 2; i++) {
		part.usable = *open[i];
		plans[i] = (struct pd_plan){ .bits = w->keys->bits, .k = left[i], .scan = w->scan };
		bool known = level->plan.kind != PD_PLAN_AUTO && level->plan.k == left[i] && alike(part.n_a, last->n_a) &&
			     alike(part.n_b, last->n_b) && !memcmp(&part.usable, &last->usable, sizeof part.usable) &&
			     !memcmp(&part.varying, &last->varying, sizeof part.varying);
		if (known) {
			*usable = part.usable;
			return level->plan;
		}
	}
	for (int i = 0; i < 2; i++) {
		part.usable = *open[i];
		pd_plan_part(&plans[i], w->split.kind, &part);
	}
	bool all_open = plans[0].kind != PD_PLAN_BLOCKS || (plans[1].kind == PD_PLAN_BLOCKS && plans[1].cost < plans[0].cost);
	part.usable = *usable = *open[all_open];
	level->part = part;
	level->plan = plans[all_open];
	return plans[all_open];
}

static bool try_split(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self, int spent)
{
	struct level *level = &w->levels[m->depth];
	struct couple c = { .self = self };
	struct pd_key usable;
	c.a = whole_run(w, m->a, a, &level->whole_a);
	c.b = self ? c.a : whole_run(w, m->b, b, &level->whole_b);
	c.a_table = m->a->is_half ? &level->whole_a : m->a;
	c.b_table = self ? c.a_table : m->b->is_half ? &level->whole_b : m->b;
	struct pd_plan plan = plan_couple(w, m, &c, spent, &usable);
	if (plan.kind != PD_PLAN_BLOCKS)
		return false;
	split_couple(w, m, &c, &plan, &usable);
	return true;
}

/* Two buckets whose values differ in `spent` bits; self: a bucket with itself. */
static void meet(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self, int spent)
{
	if (is_big(w, a, b) && m->depth < DEPTH_MAX && try_split(w, m, a, b, self, spent))
		return;
	compare(w, m, a, b, self, spent);
	if (w->hits.n)
		take_hits(w, m);
}

/* Neighbours of bucket v, by some masks: small ones are listed, the others counted. */
static inline __attribute__((always_inline)) size_t list_neighbours(struct pd_gather *g, const struct pd_key_table *t, size_t v,
								    const uint32_t *masks, size_t n, const char *keys, size_t size)
{
	const uint32_t *const start = t->start;
	size_t big = 0;
	for (size_t i = 0; i < n; i++) {
		size_t u = v ^ masks[i];
		uint32_t from = start[u], length = start[u + 1] - from;
		__builtin_prefetch(keys + from * size);
		__builtin_prefetch(keys + (from + length) * size);
		if (__builtin_expect(length < PD_GATHER_SMALL, 1))
			pd_gather_list(g, from, length);
		else
			big++;
	}
	return big;
}

static size_t list_masks(struct worker *w, const struct meeting *m, size_t v, size_t from, size_t to)
{
	const struct pd_columns *c = &m->b->columns;
	if (m->b->is_half)
		return list_neighbours(&w->gather, m->b, v, m->masks->v + from, to - from, (const char *)c->half, sizeof *c->half);
	return list_neighbours(&w->gather, m->b, v, m->masks->v + from, to - from, (const char *)c->w[0], sizeof *c->w[0]);
}

/* What meets inside big buckets lists and gathers too, so they wait until the small ones are done. */
static void meet_big(struct worker *w, const struct meeting *m, size_t v, struct pd_key_run a, int spent, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct pd_key_run b = pd_table_bucket(m->b, v ^ m->masks->v[i]);
		if (b.to - b.from >= PD_GATHER_SMALL)
			meet(w, m, a, b, false, spent);
	}
}

static void meet_masks(struct worker *w, const struct meeting *m, size_t v, struct pd_key_run a, int spent, size_t from, size_t to)
{
	for (size_t at = from, some; at < to; at += some) {
		size_t room = PD_GATHER_RUNS - w->gather.n_runs;
		some = to - at < room ? to - at : room;
		size_t big = list_masks(w, m, v, at, at + some);
		if (big || w->gather.n_runs == PD_GATHER_RUNS)
			compare_gathered(w, m, a, spent);
		if (big)
			meet_big(w, m, v, a, spent, at, at + some);
	}
}

/* Bucket v with those that differ in `spent` bits; of one table with itself with those after it: their highest bit that
 * differs is set. */
static void meet_ring(struct worker *w, const struct meeting *m, size_t v, struct pd_key_run a, int spent)
{
	const size_t *ring = m->masks->ring[spent];
	bool self = m->a == m->b;
	for (int bit = 0; bit < m->masks->n_bits && self; bit++)
		if (!(v >> bit & 1))
			meet_masks(w, m, v, a, spent, ring[bit], ring[bit + 1]);
	if (!self)
		meet_masks(w, m, v, a, spent, ring[0], ring[m->masks->n_bits]);
	compare_gathered(w, m, a, spent);
}

/* Bucket v with all that are within the radius; of one table with itself only with those after it. */
static void meet_bucket(struct worker *w, const struct meeting *m, size_t v)
{
	bool self = m->a == m->b;
	struct pd_key_run a = pd_table_bucket(m->a, v), b = pd_table_bucket(m->b, v);
	if (a.from == a.to)
		return;
	if ((self ? a.from + 1 < a.to : b.from < b.to) && pd_frame_left(&m->frame, 0) >= 0)
		meet(w, m, a, b, self, 0);
	for (int spent = 1; spent <= m->masks->radius && pd_frame_left(&m->frame, spent) >= 0; spent++)
		meet_ring(w, m, v, a, spent);
}

/* The first level: one table that all threads read. */
struct top {
	struct worker *workers;
	struct meeting meeting;
};

static void run_task(void *ctx, size_t i, int thread)
{
	const struct top *top = ctx;
	size_t n = top->meeting.a->n_values;
	for (size_t v = n * i / TASKS; v < n * (i + 1) / TASKS; v++)
		meet_bucket(&top->workers[thread], &top->meeting, v);
	pd_suspects_settle(&top->workers[thread].suspects);
}

/* All keys lie in one bucket: what is within k was caught there, later blocks find nothing. */
static bool all_met(const struct pd_key_table *t)
{
	size_t v = 0;
	while (v < t->n_values && !t->start[v + 1])
		v++;
	return t->start[v + 1] == t->n;
}

static void run_blocks(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct worker *workers)
{
	struct pd_key_table table = { 0 }, other = { 0 };
	struct pd_masks masks = { 0 };
	struct pd_key all;
	struct top top = { .workers = workers, .meeting = { .a = &table, .b = keys->against ? &other : &table, .masks = &masks } };
	struct pd_key_source source = pd_source_keys(keys), against = pd_source_some(keys, keys->against, keys->n_against);
	double t = pd_cpu_seconds();
	memset(&all, 0xff, sizeof all);
	for (int i = 0; i < plan->n_blocks; i++) {
		if (plan->radius[i] < 0)
			continue;
		pd_frame_open(&top.meeting.frame, NULL, plan, i, &all);
		pd_window_choose(&top.meeting.frame.window, plan, i);
		const struct pd_window *window = plan->halves[i] ? &top.meeting.frame.window : NULL;
		struct pd_table_shape shape = { plan->first_bit[i], plan->n_bits[i], window };
		pd_table_build_big(&table, &source, shape, threads);
		if (keys->against)
			pd_table_build_big(&other, &against, shape, threads);
		pd_masks_fill(&masks, plan->n_bits[i], plan->radius[i]);
		pd_plan_clock(&plan->took.tables, &t);
		pd_parallel(threads, TASKS, run_task, &top);
		pd_plan_clock(&plan->took.meetings, &t);
		if (!keys->against && all_met(&table))
			break;
	}
	pd_table_release(&table);
	pd_table_release(&other);
	pd_masks_release(&masks);
}

static void release_worker(struct worker *w)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		pd_table_release(&w->levels[i].a);
		pd_table_release(&w->levels[i].b);
		pd_table_release(&w->levels[i].whole_a);
		pd_table_release(&w->levels[i].whole_b);
		pd_masks_release(&w->levels[i].masks);
	}
	free(w->hits.v);
	pd_gather_release(&w->gather);
}

void pd_blocks_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_split split,
		    struct pd_items *lists)
{
	if (keys->against ? !keys->n || !keys->n_against : keys->n < 2)
		return;
	struct worker *workers = pd_zalloc((size_t)threads * sizeof *workers);
	for (int i = 0; i < threads; i++) {
		workers[i].keys = keys;
		workers[i].scan = plan->scan;
		workers[i].k = plan->k;
		workers[i].split = split;
		workers[i].suspects = (struct pd_suspects){ .keys = keys, .k = plan->k, .found = &lists[i] };
		pd_gather_make(&workers[i].gather);
	}
	run_blocks(keys, plan, threads, workers);
	for (int i = 0; i < threads; i++)
		release_worker(&workers[i]);
	free(workers);
}
