/* SPDX-License-Identifier: MIT
 *
 * Pairs that are near by what their tables keep, on their way to the whole keys.  Those lie anywhere in memory, so the
 * pairs wait until there are many, and then all are fetched before the first is looked at: the fetches overlap.
 */
#ifndef PD_JOIN_SUSPECTS_H
#define PD_JOIN_SUSPECTS_H

#include "join/frame.h"
#include "base/items.h"
#include "join/join.h"

#define PD_SUSPECTS 256

struct pd_suspects {
	const struct pd_keys *keys;
	int k;
	struct pd_items *found;
	const struct pd_frame *frame;	/* of all that wait */
	size_t n;
	struct { const uint32_t *a, *b; } at[PD_SUSPECTS];	/* where the tables keep the numbers of their keys */
};

/* Those that wait: the pairs that are within k, and that no earlier block of the frame has, go to `found`.  Before a
 * table or a frame of theirs changes. */
void pd_suspects_settle(struct pd_suspects *s);

static inline void pd_suspects_add(struct pd_suspects *s, const struct pd_frame *frame, const uint32_t *a, const uint32_t *b)
{
	if (s->n == PD_SUSPECTS || (s->n && s->frame != frame))
		pd_suspects_settle(s);
	__builtin_prefetch(b);
	s->frame = frame;
	s->at[s->n].a = a;
	s->at[s->n++].b = b;
}

#endif
