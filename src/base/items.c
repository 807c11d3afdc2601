/* SPDX-License-Identifier: MIT
 *
 * Items in, the same in order of their keys out: a radix sort from the lowest digit up, in which digits that are the
 * same everywhere cost nothing (page numbers fill only some of the 64 bits).
 */
#include "base/items.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/spill.h"

#define DIGIT_BITS 11
#define DIGITS 6
#define VALUES (1 << DIGIT_BITS)

static size_t digit(uint64_t key, int d)
{
	return key >> (d * DIGIT_BITS) & (VALUES - 1);
}

static void count_digits(const struct pd_items *s, size_t (*counts)[VALUES])
{
	for (size_t i = 0; i < s->n; i++)
		for (int d = 0; d < DIGITS; d++)
			counts[d][digit(s->v[i].key, d)]++;
}

static void place(const struct pd_items *s, struct pd_item *to, size_t *counts, int d)
{
	size_t at = 0;
	for (size_t v = 0; v < VALUES; v++) {
		size_t n = counts[v];
		counts[v] = at;
		at += n;
	}
	for (size_t i = 0; i < s->n; i++)
		to[counts[digit(s->v[i].key, d)]++] = s->v[i];
}

void pd_items_sort(struct pd_items *s)
{
	if (s->n < 2)
		return;
	size_t (*counts)[VALUES] = pd_zalloc(DIGITS * sizeof *counts);
	struct pd_item *spare = pd_alloc(s->n * sizeof *spare);
	count_digits(s, counts);
	for (int d = 0; d < DIGITS; d++) {
		if (counts[d][digit(s->v[0].key, d)] == s->n)
			continue;
		place(s, spare, counts[d], d);
		struct pd_item *sorted = spare;
		spare = s->v;
		s->v = sorted;
		s->cap = s->n;
	}
	free(spare);
	free(counts);
}

void pd_items_room(struct pd_items *s)
{
	size_t most = s->spill ? s->spill->most : SIZE_MAX, want = s->n + s->n / 2 + 16;
	if (s->n >= most) {
		pd_spill_run(s);
		return;
	}
	s->cap = want < most ? want : most;
	s->v = pd_realloc(s->v, s->cap * sizeof *s->v);
}

void pd_items_release(struct pd_items *s)
{
	if (s->mapped)
		munmap(s->v, s->mapped);
	else
		free(s->v);
	*s = (struct pd_items){ 0 };
}
