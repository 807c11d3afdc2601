/* SPDX-License-Identifier: MIT
 *
 * Keys sorted by one block: bucket v is the run start[v] .. start[v + 1] - 1 and is found without a search.  A table
 * stores either all words of the sorted keys, or 32 bits of each (struct pd_index_window), which halves the data to move
 * and compare; `index` maps to the keys.  Keys of one bucket keep their order.  Memory is reused by the next build.
 */
#ifndef PD_INDEX_TABLE_H
#define PD_INDEX_TABLE_H

#include "base/sort.h"
#include "index/keys.h"

#define PD_TABLE_PAD 32 /* elements after each column that may be read and copied */

struct pd_index_table {
	size_t n, n_values;
	bool is_half; /* only columns.half is filled; otherwise columns.w */
	struct pd_index_columns columns;
	uint32_t *index; /* position -> key */
	uint32_t *start; /* n_values + 1 */
	uint64_t *memory;
	size_t memory_cap, index_cap, start_cap, half_cap;
};

/* Source of the keys of a table: columns (stride 1), or complete keys in sequence. */
struct pd_index_source {
	const uint64_t *w[PD_KEY_WORDS];
	size_t stride, n;
	int words;
	const uint32_t *ids; /* the key's number; NULL: its position */
	bool scattered;	     /* the key is at position ids[i], not i */
};

struct pd_index_shape {
	int first_bit, n_bits;		      /* n_bits 0: a single bucket with the keys in their order */
	const struct pd_index_window *window; /* NULL: all words */
};

struct pd_index_source pd_index_source_keys(const struct pd_index_keys *keys);
/* Make a source of some keys, by their numbers. */
struct pd_index_source pd_index_source_some(const struct pd_index_keys *keys, const uint32_t *ids, size_t n);
/* Make a source of a run of a table with all words. */
struct pd_index_source pd_index_source_run(const struct pd_index_table *t, struct pd_index_run run, int words);

void pd_index_table_build(struct pd_index_table *t, const struct pd_index_source *from, struct pd_index_shape shape);
/* Build a table of many keys on all threads, in two passes that each write to few positions.  The number of a key is
 * its position in the source. */
void pd_index_table_build_big(struct pd_index_table *t, const struct pd_index_source *from, struct pd_index_shape shape,
			      int threads);
void pd_index_table_release(struct pd_index_table *t);

/* --- many keys, partition by partition ---
 *
 * Keys are distributed to partitions by the high bits of a block.  If each bucket is compared only with itself, no
 * table of all keys is needed.  Each partition is sorted into its own table and searched while it is in the cache. */

struct pd_index_deal {
	struct pd_index_source from;
	struct pd_index_shape shape;
	int low_bits, id_bits;
	struct pd_radix radix; /* stretches of the keys; partitions by the high bits of the block */
	/* Half of a key in the high half of a word.  The low half has the low bits of its block above its number, if
	 * there is room: */
	uint64_t *dealt;
	uint16_t *low; /* otherwise these bits are here */
	bool low_apart;
	size_t cap, low_cap;
};

/* Distribute keys to partitions.  The number of a key is its position in the source.  `d` is zeroed at first; its
 * memory is reused.  Return false if one table is better: few keys or few buckets. */
bool pd_index_deal(struct pd_index_deal *d, const struct pd_index_source *from, struct pd_index_shape shape, int threads);
/* Sort partition p, of d->radix.n_partitions: its bucket v has the keys with low bits v. */
void pd_index_deal_partition(const struct pd_index_deal *d, size_t p, struct pd_index_table *t);
/* Return whether all keys are in one bucket. */
bool pd_index_deal_is_one_bucket(const struct pd_index_deal *d);
void pd_index_deal_release(struct pd_index_deal *d);

static inline struct pd_index_run pd_index_table_bucket(const struct pd_index_table *t, size_t v)
{
	return (struct pd_index_run){ &t->columns, t->start[v], t->start[v + 1] };
}

/* --- neighbours of a bucket: masks to xor with its value to get all values within a radius --- */

#define PD_MASKS_BITS_MAX 24
_Static_assert(PD_MASKS_BITS_MAX >= PD_BLOCK_BITS_MAX, "masks of all blocks");

/* Rings of masks: first 0, then all masks with one bit, with two bits, …; ascending within a ring, thus sorted by the
 * highest bit. */
struct pd_index_masks {
	int n_bits, radius;
	size_t ring[PD_MASKS_BITS_MAX + 2]
		   [PD_MASKS_BITS_MAX + 1]; /* ring[s][h]: start of the masks with s bits and h as the highest bit */
	uint32_t *v;
	size_t n, cap;
};

void pd_index_masks_fill(struct pd_index_masks *m, int n_bits, int radius);
void pd_index_masks_release(struct pd_index_masks *m);

#endif
