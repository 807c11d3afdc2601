/* SPDX-License-Identifier: MIT
 *
 * Keys sorted by one block: bucket v is the run start[v] .. start[v + 1] - 1 and costs no search.  In sorted order a
 * table keeps either all words of the keys, or 32 bits of each (struct pd_join_window), which halves what has to be moved and
 * compared; `index` leads back to the keys.  Keys of one bucket stay in the order in which they came.  Memory is kept
 * from build to build.
 */
#ifndef PD_JOIN_TABLE_H
#define PD_JOIN_TABLE_H

#include "base/sort.h"
#include "join/keys.h"

#define PD_TABLE_PAD 32	/* elements after each column that may be read and copied */

struct pd_join_table {
	size_t n, n_values;
	bool is_half;			/* columns.half alone is filled; else columns.w */
	struct pd_join_columns columns;
	uint32_t *index;		/* place -> key */
	uint32_t *start;		/* n_values + 1 */
	uint64_t *memory;
	size_t memory_cap, index_cap, start_cap, half_cap;
};

/* Where the keys of a table come from: columns (stride 1) or keys that lie whole, one after the other. */
struct pd_join_source {
	const uint64_t *w[PD_KEY_WORDS];
	size_t stride, n;
	int words;
	const uint32_t *ids;		/* the key's number; NULL: its place */
	bool scattered;			/* the key lies at the place ids[i], not i */
};

struct pd_join_shape {
	int first_bit, n_bits;		/* n_bits 0: a single bucket, the keys in their order */
	const struct pd_join_window *window;	/* NULL: all words */
};

struct pd_join_source pd_join_source_keys(const struct pd_join_keys *keys);
/* Some of the keys, by their numbers. */
struct pd_join_source pd_join_source_some(const struct pd_join_keys *keys, const uint32_t *ids, size_t n);
/* A run of a table that keeps all words. */
struct pd_join_source pd_join_source_run(const struct pd_join_table *t, struct pd_join_run run, int words);

void pd_join_table_build(struct pd_join_table *t, const struct pd_join_source *from, struct pd_join_shape shape);
/* The same for many keys: two passes that each have few places to write to, on all threads. */
void pd_join_table_build_big(struct pd_join_table *t, const struct pd_join_source *from, struct pd_join_shape shape, int threads);
void pd_join_table_release(struct pd_join_table *t);

/* --- many keys of which halves are kept, part by part ---
 *
 * Keys dealt into parts by the high bits of a block.  Where buckets meet nobody but themselves there need be no table of all: a
 * part is sorted into a table of its own, which is met while it lies in the cache. */

struct pd_join_deal {
	struct pd_join_source from;
	struct pd_join_shape shape;
	int low_bits, id_bits;
	struct pd_radix radix;		/* stretches of the keys, parts by the high bits of the block */
	/* Half of a key in the high half of a word; in the low one its number, below the low bits of its block, where those have room: */
	uint64_t *dealt;
	uint16_t *low;			/* else they lie here */
	bool low_apart;
	size_t cap, low_cap;
};

/* Memory is kept from the last time, all zeroes at first.  False: so few keys, buckets or none of halves are better off in one table. */
bool pd_join_deal(struct pd_join_deal *d, const struct pd_join_source *from, struct pd_join_shape shape, int threads);
/* Part p, of d->radix.n_parts: its bucket v is that of the low bits v. */
void pd_join_deal_part(const struct pd_join_deal *d, size_t p, struct pd_join_table *t);
/* All keys lie in one. */
bool pd_join_deal_is_one_bucket(const struct pd_join_deal *d);
void pd_join_deal_release(struct pd_join_deal *d);

static inline struct pd_join_run pd_join_table_bucket(const struct pd_join_table *t, size_t v)
{
	return (struct pd_join_run){ &t->columns, t->start[v], t->start[v + 1] };
}

/* --- the neighbours of a bucket: what its value is xored with to give all values within a radius --- */

#define PD_MASKS_BITS_MAX 24
_Static_assert(PD_MASKS_BITS_MAX >= PD_BLOCK_BITS_MAX, "masks of all blocks");

/* Ring by ring: first the value 0, then all values of one bit, of two, …; in a ring ascending, so by the highest bit. */
struct pd_join_masks {
	int n_bits, radius;
	size_t ring[PD_MASKS_BITS_MAX + 2][PD_MASKS_BITS_MAX + 1];	/* ring[s][h]: where values of s bits, h the highest, begin */
	uint32_t *v;
	size_t n, cap;
};

void pd_join_masks_fill(struct pd_join_masks *m, int n_bits, int radius);
void pd_join_masks_release(struct pd_join_masks *m);

#endif
