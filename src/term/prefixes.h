/* SPDX-License-Identifier: MIT
 *
 * The beginnings of the dictionary's words, of two or more code points: is it a word, at which cost, does a longer one
 * begin with it?  Asked for every pair of neighbours of a Chinese text, so an answer takes one load, and is exact.
 *
 * A hash table for each length, in the container as they are used; the first has the prefixes of two code points.  A
 * prefix is found by its last code point and by where that before it was found:
 *
 *	63              43 42            22  21  20         0
 *	| the first code  | the last       | M | cost, all   |	M: a longer word begins with it
 *	| point; or the   | code point     |   | ones: none  |	0: an empty slot
 *	| slot before it  |                |   |             |
 *
 * No two prefixes want the same slot: all that fall into one bucket are shifted by a number, which was sought when the
 * table was made, to where nobody is ("hash, displace": Belazzougui, Botelho, Dietzfelbinger, ESA 2009).  So a search
 * reads one slot, and has no branch to guess.
 */
#ifndef PD_TERM_PREFIXES_H
#define PD_TERM_PREFIXES_H

#include "base/buf.h"
#include "base/err.h"

#define PD_PREFIX_MORE ((uint64_t)1 << 21)
#define PD_PREFIX_NO_COST ((uint32_t)PD_PREFIX_MORE - 1)
#define PD_PREFIX_SLOTS_MAX ((uint32_t)1 << 21)	/* of a table */
#define PD_PREFIX_LEVELS_MAX 255

struct pd_prefix_table {
	const uint64_t *slot;
	const uint16_t *shift;	/* of each bucket */
	uint32_t slots, buckets;
};

/* How a table lies in the container. */
struct pd_prefix_level {
	uint64_t at;		/* bytes from the beginning of the part; first the slots, then the shifts */
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

/* Where `key` is if it is anywhere. */
static inline uint32_t pd_prefix_place(const struct pd_prefix_table *t, uint64_t key)
{
	uint64_t hash = pd_prefix_hash(key);
	return pd_prefix_shifted(t, hash, t->shift[pd_prefix_bucket(t, hash)]);
}

/* The slot at the place of `key`; 0: there is no such prefix. */
static inline uint64_t pd_prefix_at(const struct pd_prefix_table *t, uint64_t key, uint32_t place)
{
	uint64_t slot = t->slot[place];
	return slot >> 22 == key ? slot : 0;
}

static inline uint32_t pd_prefix_cost(uint64_t slot)
{
	return (uint32_t)slot & PD_PREFIX_NO_COST;
}

/* Without a branch, as everything here. */
static inline bool pd_prefix_is_word(uint64_t slot)
{
	return (slot != 0) & (pd_prefix_cost(slot) != PD_PREFIX_NO_COST);
}

#endif
