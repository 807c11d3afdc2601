/* SPDX-License-Identifier: MIT
 *
 * The inner side of struct pd_key_source: one key of it, inlined where tables are built.
 */
#ifndef PD_JOIN_SOURCE_H
#define PD_JOIN_SOURCE_H

#include "join/table.h"

#define PD_INLINE static inline __attribute__((always_inline))

PD_INLINE size_t pd_source_place(const struct pd_key_source *s, size_t i)
{
	return s->scattered ? s->ids[i] : i;
}

PD_INLINE uint32_t pd_source_id(const struct pd_key_source *s, size_t i)
{
	return s->ids ? s->ids[i] : (uint32_t)i;
}

PD_INLINE void pd_source_get(const struct pd_key_source *s, size_t i, int words, uint64_t *key)
{
	size_t at = pd_source_place(s, i) * s->stride;
	for (int w = 0; w < words; w++)
		key[w] = s->w[w][at];
}

/* Where a table's keys go, in local variables: a store to one array must not make the compiler fetch the others again. */
struct pd_table_writer {
	uint32_t *index, *half;
	uint64_t *w[PD_KEY_WORDS];
	struct pd_window window;
	struct pd_bits { int word, shift; bool cross; uint64_t mask; } block;
	struct pd_bits piece[PD_WINDOW_PIECES];		/* the window again, for keys of one word */
};

PD_INLINE struct pd_bits pd_bits_of(int first, int n)
{
	return (struct pd_bits){ first / 64, first % 64, first % 64 + n > 64, ((uint64_t)1 << n) - 1 };
}

PD_INLINE struct pd_table_writer pd_table_writer(const struct pd_key_table *t, struct pd_table_shape shape)
{
	struct pd_table_writer to = { .index = t->index, .half = t->columns.half };
	to.block = pd_bits_of(shape.n_bits ? shape.first_bit : 0, shape.n_bits);
	if (shape.window)
		to.window = *shape.window;
	for (int i = 0; i < PD_WINDOW_PIECES; i++)
		to.piece[i] = pd_bits_of(to.window.piece[i].first, to.window.piece[i].n);
	for (int w = 0; w < PD_KEY_WORDS; w++)
		to.w[w] = t->columns.w[w];
	return to;
}

PD_INLINE size_t pd_block_value(const struct pd_bits *b, const uint64_t *key, int words)
{
	uint64_t v = key[words > 1 ? b->word : 0] >> b->shift;
	if (words > 1 && b->cross)
		v |= key[b->word + 1] << (64 - b->shift);
	return v & b->mask;
}

PD_INLINE uint32_t pd_window_value(const struct pd_table_writer *to, const uint64_t *key, int words)
{
	if (words > 1)
		return pd_window_get(&to->window, key);
	return (uint32_t)((key[0] >> to->piece[0].shift & to->piece[0].mask) << to->window.piece[1].n |
			  (key[0] >> to->piece[1].shift & to->piece[1].mask));
}

/* A key into its place, in whichever form the table keeps. */
PD_INLINE void pd_table_put(const struct pd_table_writer *to, size_t at, const uint64_t *key, int words, bool half, uint32_t id)
{
	to->index[at] = id;
	if (half)
		to->half[at] = pd_window_value(to, key, words);
	else
		for (int w = 0; w < words; w++)
			to->w[w][at] = key[w];
}

void pd_table_room(struct pd_key_table *t, size_t n, int n_bits, int words, bool half);

#endif
