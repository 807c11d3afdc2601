/* SPDX-License-Identifier: MIT
 *
 * Keys in, groups out, by a hash table of groups with open addressing.  Rows are entered in their order, so the first
 * row of a group is the smallest, and nothing depends on the hash function.
 */
#include "match/equal.h"

#include <stdlib.h>

#define NO_GROUP UINT32_MAX
#define AHEAD 16

struct equal {
	const uint64_t *keys, *salt;
	int words;
	uint32_t *slots;	/* hash -> group */
	size_t mask;
};

static bool same(const struct equal *q, size_t i, size_t j)
{
	size_t w = (size_t)q->words;
	return memcmp(q->keys + i * w, q->keys + j * w, w * sizeof *q->keys) == 0 && (!q->salt || q->salt[i] == q->salt[j]);
}

static size_t hash_of(const struct equal *q, size_t i)
{
	size_t w = (size_t)q->words;
	return pd_hash64_seed(q->keys + i * w, w * sizeof *q->keys, q->salt ? q->salt[i] : 0);
}

/* The slot of row i's group, or the free one where it would be. */
static uint32_t *find(const struct equal *q, const struct pd_groups *g, size_t i, size_t at)
{
	for (;; at++) {
		uint32_t *slot = &q->slots[at & q->mask];
		if (*slot == NO_GROUP || same(q, g->first[*slot], i))
			return slot;
	}
}

static void enter_rows(struct equal *q, struct pd_groups *g)
{
	size_t hash[AHEAD] = { 0 };	/* slots lie anywhere in memory: they are sent for in time */
	for (size_t i = 0; i < AHEAD && i < g->n_rows; i++)
		hash[i] = hash_of(q, i);
	for (size_t i = 0; i < g->n_rows; i++) {
		uint32_t *slot = find(q, g, i, hash[i % AHEAD]);
		if (i + AHEAD < g->n_rows) {
			hash[i % AHEAD] = hash_of(q, i + AHEAD);
			__builtin_prefetch(&q->slots[hash[i % AHEAD] & q->mask]);
		}
		if (*slot == NO_GROUP) {
			*slot = (uint32_t)g->n_groups;
			g->first[g->n_groups++] = (uint32_t)i;
		}
		g->group[i] = *slot;
	}
}

/* Counting sort of the rows by group. */
void pd_groups_list(struct pd_groups *g)
{
	free(g->start);
	g->start = pd_zalloc((g->n_groups + 2) * sizeof *g->start);
	uint32_t *next = g->start + 1;
	for (size_t i = 0; i < g->n_rows; i++)
		next[g->group[i] + 1]++;
	for (size_t v = 1; v < g->n_groups; v++)
		next[v] += next[v - 1];
	for (size_t i = 0; i < g->n_rows; i++)
		g->rows[next[g->group[i]]++] = (uint32_t)i;
}

int pd_equal_groups(const uint64_t *keys, int words, const uint64_t *salt, size_t n, struct pd_groups *out,
		    struct pd_err *e)
{
	pd_groups_release(out);
	if (n >= UINT32_C(1) << 31)
		return pd_fail(e, PD_ERR_LIMIT, "%zu pages: at most 2,147,483,647 can be matched at once", n);
	struct equal q = { .keys = keys, .salt = salt, .words = words, .mask = 15 };
	while (q.mask < 2 * n)
		q.mask = 2 * q.mask + 1;
	q.slots = pd_alloc((q.mask + 1) * sizeof *q.slots);
	memset(q.slots, 0xff, (q.mask + 1) * sizeof *q.slots);
	out->n_rows = n;
	out->group = pd_alloc((n + 1) * sizeof *out->group);
	out->first = pd_alloc((n + 1) * sizeof *out->first);
	enter_rows(&q, out);
	free(q.slots);
	out->rows = pd_alloc((n + 1) * sizeof *out->rows);
	pd_groups_list(out);
	return PD_OK;
}

uint64_t *pd_groups_keys(const struct pd_groups *g, const uint64_t *keys, int words)
{
	size_t w = (size_t)words;
	uint64_t *v = pd_alloc((g->n_groups + 1) * w * sizeof *v);
	for (size_t i = 0; i < g->n_groups; i++)
		memcpy(v + i * w, keys + g->first[i] * w, w * sizeof *v);
	return v;
}

void pd_groups_release(struct pd_groups *g)
{
	free(g->group);
	free(g->first);
	free(g->start);
	free(g->rows);
	*g = (struct pd_groups){ 0 };
}
