/* SPDX-License-Identifier: MIT
 *
 * N, k and width in, a plan out.  Every number of blocks is tried, and for each several widths: wide blocks have small
 * buckets, narrow ones small radii and few buckets to visit.  The estimate (estimate.c) counts in nanoseconds that were
 * measured; it assumes that bits are even, so skewed keys cost more (and are then split again where they are: blocks.c).
 */
#include "join/plan.h"

#include <math.h>

#include "join/estimate.h"
#include "join/permute.h"

#define BLOCK_BITS_MIN 6
#define PIECE_MAX (2 * PD_BLOCK_BITS_MAX)
#define BUCKET_MAX 32768
#define BLOCKS_FEW 4
#define CHANCE_PAIRS (1.0 / 1000)

int pd_default_k(int bits, size_t n_keys)
{
	int k = 0;
	while (k < bits / 5 && n_keys / 2.0 * ldexp(pd_ball(bits, k + 1), -bits) <= CHANCE_PAIRS)
		k++;
	return k;
}

static bool is_set(const struct pd_key *key, int bit)
{
	return key->w[bit / 64] >> (bit % 64) & 1;
}

static int count_set(const struct pd_key *key, int first, int n)
{
	return __builtin_popcountll(pd_bits_get(key->w, first, n));
}

/* One more block, kept in order of the bits that tell its keys apart: the best take the radii first. */
static void add_block(struct pd_plan *p, int *telling, const struct pd_key *varying, int first, int n)
{
	int t = count_set(varying, first, n), i = p->n_blocks;
	if (2 * t < n || i == PD_PLAN_BLOCKS_MAX)
		return;
	for (; i > 0 && telling[i - 1] < t; i--) {
		telling[i] = telling[i - 1];
		p->first_bit[i] = p->first_bit[i - 1];
		p->n_bits[i] = p->n_bits[i - 1];
	}
	telling[i] = t;
	p->first_bit[i] = first;
	p->n_bits[i] = n;
	p->n_blocks++;
}

/* Usable bits that follow each other. */
struct stretches {
	int n;
	struct { int first, n; } v[PD_BITS_MAX / 2];
};

static void find_stretches(struct stretches *s, const struct pd_key *usable, int bits)
{
	s->n = 0;
	for (int from = 0, to; from < bits; from = to + 1) {
		for (to = from; to < bits && is_set(usable, to); to++)
			;
		if (to == from)
			continue;
		s->v[s->n].first = from;
		s->v[s->n++].n = to - from;
	}
}

/* How they become blocks: cut evenly into pieces of at most `piece` bits, of which each block takes at most `take`. */
struct cutting {
	int piece, take;
};

static int count_pieces(const struct stretches *s, int piece)
{
	int n = 0;
	for (int i = 0; i < s->n; i++)
		n += (s->v[i].n + piece - 1) / piece;
	return n;
}

static void cut(struct pd_plan *p, int *telling, const struct stretches *s, const struct pd_key *varying, struct cutting c)
{
	p->n_blocks = 0;
	for (int i = 0; i < s->n; i++) {
		int from = s->v[i].first, length = s->v[i].n, pieces = (length + c.piece - 1) / c.piece;
		for (int j = 0; j < pieces; j++) {
			int first = from + length * j / pieces, n = from + length * (j + 1) / pieces - first;
			if (n >= BLOCK_BITS_MIN || n == length)
				add_block(p, telling, varying, first, n < c.take ? n : c.take);
		}
	}
}

/* The radii plus one sum to k + 1: two keys further apart than its radius in every block differ in k + 1 bits. */
static void spread_radii(struct pd_plan *p)
{
	for (int i = 0; i < p->n_blocks; i++)
		p->radius[i] = (p->k + 1) / p->n_blocks + (i < (p->k + 1) % p->n_blocks) - 1;
}

/* One way of cutting, kept when it is the best so far. */
static void try_cutting(struct pd_plan *best, struct pd_plan *p, const struct stretches *s, const struct pd_plan_part *part,
			struct cutting c, int depth)
{
	int telling[PD_PLAN_BLOCKS_MAX];
	cut(p, telling, s, &part->varying, c);
	if (!p->n_blocks)
		return;
	spread_radii(p);
	p->cost = best->cost;
	p->cost = pd_estimate_blocks(p, telling, part, depth);
	if (p->cost < best->cost)
		*best = *p;
}

/* What is cut the same way whatever the number of blocks. */
struct cutter {
	struct pd_plan start;
	struct stretches stretches;
	const struct pd_plan_part *part;
	int depth;
};

static struct cutter cutter(const struct pd_plan *start, const struct pd_plan_part *part, int depth)
{
	struct cutter c = { .start = *start, .part = part, .depth = depth };
	c.start.kind = PD_PLAN_BLOCKS;
	find_stretches(&c.stretches, &part->usable, start->bits);
	return c;
}

/* One number of pieces, of which blocks take more bits or fewer.  Takes that differ by one are much alike, and buckets of
 * very many keys are never good. */
static void try_takes(struct pd_plan *best, struct cutter *c, int piece)
{
	int most = piece < PD_BLOCK_BITS_MAX ? piece : PD_BLOCK_BITS_MAX;
	for (int take = most; take >= BLOCK_BITS_MIN && (take == most || c->part->n_a >> take < BUCKET_MAX); take -= 2)
		try_cutting(best, &c->start, &c->stretches, c->part, (struct cutting){ piece, take }, c->depth);
}

/* The next smaller piece that gives another number of them; 0: none. */
static int next_piece(const struct cutter *c, int piece)
{
	int pieces = count_pieces(&c->stretches, piece);
	while (--piece >= BLOCK_BITS_MIN)
		if (count_pieces(&c->stretches, piece) != pieces)
			return piece;
	return 0;
}

/* Wide blocks first: they are seldom split again, and what is good so far cuts the others short. */
static void try_cuttings(struct pd_plan *best, const struct pd_plan *start, const struct pd_plan_part *part, int depth)
{
	struct cutter c = cutter(start, part, depth);
	for (int piece = PIECE_MAX; piece; piece = next_piece(&c, piece))
		try_takes(best, &c, piece);
}

void pd_plan_part_at(struct pd_plan *out, enum pd_plan_kind kind, const struct pd_plan_part *part, int depth)
{
	struct pd_plan start = { .bits = out->bits, .k = out->k, .scan = out->scan };
	double all = pd_estimate_all(&start, part);
	*out = start;
	out->cost = kind == PD_PLAN_BLOCKS ? INFINITY : all;
	if (kind != PD_PLAN_ALL)
		try_cuttings(out, &start, part, depth);
	if (out->kind == PD_PLAN_AUTO) {	/* nothing better */
		out->kind = PD_PLAN_ALL;
		out->cost = all;
	}
}

void pd_plan_part(struct pd_plan *out, enum pd_plan_kind kind, const struct pd_plan_part *part)
{
	pd_plan_part_at(out, kind, part, 1);
}

static void plan_paper(struct pd_plan *p, size_t n_keys)
{
	p->kind = PD_PLAN_PAPER;
	p->n_blocks = 4;
	for (int i = 0; i < 4; i++) {
		p->n_bits[i] = p->bits / 4;
		p->first_bit[i] = pd_block_first(p->bits, 4, i);
	}
	p->cost = pd_estimate_paper(p->bits, n_keys);
}

static int check(enum pd_plan_kind kind, int bits, int k, struct pd_err *e)
{
	if (bits != 64 && bits != 128 && bits != 256)
		return pd_fail(e, PD_ERR_USAGE, "keys of %d bits: only 64, 128 and 256 can be matched", bits);
	if (k < 0 || k > bits / 4)
		return pd_fail(e, PD_ERR_USAGE, "distance %d: must be 0 to %d, a quarter of the %d bits", k, bits / 4, bits);
	if (kind == PD_PLAN_PAPER && k > 3)
		return pd_fail(e, PD_ERR_USAGE, "plan 'paper' finds every pair only for distances up to 3, not %d; "
			       "use plan 'auto'", k);
	return PD_OK;
}

static struct pd_plan_part whole_part(int bits, size_t n_keys, size_t n_against)
{
	struct pd_plan_part part = { .n_a = n_keys, .n_b = n_against };
	memset(&part.usable, 0xff, (size_t)bits / 8);
	part.varying = part.usable;
	return part;
}

int pd_plan_choose(struct pd_plan *out, enum pd_plan_kind kind, int bits, int k, size_t n_keys, struct pd_err *e)
{
	return pd_plan_choose_against(out, kind, bits, k, n_keys, 0, e);
}

int pd_plan_choose_against(struct pd_plan *out, enum pd_plan_kind kind, int bits, int k, size_t n_keys, size_t n_against,
			   struct pd_err *e)
{
	int status = check(kind, bits, k, e);
	if (status)
		return status;
	struct pd_plan_part part = whole_part(bits, n_keys, n_against);
	*out = (struct pd_plan){ .bits = bits, .k = k, .scan = pd_scan_best() };
	if (kind == PD_PLAN_PAPER)
		plan_paper(out, n_keys + n_against);
	else
		pd_plan_part_at(out, kind, &part, 0);
	out->n_a = n_keys;
	out->n_b = n_against;
	return PD_OK;
}

static void add_plan(struct pd_plan *list, int *n, const struct pd_plan *p)
{
	int i = (*n)++;
	for (; i > 0 && list[i - 1].cost > p->cost; i--)
		list[i] = list[i - 1];
	list[i] = *p;
}

int pd_plan_list(struct pd_plan out[PD_PLANS_MAX], int bits, int k, size_t n_keys, size_t n_against)
{
	static const enum pd_plan_kind whole[] = { PD_PLAN_PAPER, PD_PLAN_ALL };
	struct pd_plan_part part = whole_part(bits, n_keys, n_against);
	struct pd_plan p, start = { .bits = bits, .k = k, .scan = pd_scan_best() };
	struct cutter c = cutter(&start, &part, 0);
	int n = 0;
	for (int i = 0; i < 2; i++)
		if (!pd_plan_choose_against(&p, whole[i], bits, k, n_keys, n_against, NULL))
			add_plan(out, &n, &p);
	for (int piece = PIECE_MAX; piece && n < PD_PLANS_MAX; piece = next_piece(&c, piece)) {
		p = (struct pd_plan){ .cost = INFINITY };
		if (count_pieces(&c.stretches, piece) <= PD_PLAN_BLOCKS_MAX)
			try_takes(&p, &c, piece);
		/* Of more blocks than are needed some are left out, which is seldom good. */
		if (p.kind == PD_PLAN_BLOCKS && (p.n_blocks <= k + 1 || p.n_blocks <= BLOCKS_FEW || p.cost < out[0].cost))
			add_plan(out, &n, &p);
	}
	return n;
}
