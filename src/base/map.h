/* SPDX-License-Identifier: MIT
 *
 * The hash tables of the program: open addressing with linear probing.
 *
 * A map keeps 64-bit keys, mostly hashes, each with a 32-bit value: as a map (a number, or an index into the
 * caller's array), as a set (the values are not read), or as a counter.  A slot has sixteen bytes, and at most half
 * of the slots are used.  Clearing takes constant time (a slot belongs to the round that wrote it), so that a map
 * can be reused page after page.  All zeroes is an empty map.
 *
 * A hashtab finds the numbers 0, 1, 2 … of the caller's objects by their hashes.  A slot has five bytes, and at most
 * three quarters of the slots are used.  The caller decides whether a number is the requested object, and returns
 * its hash when the table grows.  All zeroes is an empty table.
 *
 * Authors of pages choose most keys.  The slot of a key therefore also depends on a random number of each table, so
 * that no author knows keys that share their slots.  The order of the slots differs from run to run: no output may
 * depend on it.
 *
 * Names are strings with numbers 0, 1, 2 … in the order of their first addition; each string is stored once, until
 * `release`.
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
	size_t n, cap;	 /* keys; slots in use, a power of two */
	size_t room;	 /* slots there are */
	uint64_t secret; /* that the places of keys depend on */
	uint32_t round;	 /* number of used slots; from 1 */
};

/* Return a random odd number, a new one for each call.  If all tables shared one number, filling a small table with
 * the keys of a large one in the order of its slots would be slow. */
uint64_t pd_map_secret(void);

/* The key of a string: a hash with a secret of the process.  Use it if a table identifies strings only by their
 * hashes, or if a hashtab contains strings from pages: their authors can compute strings with equal hashes for any
 * function without a secret.  The value differs from process to process: do not store it. */
uint64_t pd_map_key(struct pd_span s);

/* Both halves of a product, folded. */
static inline uint64_t pd_map_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Position of a key, not yet reduced to the size of a table.  One product is not enough: the positions of keys with
 * equal distances then have almost equal distances, and with one secret in thirty they fill a few stretches of the
 * table. */
static inline uint64_t pd_map_place(uint64_t key, uint64_t secret)
{
	return pd_map_fold(pd_map_fold(key + secret, secret), UINT64_C(0x9E3779B97F4A7C15));
}

/* Remove all keys; reserve room for `n` keys, 0: keep the size.  Few keys use few slots, which remain in the
 * processor's cache, even after a page with many keys.  A map that was enlarged by one huge page frees its memory. */
void pd_map_clear(struct pd_map *m, size_t n);
void pd_map_release(struct pd_map *m);
/* Double the slots; called by the functions that add. */
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

/* The value of the key, initially 0. The pointer is valid until the next addition. */
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

struct pd_hashtab {
	uint32_t *number;
	uint8_t *tag; /* for each slot: bits of the position, so that few other objects are examined; 0: free */
	size_t n, cap;
	uint64_t secret; /* that the places of hashes depend on */
};

typedef uint64_t pd_hashtab_hash(const void *things, uint32_t number);
typedef bool pd_hashtab_same(const void *things, uint32_t number, const void *key);

static inline uint64_t pd_hashtab_place(const struct pd_hashtab *x, uint64_t hash)
{
	return pd_map_place(hash, x->secret);
}

static inline uint8_t pd_hashtab_tag(uint64_t place)
{
	return (uint8_t)(place >> 56 | 1);
}

/* From slot `i` on the first that is free or has this tag. */
static inline size_t pd_hashtab_likely(const struct pd_hashtab *x, size_t i, uint8_t tag)
{
	for (i &= x->cap - 1; x->tag[i] && x->tag[i] != tag;)
		i = (i + 1) & (x->cap - 1);
	return i;
}

/* Return the number of the object that `same` accepts for `key`, or PD_NO_NUMBER.  Inline, so that `same` costs no
 * call. */
static inline __attribute__((always_inline)) uint32_t pd_hashtab_find(const struct pd_hashtab *x, uint64_t hash,
								      pd_hashtab_same *same, const void *things, const void *key)
{
	if (!x->n)
		return PD_NO_NUMBER;
	uint64_t place = pd_hashtab_place(x, hash);
	uint8_t tag = pd_hashtab_tag(place);
	for (size_t i = place;; i++) {
		i = pd_hashtab_likely(x, i, tag);
		if (!x->tag[i])
			return PD_NO_NUMBER;
		if (same(things, x->number[i], key))
			return x->number[i];
	}
}

/* Add the next number, x->n, for a new object; `hash_of` returns the hashes of the existing ones. */
void pd_hashtab_add(struct pd_hashtab *x, uint64_t hash, pd_hashtab_hash *hash_of, const void *things);
void pd_hashtab_release(struct pd_hashtab *x);

/* For many searches at a time: prefetch the slot of this hash. */
static inline void pd_hashtab_expect(const struct pd_hashtab *x, uint64_t hash)
{
	if (!x->cap)
		return;
	size_t i = pd_hashtab_place(x, hash) & (x->cap - 1);
	pd_prefetch(&x->tag[i]);
	pd_prefetch(&x->number[i]);
}

/* … and then return its number, or PD_NO_NUMBER, so that the caller can prefetch the object. */
static inline uint32_t pd_hashtab_guess(const struct pd_hashtab *x, uint64_t hash)
{
	uint64_t place = pd_hashtab_place(x, hash);
	size_t i = x->cap ? pd_hashtab_likely(x, place, pd_hashtab_tag(place)) : 0;
	return x->cap && x->tag[i] ? x->number[i] : PD_NO_NUMBER;
}

/* --- strings by number --- */

#define PD_NO_NAME PD_NO_NUMBER

struct pd_names {
	struct pd_span *v; /* by number */
	size_t n, cap;
	struct pd_hashtab index;
	struct pd_arena arena;
};

uint32_t pd_names_add(struct pd_names *names, struct pd_span s);
/* PD_NO_NAME when it was never added. */
uint32_t pd_names_find(const struct pd_names *names, struct pd_span s);
void pd_names_release(struct pd_names *names);

#endif
