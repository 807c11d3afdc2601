/* SPDX-License-Identifier: MIT
 *
 * For each block in turn: keys are sorted by it, and each bucket meets itself and the buckets whose value is within the
 * block's radius.  Where two buckets that meet are big, the bits that are still open are cut into blocks of their own,
 * with what is left of the distance, and the same is done inside.  So a pair is caught by a chain of blocks, one for each
 * level, and counts only when no earlier block of any of those levels catches it too.
 */
#include "match/blocks.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/frame.h"
#include "match/gather.h"
#include "match/table.h"

#define DEPTH_MAX 6	/* then all with all */
#define AHEAD 2		/* buckets */
#define TASKS 256	/* ranges of buckets that threads take one by one */

/* Differences of neighbouring buckets, ring by ring: first all values of one bit, then of two, … */
struct masks {
	int radius;
	size_t ring[PD_BLOCK_BITS_MAX + 2];	/* ring[s]: where the values of s bits begin */
	uint16_t *v;
	size_t n, cap;
};

/* Sorted tables that meet; a == b: one, with itself. */
struct meeting {
	struct pd_frame frame;
	const struct pd_key_table *a, *b;
	const struct masks *masks;
	int depth;
};

/* Tables of one level of splitting, kept for the next; and what was planned there last. */
struct level {
	struct pd_key_table a, b, whole_a, whole_b;
	struct masks masks;
	struct pd_plan_part part;
	struct pd_plan plan;
};

struct worker {
	const struct pd_keys *keys;
	const struct pd_scan *scan;
	int k;
	struct pd_split split;
	struct pd_items *found;
	struct pd_hits hits;
	struct pd_gather gather;
	struct level levels[DEPTH_MAX];
};

static void meet_bucket(struct worker *w, const struct meeting *m, size_t v);

static void fill_masks(struct masks *m, int n_bits, int radius)
{
	m->n = 0;
	m->radius = radius < n_bits ? radius : n_bits;
	for (int spent = 1; spent <= m->radius; spent++) {
		m->ring[spent] = m->n;
		/* The next larger value of as many bits (H. S. Warren, "Hacker's Delight", 2-1). */
		for (uint32_t x = (1U << spent) - 1, low; x < UINT32_C(1) << n_bits; x = (((x ^ (x + low)) >> 2) / low) | (x + low)) {
			m->v = pd_grow(m->v, m->n, &m->cap, sizeof *m->v);
			m->v[m->n++] = (uint16_t)x;
			low = x & -x;
		}
	}
	m->ring[m->radius + 1] = m->n;
}

static int distance(const uint64_t *x, const uint64_t *y, int words)
{
	int d = 0;
	for (int w = 0; w < words; w++)
		d += __builtin_popcountll(x[w] ^ y[w]);
	return d;
}

/* Hits are candidates where halves were compared; they count when the whole keys are near and no earlier block has
 * them. */
static void take_hits(struct worker *w, const struct meeting *m)
{
	int words = w->keys->bits / 64;
	for (size_t i = 0; i < w->hits.n; i++) {
		uint64_t x = m->a->index[w->hits.v[i].a], y = m->b->index[w->hits.v[i].b];
		const uint64_t *p = w->keys->v + x * (size_t)words, *q = w->keys->v + y * (size_t)words;
		int d = m->a->is_half ? distance(p, q, words) : (int)w->hits.v[i].distance;
		if (d <= w->k && pd_keys_pair(w->keys, (uint32_t)x, (uint32_t)y) && pd_frame_is_first(&m->frame, p, q))
			pd_items_add_pair(w->found, x, y, (uint32_t)d);
	}
	w->hits.n = 0;
}

static void compare(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self, int spent)
{
	const struct pd_scan_loops *loops = &w->scan->by[m->a->is_half ? PD_SCAN_HALF : pd_scan_width_of(w->keys->bits)];
	int k = m->a->is_half ? m->frame.window.spare - spent : w->k;
	if (self)
		loops->self(a, k, &w->hits);
	else
		loops->cross(a, b, k, &w->hits);
}

/* A bucket with all the neighbours that were gathered. */
static void compare_gathered(struct worker *w, const struct meeting *m, struct pd_key_run a, int spent)
{
	if (!w->gather.n)
		return;
	compare(w, m, a, (struct pd_key_run){ &w->gather.columns, 0, w->gather.n }, false, spent);
	for (size_t i = 0; i < w->hits.n; i++)
		w->hits.v[i].b = pd_gather_place(&w->gather, w->hits.v[i].b);
	take_hits(w, m);
	pd_gather_clear(&w->gather);
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
		fill_masks(&level->masks, plan->n_bits[i], plan->radius[i]);
		for (size_t v = 0; v < inner.a->n_values; v++)
			meet_bucket(w, &inner, v);
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

/* The neighbours of the buckets to come lie anywhere in memory: they are sent for in time. */
static void expect(const struct pd_key_table *t, size_t v)
{
	if (v >= t->n_values)
		return;
	if (t->is_half)
		__builtin_prefetch(t->columns.half + t->start[v]);
	else
		__builtin_prefetch(t->columns.w[0] + t->start[v]);
}

/* Bucket v with those that differ in `spent` bits: small ones all at once. */
static void meet_ring(struct worker *w, const struct meeting *m, size_t v, struct pd_key_run a, int spent)
{
	int words = w->keys->bits / 64;
	for (size_t i = m->masks->ring[spent]; i < m->masks->ring[spent + 1]; i++) {
		size_t u = v ^ m->masks->v[i];
		if (m->a == m->b && u < v)
			continue;
		struct pd_key_run b = pd_table_bucket(m->b, u);
		expect(m->b, u ^ v ^ (v + AHEAD));
		if (b.to - b.from >= PD_GATHER_SMALL) {
			compare_gathered(w, m, a, spent);	/* what meets inside gathers too */
			meet(w, m, a, b, false, spent);
		} else if (b.from < b.to && !pd_gather_add(&w->gather, m->b, b, words)) {
			compare_gathered(w, m, a, spent);
			pd_gather_add(&w->gather, m->b, b, words);
		}
	}
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
}

/* All keys lie in one bucket: what is within k was caught there, later blocks find nothing. */
static bool all_met(const struct pd_key_table *t)
{
	size_t v = 0;
	while (v < t->n_values && !t->start[v + 1])
		v++;
	return t->start[v + 1] == t->n;
}

static void run_blocks(const struct pd_keys *keys, const struct pd_plan *plan, int threads, struct worker *workers)
{
	struct pd_key_table table = { 0 }, other = { 0 };
	struct masks masks = { 0 };
	struct pd_key all;
	struct top top = { .workers = workers, .meeting = { .a = &table, .b = keys->against ? &other : &table, .masks = &masks } };
	struct pd_key_source source = pd_source_keys(keys), against = pd_source_some(keys, keys->against, keys->n_against);
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
		fill_masks(&masks, plan->n_bits[i], plan->radius[i]);
		pd_parallel(threads, TASKS, run_task, &top);
		if (!keys->against && all_met(&table))
			break;
	}
	pd_table_release(&table);
	pd_table_release(&other);
	free(masks.v);
}

static void release_worker(struct worker *w)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		pd_table_release(&w->levels[i].a);
		pd_table_release(&w->levels[i].b);
		pd_table_release(&w->levels[i].whole_a);
		pd_table_release(&w->levels[i].whole_b);
		free(w->levels[i].masks.v);
	}
	free(w->hits.v);
	pd_gather_release(&w->gather);
}

void pd_blocks_join(const struct pd_keys *keys, const struct pd_plan *plan, int threads, struct pd_split split,
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
		workers[i].found = &lists[i];
		pd_gather_make(&workers[i].gather);
	}
	run_blocks(keys, plan, threads, workers);
	for (int i = 0; i < threads; i++)
		release_worker(&workers[i]);
	free(workers);
}
