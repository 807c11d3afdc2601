/* SPDX-License-Identifier: MIT */
#include "join/frame.h"

static void close_bits(struct pd_key *key, const struct pd_plan *p, int block)
{
	for (int bit = p->first_bit[block]; bit < p->first_bit[block] + p->n_bits[block]; bit++)
		key->w[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

void pd_frame_open(struct pd_frame *f, const struct pd_frame *up, const struct pd_plan *plan, int block,
		   const struct pd_key *usable)
{
	*f = (struct pd_frame){ .up = up, .plan = plan, .block = block, .left = plan->k, .open = *usable };
	close_bits(&f->open, plan, block);
	f->later = f->open;
	for (int i = 0; i < block; i++) {
		if (plan->radius[i] < 0)
			continue;
		close_bits(&f->later, plan, i);
		f->left -= plan->radius[i] + 1;
	}
}

static bool caught(const struct pd_plan *p, int block, const uint64_t *x, const uint64_t *y)
{
	uint64_t d = pd_bits_get(x, p->first_bit[block], p->n_bits[block]) ^
		     pd_bits_get(y, p->first_bit[block], p->n_bits[block]);
	return pd_bits_count(d) <= p->radius[block];
}

bool pd_frame_is_first(const struct pd_frame *f, const uint64_t *x, const uint64_t *y)
{
	for (; f; f = f->up)
		for (int i = 0; i < f->block; i++)
			if (caught(f->plan, i, x, y))
				return false;
	return true;
}
