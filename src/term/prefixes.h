/* SPDX-License-Identifier: MIT
 *
 * The prefixes of the dictionary's words, of two or more code points.  A lookup returns whether the prefix is a word,
 * its cost, and whether a longer word begins with it.  It is made for every pair of neighbours in a Chinese text, so it
 * takes one load, and it is exact.
 *
 * There is a hash table for each length, used in place in the container; the first has the prefixes of two code points.
 * The key of a prefix consists of its last code point and the slot of the prefix that is one code point shorter:
 *
 *	63              43 42            22  21  20         0
 *	| the first code  | the last       | M | cost, all   |	M: a longer word begins with it
 *	| point; or the   | code point     |   | ones: none  |	0: an empty slot
 *	| slot before it  |                |   |             |
 *
 * No two prefixes have the same slot.  All prefixes of a bucket are moved by a shift, which was chosen when the table
 * was made so that all their slots are free ("hash, displace": Belazzougui, Botelho, Dietzfelbinger, ESA 2009).  A
 * search reads one slot and has no branch that the processor could mispredict.
 */
#ifndef PD_TERM_PREFIXES_H
#define PD_TERM_PREFIXES_H

#include "base/buf.h"
#include "base/err.h"

#define PD_PREFIX_MORE ((uint64_t)1 << 21)
#define PD_PREFIX_NO_COST ((uint32_t)PD_PREFIX_MORE - 1)
#define PD_PREFIX_SLOTS_MAX ((uint32_t)1 << 21) /* per table */
#define PD_PREFIX_LEVELS_MAX 255

struct pd_prefix_table {
	const uint64_t *slot;
	const uint16_t *shift; /* of each bucket */
	uint32_t slots, buckets;
};

/* Layout of a table in the container. */
struct pd_prefix_level {
	uint64_t at; /* offset in the part; first the slots, then the shifts */
	uint32_t slots, buckets;
};

static inline uint64_t pd_prefix_key(uint32_t before, uint32_t cp)
{
	return (uint64_t)before << 21 | cp;
}

static inline uint64_t pd_prefix_hash(uint64_t key)
{
	return key * 0x9E3779B97F4A7C15u;
}

static inline uint32_t pd_prefix_bucket(const struct pd_prefix_table *t, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * t->buckets >> 32);
}

static inline uint32_t pd_prefix_shifted(const struct pd_prefix_table *t, uint64_t hash, uint32_t shift)
{
	uint64_t x = (hash ^ shift * 0xC2B2AE3D27D4EB4Fu) * 0xD6E8FEB86659FD93u;
	return (uint32_t)((x >> 32) * t->slots >> 32);
}

/* Return the only slot that may hold `key`. */
static inline uint32_t pd_prefix_place(const struct pd_prefix_table *t, uint64_t key)
{
	uint64_t hash = pd_prefix_hash(key);
	return pd_prefix_shifted(t, hash, t->shift[pd_prefix_bucket(t, hash)]);
}

/* Return the content of the slot of `key`, or 0 if the prefix does not exist. */
static inline uint64_t pd_prefix_at(const struct pd_prefix_table *t, uint64_t key, uint32_t place)
{
	uint64_t slot = t->slot[place];
	return slot >> 22 == key ? slot : 0;
}

static inline uint32_t pd_prefix_cost(uint64_t slot)
{
	return (uint32_t)slot & PD_PREFIX_NO_COST;
}

/* No branch, as in the whole file. */
static inline bool pd_prefix_is_word(uint64_t slot)
{
	return (slot != 0) & (pd_prefix_cost(slot) != PD_PREFIX_NO_COST);
}

#endif
