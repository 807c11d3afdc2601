/* SPDX-License-Identifier: MIT
 *
 * Keys and a block in, a table sorted by that block out, in two passes over the keys: count, place.  Placing very many keys
 * into 65,536 buckets at once misses the cache at every step, so then keys are first dealt into up to 256 parts by the high
 * bits of the block, each thread its own stretch of the keys; each part, which is small, is sorted by the low bits in a
 * thread's own memory and copied back.  The order is that of a stable sort, whatever the threads: stretches stand in their
 * order within each part.
 */
#include "join/table.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/threads.h"

struct pd_join_source pd_join_source_keys(const struct pd_join_keys *keys)
{
	struct pd_join_source s = { .words = keys->bits / 64, .n = keys->n, .ids = keys->ids, .scattered = keys->ids != NULL };
	s.stride = (size_t)s.words;
	for (int w = 0; w < s.words; w++)
		s.w[w] = keys->v + w;
	return s;
}

struct pd_join_source pd_join_source_some(const struct pd_join_keys *keys, const uint32_t *ids, size_t n)
{
	struct pd_join_source s = pd_join_source_keys(keys);
	s.ids = ids;
	s.n = n;
	s.scattered = true;
	return s;
}

struct pd_join_source pd_join_source_run(const struct pd_join_table *t, struct pd_join_run run, int words)
{
	struct pd_join_source s = { .stride = 1, .n = run.to - run.from, .words = words, .ids = t->index + run.from };
	for (int w = 0; w < words; w++)
		s.w[w] = t->columns.w[w] + run.from;
	return s;
}

#define INLINE static inline __attribute__((always_inline))

INLINE size_t source_place(const struct pd_join_source *s, size_t i)
{
	return s->scattered ? s->ids[i] : i;
}

INLINE uint32_t source_id(const struct pd_join_source *s, size_t i)
{
	return s->ids ? s->ids[i] : (uint32_t)i;
}

INLINE void source_get(const struct pd_join_source *s, size_t i, int words, uint64_t *key)
{
	size_t at = source_place(s, i) * s->stride;
	for (int w = 0; w < words; w++)
		key[w] = s->w[w][at];
}

/* Where a table's keys go, in local variables: a store to one array must not make the compiler fetch the others again. */
struct writer {
	uint32_t *index, *half;
	uint64_t *w[PD_KEY_WORDS];
	struct pd_join_window window;
	struct field { int word, shift; bool cross; uint64_t mask; } block;
	struct field piece[PD_WINDOW_PIECES];		/* the window again, for keys of one word */
};

INLINE struct field field_of(int first, int n)
{
	return (struct field){ first / 64, first % 64, first % 64 + n > 64, ((uint64_t)1 << n) - 1 };
}

INLINE struct writer writer_of(const struct pd_join_table *t, struct pd_join_shape shape)
{
	struct writer to = { .index = t->index, .half = t->columns.half };
	to.block = field_of(shape.n_bits ? shape.first_bit : 0, shape.n_bits);
	if (shape.window)
		to.window = *shape.window;
	for (int i = 0; i < PD_WINDOW_PIECES; i++)
		to.piece[i] = field_of(to.window.piece[i].first, to.window.piece[i].n);
	for (int w = 0; w < PD_KEY_WORDS; w++)
		to.w[w] = t->columns.w[w];
	return to;
}

INLINE size_t block_value(const struct field *b, const uint64_t *key, int words)
{
	uint64_t v = key[words > 1 ? b->word : 0] >> b->shift;
	if (words > 1 && b->cross)
		v |= key[b->word + 1] << (64 - b->shift);
	return v & b->mask;
}

INLINE uint32_t window_value(const struct writer *to, const uint64_t *key, int words)
{
	if (words > 1)
		return pd_join_window_get(&to->window, key);
	return (uint32_t)((key[0] >> to->piece[0].shift & to->piece[0].mask) << to->window.piece[1].n |
			  (key[0] >> to->piece[1].shift & to->piece[1].mask));
}

/* A key into its place, in whichever form the table keeps. */
INLINE void put_key(const struct writer *to, size_t at, const uint64_t *key, int words, bool half, uint32_t id)
{
	to->index[at] = id;
	if (half)
		to->half[at] = window_value(to, key, words);
	else
		for (int w = 0; w < words; w++)
			to->w[w][at] = key[w];
}

static void table_room(struct pd_join_table *t, size_t n, int n_bits, int words, bool half)
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

INLINE void build(struct pd_join_table *t, const struct pd_join_source *source, struct pd_join_shape shape, int words, bool half)
{
	/* Counted two places on and summed, next[v] is where bucket v begins; once all are placed, where v + 1 does. */
	uint32_t *next = t->start + 1;
	uint64_t key[PD_KEY_WORDS];
	const struct pd_join_source from = *source;
	const struct writer to = writer_of(t, shape);
	memset(t->start, 0, (t->n_values + 2) * sizeof *t->start);
	for (size_t i = 0; i < from.n; i++) {
		source_get(&from, i, words, key);
		next[block_value(&to.block, key, words) + 1]++;
	}
	for (size_t v = 1; v < t->n_values; v++)
		next[v] += next[v - 1];
	for (size_t i = 0; i < from.n; i++) {
		source_get(&from, i, words, key);
		put_key(&to, next[block_value(&to.block, key, words)]++, key, words, half, source_id(&from, i));
	}
}

void pd_join_table_build(struct pd_join_table *t, const struct pd_join_source *from, struct pd_join_shape shape)
{
	table_room(t, from->n, shape.n_bits, from->words, shape.window != NULL);
	if (shape.window)
		build(t, from, shape, from->words, true);
	else if (from->words == 1)
		build(t, from, shape, 1, false);
	else if (from->words == 2)
		build(t, from, shape, 2, false);
	else
		build(t, from, shape, 4, false);
}

void pd_join_table_release(struct pd_join_table *t)
{
	free(t->memory);
	free(t->columns.half);
	free(t->index);
	free(t->start);
	*t = (struct pd_join_table){ 0 };
}

#define SMALL 32768		/* keys for which one pass is as good */
#define PART_BITS 8

struct deal {
	struct pd_join_table *table;
	const struct pd_join_source *from;
	struct pd_join_shape shape;
	int low_bits;
	struct pd_radix radix;		/* stretches of the keys, parts by the high bits of the block */
	uint64_t *dealt;		/* halves only: half and number of a key together, until its part is sorted; */
	uint16_t *low;			/* and the low bits of its block, which are not kept otherwise */
	struct pd_join_table *spare;	/* else: for each thread, a part being sorted */
};

struct table_stretch {
	size_t from, to, *next;
};

static struct table_stretch stretch(const struct deal *d, size_t i)
{
	size_t n = d->from->n, all = d->radix.n_stretches;
	return (struct table_stretch){ n * i / all, n * (i + 1) / all, pd_radix_next(&d->radix, i) };
}

INLINE void count(const struct deal *d, struct table_stretch s, int words, bool half)
{
	const struct pd_join_source from = *d->from;
	const struct writer to = writer_of(d->table, d->shape);
	const int low_bits = d->low_bits;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = s.from; i < s.to; i++) {
		source_get(&from, i, words, key);
		s.next[block_value(&to.block, key, words) >> low_bits]++;
	}
}

/* Halves go out in one stream with their numbers: the fewer places are written to at a time, the more stay in the cache. */
INLINE void place(const struct deal *d, struct table_stretch s, int words, bool half)
{
	const struct pd_join_source from = *d->from;
	const struct writer to = writer_of(d->table, d->shape);
	const int low_bits = d->low_bits;
	uint64_t *const dealt = d->dealt;
	uint16_t *const low = d->low;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = s.from; i < s.to; i++) {
		source_get(&from, i, words, key);
		size_t v = block_value(&to.block, key, words), at = s.next[v >> low_bits]++;
		if (!half) {
			put_key(&to, at, key, words, false, source_id(&from, i));
			continue;
		}
		dealt[at] = (uint64_t)window_value(&to, key, words) << 32 | source_id(&from, i);
		low[at] = (uint16_t)(v & (((size_t)1 << low_bits) - 1));
	}
}

/* A task for each shape, so that the loops know it. */
#define DEFINE_TASK(name) \
	static void name##_task(void *ctx, size_t i, int thread) \
	{ \
		const struct deal *d = ctx; \
		bool half = d->table->is_half; \
		if (d->from->words == 1 && half) \
			name(d, stretch(d, i), 1, true); \
		else if (d->from->words == 1) \
			name(d, stretch(d, i), 1, false); \
		else if (half) \
			name(d, stretch(d, i), d->from->words, true); \
		else if (d->from->words == 2) \
			name(d, stretch(d, i), 2, false); \
		else \
			name(d, stretch(d, i), 4, false); \
	}
DEFINE_TASK(count)
DEFINE_TASK(place)

INLINE void count_part(const struct deal *d, size_t from, size_t n, uint32_t *next, int words)
{
	const struct writer in = writer_of(d->table, d->shape);
	const size_t mask = ((size_t)1 << d->low_bits) - 1;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = from; i < from + n; i++) {
		for (int w = 0; w < words; w++)
			key[w] = in.w[w][i];
		next[(block_value(&in.block, key, words) & mask) + 1]++;
	}
}

INLINE void sort_part(const struct deal *d, struct pd_join_table *spare, size_t from, size_t n, uint32_t *next, int words)
{
	const struct writer in = writer_of(d->table, d->shape), to = writer_of(spare, (struct pd_join_shape){ 0 });
	const size_t mask = ((size_t)1 << d->low_bits) - 1;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = from; i < from + n; i++) {
		for (int w = 0; w < words; w++)
			key[w] = in.w[w][i];
		size_t at = next[block_value(&in.block, key, words) & mask]++;
		to.index[at] = in.index[i];
		for (int w = 0; w < words; w++)
			to.w[w][at] = key[w];
	}
}

static void copy_back(struct pd_join_table *t, size_t from, const struct pd_join_table *part, size_t n, int words)
{
	memcpy(t->index + from, part->index, n * sizeof *t->index);
	for (int w = 0; w < words; w++)
		memcpy(t->columns.w[w] + from, part->columns.w[w], n * sizeof *t->columns.w[w]);
}

/* Where the part's buckets begin, from how many keys they have. */
static void sum_part(const struct deal *d, size_t p, uint32_t *next)
{
	uint32_t *start = d->table->start + (p << d->low_bits);
	for (size_t v = 0; v < (size_t)1 << d->low_bits; v++) {
		next[v + 1] += next[v];
		start[v] = (uint32_t)d->radix.part[p] + next[v];
	}
}

static void sort_halves(const struct deal *d, size_t p, uint32_t *next)
{
	const uint64_t *const dealt = d->dealt;
	const uint16_t *const low = d->low;
	size_t from = d->radix.part[p], to = d->radix.part[p + 1];
	uint32_t *const index = d->table->index + from, *const half = d->table->columns.half + from;
	for (size_t i = from; i < to; i++)
		next[low[i] + 1]++;
	sum_part(d, p, next);
	for (size_t i = from; i < to; i++) {
		size_t at = next[low[i]]++;
		index[at] = (uint32_t)dealt[i];
		half[at] = (uint32_t)(dealt[i] >> 32);
	}
}

static void sort_whole(const struct deal *d, size_t p, uint32_t *next, struct pd_join_table *spare)
{
	size_t from = d->radix.part[p], n = d->radix.part[p + 1] - from;
	int words = d->from->words;
	table_room(spare, n, 0, words, false);
	if (words == 1)
		count_part(d, from, n, next, 1);
	else
		count_part(d, from, n, next, words);
	sum_part(d, p, next);
	if (words == 1)
		sort_part(d, spare, from, n, next, 1);
	else
		sort_part(d, spare, from, n, next, words);
	copy_back(d->table, from, spare, n, words);
}

/* One part by the low bits of the block. */
static void sort_task(void *ctx, size_t p, int thread)
{
	const struct deal *d = ctx;
	uint32_t next[(1 << (PD_BLOCK_BITS_MAX - PART_BITS)) + 1];
	memset(next, 0, (((size_t)1 << d->low_bits) + 1) * sizeof *next);
	if (d->table->is_half)
		sort_halves(d, p, next);
	else
		sort_whole(d, p, next, &d->spare[thread]);
}

static void build_in_parts(struct deal *d, size_t n_parts, int threads)
{
	pd_radix_init(&d->radix, (size_t)threads, n_parts);
	d->dealt = d->table->is_half ? pd_big_alloc(d->from->n * sizeof *d->dealt) : NULL;
	d->low = d->table->is_half ? pd_big_alloc(d->from->n * sizeof *d->low) : NULL;
	d->spare = pd_zalloc((size_t)threads * sizeof *d->spare);
	pd_parallel(threads, (size_t)threads, count_task, d);
	pd_radix_sum(&d->radix);
	pd_parallel(threads, (size_t)threads, place_task, d);
	pd_parallel(threads, n_parts, sort_task, d);
	d->table->start[d->table->n_values] = (uint32_t)d->from->n;
	for (int i = 0; i < threads; i++)
		pd_join_table_release(&d->spare[i]);
	free(d->spare);
	free(d->dealt);
	free(d->low);
	pd_radix_release(&d->radix);
}

void pd_join_table_build_big(struct pd_join_table *t, const struct pd_join_source *from, struct pd_join_shape shape, int threads)
{
	if (from->n < SMALL || shape.n_bits < 2) {
		pd_join_table_build(t, from, shape);
		return;
	}
	struct deal d = { .table = t, .from = from, .shape = shape };
	int part_bits = shape.n_bits < PART_BITS ? shape.n_bits : PART_BITS;
	d.low_bits = shape.n_bits - part_bits;
	table_room(t, from->n, shape.n_bits, from->words, shape.window != NULL);
	build_in_parts(&d, (size_t)1 << part_bits, threads);
}

/* --- the neighbours of a bucket --- */

void pd_join_masks_fill(struct pd_join_masks *m, int n_bits, int radius)
{
	m->v = pd_grow(m->v, 0, &m->cap, sizeof *m->v);
	m->v[0] = 0;
	m->n = 1;
	m->n_bits = n_bits;
	m->radius = radius < n_bits ? radius : n_bits;
	for (int spent = 1; spent <= m->radius; spent++) {
		uint32_t x = (UINT32_C(1) << spent) - 1, low;
		for (int bit = 0; bit <= n_bits; bit++) {
			m->ring[spent][bit] = m->n;
			/* The next larger value of as many bits (H. S. Warren, "Hacker's Delight", 2-1). */
			for (; bit < n_bits && x < UINT32_C(2) << bit; x = (((x ^ (x + low)) >> 2) / low) | (x + low)) {
				m->v = pd_grow(m->v, m->n, &m->cap, sizeof *m->v);
				m->v[m->n++] = x;
				low = x & -x;
			}
		}
	}
}

void pd_join_masks_release(struct pd_join_masks *m)
{
	free(m->v);
	*m = (struct pd_join_masks){ 0 };
}
