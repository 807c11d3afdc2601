/* SPDX-License-Identifier: MIT
 *
 * The general plan (join.h): keys and a plan of kind `blocks` in, pairs out, one list per thread in no order.  A pair is
 * given once, by the first block that catches it.
 */
#ifndef PD_JOIN_BLOCKS_H
#define PD_JOIN_BLOCKS_H

#include "base/items.h"
#include "join/join.h"

/* Where buckets that many keys share are split again by their other bits. */
struct pd_split {
	size_t over;			/* keys in a bucket; two buckets: the root of their product */
	enum pd_plan_kind kind;		/* AUTO: where it pays by estimate; BLOCKS: wherever it can be done */
};

#define PD_SPLIT_DEFAULT ((struct pd_split){ 4096, PD_PLAN_AUTO })

/* lists: one for each thread, appended to; a in the high half of an item's key, b > a in the low half. */
void pd_blocks_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_split split,
		    struct pd_items *lists);

#endif
