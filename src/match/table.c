/* SPDX-License-Identifier: MIT
 *
 * Keys and a block in, a table sorted by that block out, in two passes over the keys: count, place.
 */
#include "match/table.h"

#include <stdlib.h>

#include "match/permute.h"

static const uint64_t *key_at(const struct pd_keys *keys, struct pd_subset s, size_t i)
{
	return keys->v + (s.ids ? s.ids[i] : i) * (size_t)(keys->bits / 64);
}

static size_t value_of(const uint64_t *key, int first_bit, int n_bits)
{
	return n_bits ? pd_bits_get(key, first_bit, n_bits) : 0;
}

static void *at_least(void *p, size_t n, size_t *cap, size_t elem)
{
	if (n <= *cap)
		return p;
	free(p);
	*cap = n;
	return pd_alloc(n * elem);
}

static void make_room(struct pd_key_table *t, size_t n, int n_bits, int words)
{
	size_t column = n + PD_SCAN_PAD;
	t->n = n;
	t->n_values = (size_t)1 << n_bits;
	t->index = at_least(t->index, n + 1, &t->index_cap, sizeof *t->index);
	t->start = at_least(t->start, t->n_values + 2, &t->start_cap, sizeof *t->start);
	t->memory = at_least(t->memory, column * words, &t->memory_cap, sizeof *t->memory);
	for (int w = 0; w < words; w++) {
		t->columns.w[w] = t->memory + column * w;
		memset(t->columns.w[w] + n, 0, PD_SCAN_PAD * sizeof *t->memory);
	}
}

void pd_table_build(struct pd_key_table *t, const struct pd_keys *keys, struct pd_subset subset, int first_bit, int n_bits)
{
	int words = keys->bits / 64;
	make_room(t, subset.n, n_bits, words);
	/* Counted two places on and summed, next[v] is where bucket v begins; once all are placed, where v + 1 does. */
	uint32_t *next = t->start + 1;
	memset(t->start, 0, (t->n_values + 2) * sizeof *t->start);
	for (size_t i = 0; i < subset.n; i++)
		next[value_of(key_at(keys, subset, i), first_bit, n_bits) + 1]++;
	for (size_t v = 1; v < t->n_values; v++)
		next[v] += next[v - 1];
	for (size_t i = 0; i < subset.n; i++) {
		const uint64_t *key = key_at(keys, subset, i);
		size_t at = next[value_of(key, first_bit, n_bits)]++;
		t->index[at] = (uint32_t)(subset.ids ? subset.ids[i] : i);
		for (int w = 0; w < words; w++)
			t->columns.w[w][at] = key[w];
	}
}

void pd_table_release(struct pd_key_table *t)
{
	free(t->memory);
	free(t->index);
	free(t->start);
	*t = (struct pd_key_table){ 0 };
}
