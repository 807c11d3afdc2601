/* SPDX-License-Identifier: MIT
 *
 * A pair that block i is the first to catch differs in more than its radius in every earlier block.  What is spent there
 * cannot be spent in the window, so a window without the bits of earlier blocks may be held to less than k.
 */
#include "join/plan.h"

#include <math.h>

const char *const pd_join_plan_names[] = { "auto", "paper", "blocks", "all", NULL };

static void print_blocks(const struct pd_join_plan *p, struct pd_buf *out)
{
	int narrow = p->n_bits[0], wide = p->n_bits[0];
	for (int i = 1; i < p->n_blocks; i++) {
		narrow = p->n_bits[i] < narrow ? p->n_bits[i] : narrow;
		wide = p->n_bits[i] > wide ? p->n_bits[i] : wide;
	}
	pd_buf_printf(out, " %d x %d", p->n_blocks, narrow);
	if (wide > narrow)
		pd_buf_printf(out, "-%d", wide);
	pd_buf_add_z(out, " bits, radii");
	for (int i = 0; i < p->n_blocks; i++)
		if (p->radius[i] < 0)
			pd_buf_add_z(out, " -");
		else
			pd_buf_printf(out, " %d", p->radius[i]);
	pd_buf_add_c(out, ',');
}

void pd_join_plan_print(const struct pd_join_plan *p, struct pd_buf *out)
{
	pd_buf_printf(out, "%s:", pd_join_plan_names[p->kind]);
	if (p->n_blocks && p->kind == PD_PLAN_BLOCKS)
		print_blocks(p, out);
	pd_buf_printf(out, " about %.2g CPU seconds", p->cost);
}

#define WINDOW_BITS 32

struct choice {
	const struct pd_join_plan *plan;
	struct pd_join_window *window;
};

/* Bits that lie beside the last piece become one with it. */
static bool extend(struct pd_join_window *w, int first, int n)
{
	int last = w->n_pieces - 1;
	if (last < 0 || (w->piece[last].first + w->piece[last].n != first && first + n != w->piece[last].first))
		return false;
	w->piece[last].first = first < w->piece[last].first ? first : w->piece[last].first;
	w->piece[last].n += n;
	return true;
}

/* Takes n bits from `first` on, as far as there is room. */
static int take_bits(struct choice *c, int first, int n)
{
	struct pd_join_window *w = c->window;
	int room = WINDOW_BITS - w->bits;
	n = n < room ? n : room;
	if (n <= 0)
		return 0;
	if (!extend(w, first, n)) {
		if (w->n_pieces == PD_WINDOW_PIECES)
			return 0;
		w->piece[w->n_pieces].first = first;
		w->piece[w->n_pieces++].n = n;
	}
	w->bits += n;
	return n;
}

static bool is_block(const struct pd_join_plan *p, int i)
{
	return p->radius[i] >= 0;
}

/* Bits of no block at all. */
static void take_others(struct choice *c, const bool *in_block)
{
	for (int from = 0, to; from < c->plan->bits; from = to + 1) {
		for (to = from; to < c->plan->bits && !in_block[to]; to++)
			;
		take_bits(c, from, to - from);
	}
}

static void mark_blocks(const struct pd_join_plan *p, bool *in_block)
{
	for (int i = 0; i < p->n_blocks; i++)
		for (int b = 0; is_block(p, i) && b < p->n_bits[i]; b++)
			in_block[p->first_bit[i] + b] = true;
}

void pd_join_window_choose(struct pd_join_window *w, const struct pd_join_plan *p, int block)
{
	bool in_block[PD_BITS_MAX] = { false };
	struct choice c = { .plan = p, .window = w };
	*w = (struct pd_join_window){ .spare = p->k };
	mark_blocks(p, in_block);
	for (int i = block + 1; i < p->n_blocks; i++)
		if (is_block(p, i))
			take_bits(&c, p->first_bit[i], p->n_bits[i]);
	take_others(&c, in_block);
	for (int i = block - 1; i >= 0; i--)
		if (is_block(p, i) && !take_bits(&c, p->first_bit[i], p->n_bits[i]))
			w->spare -= p->radius[i] + 1;
}

double pd_join_window_chance(const struct pd_join_window *w, int k)
{
	double sum = 0, term = 1;
	for (int i = 0; i <= k && i <= w->bits; i++) {
		sum += term;
		term = term * (w->bits - i) / (i + 1);
	}
	return ldexp(sum, -w->bits);
}

static void close_bits(struct pd_key *key, const struct pd_join_plan *p, int block)
{
	for (int bit = p->first_bit[block]; bit < p->first_bit[block] + p->n_bits[block]; bit++)
		key->w[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

void pd_join_frame_open(struct pd_join_frame *f, const struct pd_join_frame *up, const struct pd_join_plan *plan, int block,
		   const struct pd_key *usable)
{
	*f = (struct pd_join_frame){ .up = up, .plan = plan, .block = block, .left = plan->k, .open = *usable };
	close_bits(&f->open, plan, block);
	f->later = f->open;
	for (int i = 0; i < block; i++) {
		if (plan->radius[i] < 0)
			continue;
		close_bits(&f->later, plan, i);
		f->left -= plan->radius[i] + 1;
	}
}

static bool is_caught(const struct pd_join_plan *p, int block, const uint64_t *x, const uint64_t *y)
{
	uint64_t d = pd_bits_get(x, p->first_bit[block], p->n_bits[block]) ^
		     pd_bits_get(y, p->first_bit[block], p->n_bits[block]);
	return pd_bits_count(d) <= p->radius[block];
}

bool pd_join_frame_is_first(const struct pd_join_frame *f, const uint64_t *x, const uint64_t *y)
{
	for (; f; f = f->up)
		for (int i = 0; i < f->block; i++)
			if (is_caught(f->plan, i, x, y))
				return false;
	return true;
}
