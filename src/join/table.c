/* SPDX-License-Identifier: MIT
 *
 * Keys and a block in, a table sorted by that block out, in two passes over the keys: count, place.
 */
#include "join/table.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/source.h"

struct pd_key_source pd_source_keys(const struct pd_keys *keys)
{
	struct pd_key_source s = { .words = keys->bits / 64, .n = keys->n, .ids = keys->ids, .scattered = keys->ids != NULL };
	s.stride = (size_t)s.words;
	for (int w = 0; w < s.words; w++)
		s.w[w] = keys->v + w;
	return s;
}

struct pd_key_source pd_source_some(const struct pd_keys *keys, const uint32_t *ids, size_t n)
{
	struct pd_key_source s = pd_source_keys(keys);
	s.ids = ids;
	s.n = n;
	s.scattered = true;
	return s;
}

struct pd_key_source pd_source_run(const struct pd_key_table *t, struct pd_key_run run, int words)
{
	struct pd_key_source s = { .stride = 1, .n = run.to - run.from, .words = words, .ids = t->index + run.from };
	for (int w = 0; w < words; w++)
		s.w[w] = t->columns.w[w] + run.from;
	return s;
}

void pd_table_room(struct pd_key_table *t, size_t n, int n_bits, int words, bool half)
{
	size_t column = n + PD_TABLE_PAD;
	t->n = n;
	t->n_values = (size_t)1 << n_bits;
	t->is_half = half;
	t->index = pd_big_at_least(t->index, n + 1, &t->index_cap, sizeof *t->index);
	t->start = pd_big_at_least(t->start, t->n_values + 2, &t->start_cap, sizeof *t->start);
	if (half) {
		t->columns.half = pd_big_at_least(t->columns.half, column, &t->half_cap, sizeof *t->columns.half);
		memset(t->columns.half + n, 0, PD_TABLE_PAD * sizeof *t->columns.half);
		return;
	}
	t->memory = pd_big_at_least(t->memory, column * (size_t)words, &t->memory_cap, sizeof *t->memory);
	for (int w = 0; w < words; w++) {
		t->columns.w[w] = t->memory + column * (size_t)w;
		memset(t->columns.w[w] + n, 0, PD_TABLE_PAD * sizeof *t->memory);
	}
}

PD_INLINE void build(struct pd_key_table *t, const struct pd_key_source *source, struct pd_table_shape shape, int words, bool half)
{
	/* Counted two places on and summed, next[v] is where bucket v begins; once all are placed, where v + 1 does. */
	uint32_t *next = t->start + 1;
	uint64_t key[PD_KEY_WORDS];
	const struct pd_key_source from = *source;
	const struct pd_table_writer to = pd_table_writer(t, shape);
	memset(t->start, 0, (t->n_values + 2) * sizeof *t->start);
	for (size_t i = 0; i < from.n; i++) {
		pd_source_get(&from, i, words, key);
		next[pd_block_value(&to.block, key, words) + 1]++;
	}
	for (size_t v = 1; v < t->n_values; v++)
		next[v] += next[v - 1];
	for (size_t i = 0; i < from.n; i++) {
		pd_source_get(&from, i, words, key);
		pd_table_put(&to, next[pd_block_value(&to.block, key, words)]++, key, words, half, pd_source_id(&from, i));
	}
}

void pd_table_build(struct pd_key_table *t, const struct pd_key_source *from, struct pd_table_shape shape)
{
	pd_table_room(t, from->n, shape.n_bits, from->words, shape.window != NULL);
	if (shape.window)
		build(t, from, shape, from->words, true);
	else if (from->words == 1)
		build(t, from, shape, 1, false);
	else if (from->words == 2)
		build(t, from, shape, 2, false);
	else
		build(t, from, shape, 4, false);
}

void pd_table_release(struct pd_key_table *t)
{
	free(t->memory);
	free(t->columns.half);
	free(t->index);
	free(t->start);
	*t = (struct pd_key_table){ 0 };
}
