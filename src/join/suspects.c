/* SPDX-License-Identifier: MIT */
#include "join/suspects.h"

#include "join/permute.h"

struct two {
	uint32_t x, y;
};

static const uint64_t *key_of(const struct pd_suspects *s, uint32_t i)
{
	return s->keys->v + i * (size_t)(s->keys->bits / 64);
}

static void look_at(const struct pd_suspects *s, struct two t)
{
	const uint64_t *x = key_of(s, t.x), *y = key_of(s, t.y);
	int d = pd_bits_distance(x, y, s->keys->bits / 64);
	if (d <= s->k && pd_keys_pair(s->keys, t.x, t.y) && pd_frame_is_first(s->frame, x, y))
		pd_items_add_pair(s->found, t.x, t.y, (uint32_t)d);
}

void pd_suspects_settle(struct pd_suspects *s)
{
	struct two two[PD_SUSPECTS];
	for (size_t i = 0; i < s->n; i++) {
		two[i] = (struct two){ *s->at[i].a, *s->at[i].b };
		__builtin_prefetch(key_of(s, two[i].x));
		__builtin_prefetch(key_of(s, two[i].y));
	}
	for (size_t i = 0; i < s->n; i++)
		look_at(s, two[i]);
	s->n = 0;
}
