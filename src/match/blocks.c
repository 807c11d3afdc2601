/* SPDX-License-Identifier: MIT
 *
 * For each block in turn: keys are sorted by it, and each bucket meets itself and the buckets whose value is within the
 * block's radius.  Where two buckets that meet are big, because many keys share these bits, comparing all with all would
 * be quadratic: the bits that are still open are cut into blocks of their own, with what is left of the distance, and
 * the same is done inside.  So a pair is caught by a chain of blocks, one for each level, and counts only when no
 * earlier block of any of those levels catches it too.
 */
#include "match/blocks.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/permute.h"
#include "match/scan.h"
#include "match/table.h"

#define DEPTH_MAX 6	/* then all with all */
#define TASKS 256	/* ranges of buckets that threads take one by one */

/* A block at work, and those above it that led here. */
struct frame {
	const struct frame *up;
	const struct pd_plan *plan;
	int block;
	struct pd_key used;	/* bits of this block and those above */
};

/* Differences of neighbouring buckets: every value of 1 .. radius bits. */
struct masks {
	uint16_t *v;
	size_t n, cap;
};

/* Sorted tables that meet; a == b: one, with itself. */
struct meeting {
	struct frame frame;
	const struct pd_key_table *a, *b;
	const struct masks *masks;
	int depth;
};

/* Tables of one level of splitting, kept for the next. */
struct level {
	struct pd_key_table a, b;
	struct masks masks;
};

struct worker {
	const struct pd_keys *keys;
	const struct pd_scan *scan;
	int k;
	struct pd_split split;
	struct pd_items *found;
	struct pd_hits hits;
	struct level levels[DEPTH_MAX];
};

static void meet_bucket(struct worker *w, const struct meeting *m, size_t v);

static void fill_masks(struct masks *m, int n_bits, int radius)
{
	m->n = 0;
	for (uint32_t x = 1; radius > 0 && x < UINT32_C(1) << n_bits; x++) {
		if (__builtin_popcount(x) > radius)
			continue;
		m->v = pd_grow(m->v, m->n, &m->cap, sizeof *m->v);
		m->v[m->n++] = (uint16_t)x;
	}
}

static struct frame open_frame(const struct frame *up, const struct pd_plan *plan, int block)
{
	struct frame f = { .up = up, .plan = plan, .block = block };
	if (up)
		f.used = up->used;
	for (int i = 0; i < plan->n_bits[block]; i++) {
		int bit = plan->first_bit[block] + i;
		f.used.w[bit / 64] |= UINT64_C(1) << (bit % 64);
	}
	return f;
}

static bool caught(const struct pd_plan *p, int block, const uint64_t *x, const uint64_t *y)
{
	uint64_t d = pd_bits_get(x, p->first_bit[block], p->n_bits[block]) ^
		     pd_bits_get(y, p->first_bit[block], p->n_bits[block]);
	return __builtin_popcountll(d) <= p->radius[block];
}

/* No earlier block of any level catches the pair. */
static bool is_ours(const struct frame *f, const uint64_t *x, const uint64_t *y)
{
	for (; f; f = f->up)
		for (int i = 0; i < f->block; i++)
			if (caught(f->plan, i, x, y))
				return false;
	return true;
}

static void take_hits(struct worker *w, const struct meeting *m)
{
	size_t words = (size_t)w->keys->bits / 64;
	for (size_t i = 0; i < w->hits.n; i++) {
		uint64_t x = m->a->index[w->hits.v[i].a], y = m->b->index[w->hits.v[i].b];
		if (is_ours(&m->frame, w->keys->v + x * words, w->keys->v + y * words))
			pd_items_add(w->found, x < y ? x << 32 | y : y << 32 | x, w->hits.v[i].distance);
	}
	w->hits.n = 0;
}

static void compare(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self)
{
	if (self)
		w->scan->self(a, w->k, &w->hits);
	else
		w->scan->cross(a, b, w->k, &w->hits);
	if (w->hits.n)
		take_hits(w, m);
}

/* Bits in which the keys of the runs differ from `first`. */
static void add_varying(struct pd_key *varying, struct pd_key_run run, const struct pd_key *first, int words)
{
	for (int w = 0; w < words; w++)
		for (size_t i = run.from; i < run.to; i++)
			varying->w[w] |= run.columns->w[w][i] ^ first->w[w];
}

static struct pd_plan_part open_part(const struct worker *w, const struct frame *f, struct pd_key_run a, struct pd_key_run b,
				     bool self)
{
	int words = w->keys->bits / 64;
	struct pd_plan_part part = { .n_a = a.to - a.from, .n_b = self ? 0 : b.to - b.from };
	struct pd_key first = { { 0 } };
	for (int i = 0; i < words; i++) {
		first.w[i] = a.columns->w[i][a.from];
		part.usable.w[i] = ~f->used.w[i];
	}
	add_varying(&part.varying, a, &first, words);
	if (!self)
		add_varying(&part.varying, b, &first, words);
	return part;
}

/* The buckets a and b of m by the blocks of `plan`. */
static void split_buckets(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self,
			  const struct pd_plan *plan)
{
	struct level *level = &w->levels[m->depth];
	struct meeting inner = { .a = &level->a, .b = self ? &level->a : &level->b, .masks = &level->masks,
				 .depth = m->depth + 1 };
	for (int i = 0; i < plan->n_blocks; i++) {
		if (plan->radius[i] < 0)
			continue;
		inner.frame = open_frame(&m->frame, plan, i);
		pd_table_build(&level->a, w->keys, pd_table_subset(m->a, a), plan->first_bit[i], plan->n_bits[i]);
		if (!self)
			pd_table_build(&level->b, w->keys, pd_table_subset(m->b, b), plan->first_bit[i], plan->n_bits[i]);
		fill_masks(&level->masks, plan->n_bits[i], plan->radius[i]);
		for (size_t v = 0; v < inner.a->n_values; v++)
			meet_bucket(w, &inner, v);
	}
}

static bool is_big(const struct worker *w, struct pd_key_run a, struct pd_key_run b)
{
	return (double)(a.to - a.from) * (double)(b.to - b.from) > (double)w->split.over * (double)w->split.over;
}

/* Two buckets whose values differ in `spent` bits; self: a bucket with itself. */
static void meet(struct worker *w, const struct meeting *m, struct pd_key_run a, struct pd_key_run b, bool self, int spent)
{
	if (is_big(w, a, b) && m->depth < DEPTH_MAX) {
		struct pd_plan_part part = open_part(w, &m->frame, a, b, self);
		struct pd_plan plan = { .bits = w->keys->bits, .k = m->frame.plan->k - spent };
		pd_plan_part(&plan, w->split.kind, &part);
		if (plan.kind == PD_PLAN_BLOCKS) {
			split_buckets(w, m, a, b, self, &plan);
			return;
		}
	}
	compare(w, m, a, b, self);
}

/* Bucket v with all that are within the radius; of one table with itself only with those after it. */
static void meet_bucket(struct worker *w, const struct meeting *m, size_t v)
{
	bool self = m->a == m->b;
	struct pd_key_run a = pd_table_bucket(m->a, v), b = pd_table_bucket(m->b, v);
	if (a.from == a.to)
		return;
	if (b.from < b.to)
		meet(w, m, a, b, self, 0);
	for (size_t i = 0; i < m->masks->n; i++) {
		size_t u = v ^ m->masks->v[i];
		if (self && u < v)
			continue;
		b = pd_table_bucket(m->b, u);
		if (b.from < b.to)
			meet(w, m, a, b, false, __builtin_popcount(m->masks->v[i]));
	}
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
static bool all_met(const struct pd_keys *keys, const struct meeting *m)
{
	const struct pd_plan *p = m->frame.plan;
	struct pd_key_run run = pd_table_bucket(m->a, pd_bits_get(keys->v, p->first_bit[m->frame.block],
							      p->n_bits[m->frame.block]));
	return run.to - run.from == keys->n;
}

static void run_blocks(const struct pd_keys *keys, const struct pd_plan *plan, int threads, struct worker *workers)
{
	struct pd_key_table table = { 0 };
	struct masks masks = { 0 };
	struct top top = { .workers = workers, .meeting = { .a = &table, .b = &table, .masks = &masks } };
	for (int i = 0; i < plan->n_blocks; i++) {
		if (plan->radius[i] < 0)
			continue;
		top.meeting.frame = open_frame(NULL, plan, i);
		pd_table_build(&table, keys, (struct pd_subset){ NULL, keys->n }, plan->first_bit[i], plan->n_bits[i]);
		fill_masks(&masks, plan->n_bits[i], plan->radius[i]);
		pd_parallel(threads, TASKS, run_task, &top);
		if (all_met(keys, &top.meeting))
			break;
	}
	pd_table_release(&table);
	free(masks.v);
}

static void release_worker(struct worker *w)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		pd_table_release(&w->levels[i].a);
		pd_table_release(&w->levels[i].b);
		free(w->levels[i].masks.v);
	}
	free(w->hits.v);
}

void pd_blocks_join(const struct pd_keys *keys, const struct pd_plan *plan, int threads, struct pd_split split,
		    struct pd_items *lists)
{
	if (keys->n < 2)
		return;
	struct worker *workers = pd_zalloc((size_t)threads * sizeof *workers);
	for (int i = 0; i < threads; i++) {
		workers[i].keys = keys;
		workers[i].scan = pd_scan_choose(keys->bits, false);
		workers[i].k = plan->k;
		workers[i].split = split;
		workers[i].found = &lists[i];
	}
	run_blocks(keys, plan, threads, workers);
	for (int i = 0; i < threads; i++)
		release_worker(&workers[i]);
	free(workers);
}
