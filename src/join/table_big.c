/* SPDX-License-Identifier: MIT
 *
 * Many keys and a block in, a table sorted by that block out.  Placing keys into 65,536 buckets at once misses the cache
 * at every step, so keys are first dealt into up to 256 parts by the high bits of the block, each thread its own stretch
 * of the keys; then each part, which is small, is sorted by the low bits in a thread's own memory and copied back.
 *
 * The order is that of a stable sort, whatever the threads: stretches stand in their order within each part.
 */
#include <stdlib.h>

#include "base/threads.h"
#include "base/memory.h"
#include "join/source.h"

#define SMALL 32768		/* keys for which one pass is as good */
#define PART_BITS 8

struct deal {
	struct pd_key_table *table;
	const struct pd_key_source *from;
	struct pd_table_shape shape;
	int low_bits;
	size_t n_parts, n_stretches;
	size_t *next;			/* stretch, part -> where the next key goes */
	size_t *part;			/* n_parts + 1: where parts begin */
	uint64_t *dealt;		/* halves only: half and number of a key together, until its part is sorted; */
	uint16_t *low;			/* and the low bits of its block, which are not kept otherwise */
	struct pd_key_table *spare;	/* else: for each thread, a part being sorted */
};

struct stretch {
	size_t from, to, *next;
};

static struct stretch stretch(const struct deal *d, size_t i)
{
	return (struct stretch){ d->from->n * i / d->n_stretches, d->from->n * (i + 1) / d->n_stretches,
				 d->next + i * d->n_parts };
}

PD_INLINE void count(const struct deal *d, struct stretch s, int words, bool half)
{
	const struct pd_key_source from = *d->from;
	const struct pd_table_writer to = pd_table_writer(d->table, d->shape);
	const int low_bits = d->low_bits;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = s.from; i < s.to; i++) {
		pd_source_get(&from, i, words, key);
		s.next[pd_block_value(&to.block, key, words) >> low_bits]++;
	}
}

/* Halves go out in one stream with their numbers: the fewer places are written to at a time, the more stay in the cache. */
PD_INLINE void place(const struct deal *d, struct stretch s, int words, bool half)
{
	const struct pd_key_source from = *d->from;
	const struct pd_table_writer to = pd_table_writer(d->table, d->shape);
	const int low_bits = d->low_bits;
	uint64_t *const dealt = d->dealt;
	uint16_t *const low = d->low;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = s.from; i < s.to; i++) {
		pd_source_get(&from, i, words, key);
		size_t v = pd_block_value(&to.block, key, words), at = s.next[v >> low_bits]++;
		if (!half) {
			pd_table_put(&to, at, key, words, false, pd_source_id(&from, i));
			continue;
		}
		dealt[at] = (uint64_t)pd_window_value(&to, key, words) << 32 | pd_source_id(&from, i);
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

/* Counts -> places: part by part, in each the stretches in their order. */
static void sum_counts(struct deal *d)
{
	size_t at = 0;
	for (size_t p = 0; p < d->n_parts; p++) {
		d->part[p] = at;
		for (size_t s = 0; s < d->n_stretches; s++) {
			size_t n = d->next[s * d->n_parts + p];
			d->next[s * d->n_parts + p] = at;
			at += n;
		}
	}
	d->part[d->n_parts] = at;
}

PD_INLINE void count_part(const struct deal *d, size_t from, size_t n, uint32_t *next, int words)
{
	const struct pd_table_writer in = pd_table_writer(d->table, d->shape);
	const size_t mask = ((size_t)1 << d->low_bits) - 1;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = from; i < from + n; i++) {
		for (int w = 0; w < words; w++)
			key[w] = in.w[w][i];
		next[(pd_block_value(&in.block, key, words) & mask) + 1]++;
	}
}

PD_INLINE void sort_part(const struct deal *d, struct pd_key_table *spare, size_t from, size_t n, uint32_t *next, int words)
{
	const struct pd_table_writer in = pd_table_writer(d->table, d->shape), to = pd_table_writer(spare, (struct pd_table_shape){ 0 });
	const size_t mask = ((size_t)1 << d->low_bits) - 1;
	uint64_t key[PD_KEY_WORDS] = { 0 };
	for (size_t i = from; i < from + n; i++) {
		for (int w = 0; w < words; w++)
			key[w] = in.w[w][i];
		size_t at = next[pd_block_value(&in.block, key, words) & mask]++;
		to.index[at] = in.index[i];
		for (int w = 0; w < words; w++)
			to.w[w][at] = key[w];
	}
}

static void copy_back(struct pd_key_table *t, size_t from, const struct pd_key_table *part, size_t n, int words)
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
		start[v] = (uint32_t)d->part[p] + next[v];
	}
}

static void sort_halves(const struct deal *d, size_t p, uint32_t *next)
{
	const uint64_t *const dealt = d->dealt;
	const uint16_t *const low = d->low;
	size_t from = d->part[p], to = d->part[p + 1];
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

static void sort_whole(const struct deal *d, size_t p, uint32_t *next, struct pd_key_table *spare)
{
	size_t from = d->part[p], n = d->part[p + 1] - from;
	int words = d->from->words;
	pd_table_room(spare, n, 0, words, false);
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

static void run(struct deal *d, int threads)
{
	d->next = pd_zalloc(d->n_stretches * d->n_parts * sizeof *d->next);
	d->part = pd_alloc((d->n_parts + 1) * sizeof *d->part);
	d->dealt = d->table->is_half ? pd_big_alloc(d->from->n * sizeof *d->dealt) : NULL;
	d->low = d->table->is_half ? pd_big_alloc(d->from->n * sizeof *d->low) : NULL;
	d->spare = pd_zalloc((size_t)threads * sizeof *d->spare);
	pd_parallel(threads, d->n_stretches, count_task, d);
	sum_counts(d);
	pd_parallel(threads, d->n_stretches, place_task, d);
	pd_parallel(threads, d->n_parts, sort_task, d);
	d->table->start[d->table->n_values] = (uint32_t)d->from->n;
	for (int i = 0; i < threads; i++)
		pd_table_release(&d->spare[i]);
	free(d->spare);
	free(d->dealt);
	free(d->low);
	free(d->part);
	free(d->next);
}

void pd_table_build_big(struct pd_key_table *t, const struct pd_key_source *from, struct pd_table_shape shape, int threads)
{
	if (from->n < SMALL || shape.n_bits < 2) {
		pd_table_build(t, from, shape);
		return;
	}
	struct deal d = { .table = t, .from = from, .shape = shape, .n_stretches = (size_t)threads };
	int part_bits = shape.n_bits < PART_BITS ? shape.n_bits : PART_BITS;
	d.low_bits = shape.n_bits - part_bits;
	d.n_parts = (size_t)1 << part_bits;
	pd_table_room(t, from->n, shape.n_bits, from->words, shape.window != NULL);
	run(&d, threads);
}
