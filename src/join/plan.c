/* SPDX-License-Identifier: MIT
 *
 * A pair that block i is the first to catch differs in more than its radius in every earlier block.  What is spent there
 * cannot be spent in the window, so a window without the bits of earlier blocks may be held to less than k.
 */
#include "join/plan.h"

const char *const pd_join_plan_names[] = { "auto", "paper", "blocks", "all", NULL };

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

