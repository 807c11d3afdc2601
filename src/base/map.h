/* SPDX-License-Identifier: MIT
 *
 * The hash tables of the program: open addressing with linear probing.
 *
 * A map keeps 64-bit keys, mostly hashes, each with a 32-bit value: as a map (a number, or a place in an array beside it),
 * as a set (the values are not read), as a counter of what occurs how often.  Sixteen bytes for a slot, at most half
 * of the slots taken.  It is emptied in no time (a slot belongs to the round that wrote it), so that it can be used page
 * after page.  All zeroes is an empty map.
 *
 * An index finds numbers 0, 1, 2 … of things that lie with the caller, by their hashes:
 * five bytes for a slot, at most three quarters of them taken.  The caller says whether a number is the thing asked for, and
 * its hash when the index grows.  All zeroes is an empty index.
 *
 * Authors of pages choose most keys.  The slot of a key therefore depends on a random number of each table as well, so that
 * no author knows keys that share their slots.  The order of the slots differs from run to run: no output may depend on it.
 *
 * Names are strings and their numbers 0, 1, 2 … in the order in which they were first added; each string stands once.  They
 * lie in memory until `release`.
 */
#ifndef PD_BASE_MAP_H
#define PD_BASE_MAP_H

#include "base/alloc.h"
#include "base/buf.h"

struct pd_map_slot {
	uint64_t key;
	uint32_t round;
	uint32_t value;
};

struct pd_map {
	struct pd_map_slot *v;
	size_t n, cap;		/* keys; slots in use, a power of two */
	size_t room;		/* slots there are */
	uint64_t secret;	/* that the places of keys depend on */
	uint32_t round;		/* of the slots that are taken; from 1 */
};

/* A random odd number, another one for each call.  One that all tables shared would make it slow to fill a small table with
 * the keys of a large one in the order of its slots. */
uint64_t pd_map_secret(void);

/* The key of a string: a hash with a secret of the process.  Use it wherever a table knows strings by their hashes alone, or strings
 * of a page's author are in an index: he can compute strings with equal hashes of any function without a secret.  The value
 * differs from process to process: do not store it. */
uint64_t pd_map_key(struct pd_span s);

/* Place of a key before it is cut to the size of a table: both halves of the product with the secret.  Either half alone
 * would give keys that differ only in their highest bits, or only in their lowest, one place whatever the secret is. */
static inline uint64_t pd_map_place(uint64_t key, uint64_t secret)
{
	unsigned __int128 product = (unsigned __int128)(key + secret) * secret;
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Everything is forgotten; room for `n` keys, 0: as many as there is.  Few keys lie in few slots, which stay in the processor's
 * cache, whatever the page before needed; a map that one huge page made huge gives its memory back. */
void pd_map_clear(struct pd_map *m, size_t n);
void pd_map_release(struct pd_map *m);
/* Twice the slots; called by what adds. */
void pd_map_grow(struct pd_map *m);
static inline size_t pd_map_bytes(const struct pd_map *m)
{
	return m->room * sizeof *m->v;
}

/* All keys in no order: m->n of them. */
void pd_map_keys(const struct pd_map *m, uint64_t *out);

static inline struct pd_map_slot *pd_map_slot(const struct pd_map *m, uint64_t key)
{
	size_t i = pd_map_place(key, m->secret) & (m->cap - 1);
	while (m->v[i].round == m->round && m->v[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->v[i];
}

/* The value of the key, which is 0 when it was not there.  It lies there until something is added. */
static inline uint32_t *pd_map_put(struct pd_map *m, uint64_t key)
{
	if (2 * (m->n + 1) > m->cap)
		pd_map_grow(m);
	struct pd_map_slot *s = pd_map_slot(m, key);
	if (s->round != m->round) {
		*s = (struct pd_map_slot){ .key = key, .round = m->round };
		m->n++;
	}
	return &s->value;
}

/* The value of the key, or NULL when it is not there. */
static inline uint32_t *pd_map_find(const struct pd_map *m, uint64_t key)
{
	struct pd_map_slot *s = m->n ? pd_map_slot(m, key) : NULL;
	return s && s->round == m->round ? &s->value : NULL;
}

static inline bool pd_map_has(const struct pd_map *m, uint64_t key)
{
	return pd_map_find(m, key) != NULL;
}

/* Into a set: false when it was there. */
static inline bool pd_map_add(struct pd_map *m, uint64_t key)
{
	size_t before = m->n;
	pd_map_put(m, key);
	return m->n > before;
}

#define PD_NO_NUMBER UINT32_MAX

struct pd_index {
	uint32_t *number;
	uint8_t *tag;		/* of each slot: bits of the place, so that few others are examined in vain; 0: free */
	size_t n, cap;
	uint64_t secret;	/* that the places of hashes depend on */
};

typedef uint64_t pd_index_hash(const void *things, uint32_t number);
typedef bool pd_index_same(const void *things, uint32_t number, const void *key);

static inline uint64_t pd_index_place(const struct pd_index *x, uint64_t hash)
{
	return pd_map_place(hash, x->secret);
}

static inline uint8_t pd_index_tag(uint64_t place)
{
	return (uint8_t)(place >> 56 | 1);
}

/* From slot `i` on the first that is free or has this tag. */
static inline size_t pd_index_likely(const struct pd_index *x, size_t i, uint8_t tag)
{
	for (i &= x->cap - 1; x->tag[i] && x->tag[i] != tag;)
		i = (i + 1) & (x->cap - 1);
	return i;
}

/* The number of the thing that `same` knows as `key`, or PD_NO_NUMBER.  Inline, so that `same` costs no call. */
static inline __attribute__((always_inline)) uint32_t pd_index_find(const struct pd_index *x, uint64_t hash, pd_index_same *same,
								     const void *things, const void *key)
{
	if (!x->n)
		return PD_NO_NUMBER;
	uint64_t place = pd_index_place(x, hash);
	uint8_t tag = pd_index_tag(place);
	for (size_t i = place;; i++) {
		i = pd_index_likely(x, i, tag);
		if (!x->tag[i])
			return PD_NO_NUMBER;
		if (same(things, x->number[i], key))
			return x->number[i];
	}
}

/* The next number, x->n, for a thing that is not there yet; `hash_of` tells the hashes of those that are. */
void pd_index_add(struct pd_index *x, uint64_t hash, pd_index_hash *hash_of, const void *things);
void pd_index_release(struct pd_index *x);

/* For many at a time: asks for the memory of this hash's slot. */
static inline void pd_index_expect(const struct pd_index *x, uint64_t hash)
{
	if (!x->cap)
		return;
	size_t i = pd_index_place(x, hash) & (x->cap - 1);
	pd_prefetch(&x->tag[i]);
	pd_prefetch(&x->number[i]);
}

/* … and then the number that stands there, or PD_NO_NUMBER: what it is the number of may be asked for next. */
static inline uint32_t pd_index_guess(const struct pd_index *x, uint64_t hash)
{
	uint64_t place = pd_index_place(x, hash);
	size_t i = x->cap ? pd_index_likely(x, place, pd_index_tag(place)) : 0;
	return x->cap && x->tag[i] ? x->number[i] : PD_NO_NUMBER;
}

/* --- strings by number --- */

#define PD_NO_NAME PD_NO_NUMBER

struct pd_names {
	struct pd_span *v;	/* by number */
	size_t n, cap;
	struct pd_index index;
	struct pd_arena arena;
};

uint32_t pd_names_add(struct pd_names *names, struct pd_span s);
/* PD_NO_NAME when it was never added. */
uint32_t pd_names_find(const struct pd_names *names, struct pd_span s);
void pd_names_release(struct pd_names *names);

#endif
