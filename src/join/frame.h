/* SPDX-License-Identifier: MIT
 *
 * A block at work, and those above it that led here: what a pair that meets here must still obey to count here.
 */
#ifndef PD_JOIN_FRAME_H
#define PD_JOIN_FRAME_H

#include "join/plan.h"
#include "join/window.h"

struct pd_frame {
	const struct pd_frame *up;
	const struct pd_plan *plan;
	int block;
	int left;		/* of plan->k once the earlier blocks took what they must: each more than its radius */
	struct pd_key open;	/* bits that the plan cut its blocks from, but this block's */
	struct pd_key later;	/* of these those of no earlier block */
	struct pd_window window;	/* at the first level: what tables of halves keep */
};

/* `usable`: the bits that the plan cut its blocks from. */
void pd_frame_open(struct pd_frame *f, const struct pd_frame *up, const struct pd_plan *plan, int block,
		   const struct pd_key *usable);
/* No earlier block of any level catches the pair. */
bool pd_frame_is_first(const struct pd_frame *f, const uint64_t *x, const uint64_t *y);

/* How many of the `later` bits may differ when `spent` bits of the block do; negative: no pair counts here. */
static inline int pd_frame_left(const struct pd_frame *f, int spent)
{
	return f->left - spent;
}

#endif
