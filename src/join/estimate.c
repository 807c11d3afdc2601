/* SPDX-License-Identifier: MIT */
#include "join/estimate.h"

#include <math.h>

#include "join/cost.h"
#include "join/frame.h"
#include "join/gather.h"

#define NS 1e-9
#define SPLIT_FROM 256.0	/* keys in a bucket from which splitting it is thought about */

static double binomial(int n, int i)
{
	double c = 1;
	for (int j = 1; j <= i; j++)
		c = c * (n - i + j) / j;
	return c;
}

double pd_ball(int bits, int radius)
{
	double sum = 0;
	for (int i = 0; i <= radius && i <= bits; i++)
		sum += binomial(bits, i);
	return sum;
}

static double pairs_of(const struct pd_plan_part *part)
{
	return part->n_b ? (double)part->n_a * (double)part->n_b : part->n_a * (part->n_a / 2.0);
}

double pd_estimate_all(const struct pd_plan *p, const struct pd_plan_part *part)
{
	const struct pd_cost *c = pd_cost_of(p->scan->path);
	enum pd_scan_width width = pd_scan_width_of(p->bits);
	return NS * (c->meeting + pairs_of(part) / c->lanes[width] * c->vector[width] +
		     (double)part->n_a * c->vector[width]);
}

/* One block's table: how its keys spread. */
struct spread {
	const struct pd_plan *plan;
	const struct pd_plan_part *part;
	const struct pd_cost *cost;
	struct pd_frame frame;
	int telling, depth;
	double buckets, filled_a, filled_b;	/* values; how many of them have keys */
	double run_a, run_b;			/* keys in one that has any */
};

static double filled(double buckets, double n)
{
	return buckets * -expm1(-n / buckets);
}

static struct spread spread(const struct pd_plan *p, const struct pd_plan_part *part, int block, int telling, int depth)
{
	struct spread s = { .plan = p, .part = part, .cost = pd_cost_of(p->scan->path), .telling = telling, .depth = depth };
	double n_a = part->n_a, n_b = part->n_b ? part->n_b : part->n_a;
	pd_frame_open(&s.frame, NULL, p, block, &part->usable);
	if (!depth)
		pd_window_choose(&s.frame.window, p, block);
	s.buckets = ldexp(1, telling);
	s.filled_a = filled(s.buckets, n_a);
	s.filled_b = filled(s.buckets, n_b);
	s.run_a = n_a / s.filled_a;
	s.run_b = n_b / s.filled_b;
	return s;
}

/* Two buckets that meet, split again if that is cheaper than comparing them.  Planning that is left out where even
 * sorting them once would cost more than the best plan so far. */
static double couple(const struct spread *s, int spent, double meetings, double compare)
{
	double least = PD_COST_SPLIT + PD_COST_SORT_INNER * (s->run_a + s->run_b);
	if (s->depth || fmin(s->run_a, s->run_b) < SPLIT_FROM || compare < least)
		return compare;
	if (meetings * least * NS > s->plan->cost)
		return least;
	struct pd_plan inner = { .bits = s->plan->bits, .k = pd_frame_left(&s->frame, spent), .scan = s->plan->scan };
	struct pd_plan_part part = { .usable = s->frame.later, .varying = s->part->varying, .n_a = (size_t)s->run_a };
	part.n_b = spent || s->part->n_b ? (size_t)s->run_b : 0;
	pd_plan_part_at(&inner, PD_PLAN_BLOCKS, &part, 1);
	return inner.kind == PD_PLAN_BLOCKS ? fmin(compare, inner.cost / NS) : compare;
}

static bool is_far(const struct spread *s, bool half)
{
	double key = half ? sizeof(uint32_t) : s->plan->bits / 8.0, n = s->part->n_b ? s->part->n_b : s->part->n_a;
	return n * key + s->buckets * sizeof(uint32_t) > PD_COST_NEAR_BYTES;
}

/* The buckets that differ in `spent` bits. */
static double ring(const struct spread *s, int spent, bool half)
{
	if (pd_frame_left(&s->frame, spent) < 0)
		return 0;
	enum pd_scan_width width = half ? PD_SCAN_HALF : pd_scan_width_of(s->plan->bits);
	bool self = !s->part->n_b && !spent;
	double each = s->run_b < PD_GATHER_SMALL && spent ? pd_cost_gathered(s->cost, width, s->run_a, s->run_b, is_far(s, half)) :
							    pd_cost_cross(s->cost, width, s->run_a, s->run_b);
	double meetings = s->filled_a * binomial(s->telling, spent) * (s->filled_b / s->buckets);
	if (self)
		each = s->cost->meeting + (each - s->cost->meeting) / 2 + s->run_a * s->cost->vector[width] / 2;
	if (self)
		meetings = s->filled_a;
	else if (!s->part->n_b)
		meetings /= 2;
	if (half)
		each += s->cost->candidate * s->run_a * s->run_b * (self ? .5 : 1) *
			pd_window_chance(&s->frame.window, s->frame.window.spare - spent);
	return meetings * couple(s, spent, meetings, each) + (spent ? PD_COST_RING * s->filled_a : 0);
}

static double meetings(const struct spread *s, int radius, bool half)
{
	double sum = 0;
	for (int spent = 0; spent <= radius && spent <= s->telling; spent++)
		sum += ring(s, spent, half);
	return sum;
}

/* Sorting, and looking up neighbours. */
static double table_cost(const struct spread *s, int n_bits, int radius, bool half)
{
	double n = (double)s->part->n_a + (double)s->part->n_b, words = s->plan->bits / 64;
	double sort = s->depth ? PD_COST_SORT_INNER * words : half ? PD_COST_SORT_HALF : PD_COST_SORT_WHOLE + PD_COST_SORT_WORD * words;
	double probes = s->filled_a * (pd_ball(n_bits, radius) - 1) * (s->part->n_b ? 1 : .75);
	return sort * n + PD_COST_VISIT * s->filled_a + PD_COST_BUCKET * ldexp(s->part->n_b ? 2 : 1, n_bits) + PD_COST_PROBE * probes;
}

static double block_cost(struct pd_plan *p, int block, int telling, const struct pd_plan_part *part, int depth)
{
	struct spread s = spread(p, part, block, telling, depth);
	int radius = p->radius[block], n_bits = p->n_bits[block];
	double whole = table_cost(&s, n_bits, radius, false) + meetings(&s, radius, false), half = INFINITY;
	if (!depth)
		half = table_cost(&s, n_bits, radius, true) + meetings(&s, radius, true);
	p->halves[block] = half < whole;
	return fmin(half, whole);
}

double pd_estimate_blocks(struct pd_plan *p, const int *telling, const struct pd_plan_part *part, int depth)
{
	double sum = depth ? PD_COST_SPLIT : 0;
	for (int i = 0; i < p->n_blocks && NS * sum < p->cost; i++)
		if (p->radius[i] >= 0)
			sum += block_cost(p, i, telling[i], part, depth);
	return NS * sum;
}

double pd_estimate_paper(int bits, size_t n_keys)
{
	double runs = ldexp((double)n_keys, -bits / 4);
	return NS * 4 * (double)n_keys * (100 + 20 * log2((double)n_keys + 1) + 2 * runs);
}
