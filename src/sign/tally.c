/* SPDX-License-Identifier: MIT */
#include "sign/tally.h"

#include <stdlib.h>

enum { SMALLEST = 1024, KEEP = 1 << 18 };

void pd_tally_clear(struct pd_tally *t, size_t n)
{
	size_t want = SMALLEST;
	while (want < 2 * n)
		want *= 2;
	t->n = 0;
	t->round++;
	if (want <= t->cap && t->round && (t->cap <= KEEP || want > KEEP))
		return;
	free(t->slots);
	t->slots = pd_zalloc(want * sizeof *t->slots);
	t->cap = want;
	t->round = 1;
}

void pd_tally_release(struct pd_tally *t)
{
	free(t->slots);
	*t = (struct pd_tally){ 0 };
}

/* The slot where the hash is, or where it would go. */
static struct pd_tally_slot *find(const struct pd_tally *t, uint64_t hash)
{
	size_t i = hash & (t->cap - 1);
	while (t->slots[i].round == t->round && t->slots[i].hash != hash)
		i = (i + 1) & (t->cap - 1);
	return &t->slots[i];
}

uint32_t pd_tally_add(struct pd_tally *t, uint64_t hash)
{
	struct pd_tally_slot *s = find(t, hash);
	if (s->round != t->round) {
		*s = (struct pd_tally_slot){ .hash = hash, .round = t->round };
		t->n++;
	}
	return ++s->count;
}

uint32_t pd_tally_get(const struct pd_tally *t, uint64_t hash)
{
	const struct pd_tally_slot *s = find(t, hash);
	return s->round == t->round ? s->count : 0;
}
