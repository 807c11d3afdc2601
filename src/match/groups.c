/* SPDX-License-Identifier: MIT
 *
 * A hash table of all rows would miss the cache at every step, so rows are dealt into parts by the high bits of a hash, as
 * (low half of the hash, row); then each part is small enough for a table that stays in the cache.  Keys themselves are
 * compared only where those halves are equal.  Rows stay in their order within a part, so the first of a group is the
 * smallest, and nothing depends on the hash function or the threads.  Where memory is short, parts are dealt in several
 * rounds.
 */
#include "match/groups.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/threads.h"

static size_t n_words(const struct pd_match_groups *g)
{
	return (g->n_rows + 63) / 64;
}

static void set_multi(struct pd_match_groups *g, uint32_t row)
{
	g->is_multi[row / 64] |= UINT64_C(1) << (row % 64);
}

/* Rows of multi-member groups before `row`. */
static size_t rank_of(const struct pd_match_groups *g, uint32_t row)
{
	size_t word = row / 64, at = word / PD_GROUPS_RANKED, n = g->rank[at];
	for (size_t i = at * PD_GROUPS_RANKED; i < word; i++)
		n += (size_t)__builtin_popcountll(g->is_multi[i]);
	return n + (size_t)__builtin_popcountll(g->is_multi[word] & ((UINT64_C(1) << (row % 64)) - 1));
}

static size_t count_multi(const struct pd_items *followers)
{
	size_t n = 0;
	for (size_t i = 0; i < followers->n; i++)
		n += !i || followers->v[i].key >> 32 != followers->v[i - 1].key >> 32;
	return n;
}

static void list_multi(struct pd_match_groups *g, const struct pd_items *followers)
{
	uint32_t n = 0, multi = 0;
	for (size_t i = 0; i < followers->n; i++) {
		uint32_t first = (uint32_t)(followers->v[i].key >> 32);
		if (!i || first != followers->v[i - 1].key >> 32) {
			g->start[multi++] = n;
			set_multi(g, first);
			g->rows[n++] = first;
		}
		g->rows[n] = (uint32_t)followers->v[i].key;
		set_multi(g, g->rows[n++]);
	}
	g->start[multi] = n;
}

static void rank_rows(struct pd_match_groups *g)
{
	uint32_t n = 0;
	for (size_t i = 0; i < n_words(g); i++) {
		if (i % PD_GROUPS_RANKED == 0)
			g->rank[i / PD_GROUPS_RANKED] = n;
		n += (uint32_t)__builtin_popcountll(g->is_multi[i]);
	}
	for (size_t c = 0; c < g->n_multi; c++)
		for (uint32_t i = g->start[c]; i < g->start[c + 1]; i++)
			g->multi[rank_of(g, g->rows[i])] = (uint32_t)c;
}

void pd_match_groups_make(struct pd_match_groups *g, size_t n_rows, const struct pd_items *followers, struct pd_budget *budget)
{
	pd_match_groups_release(g);
	g->n_rows = n_rows;
	g->n_groups = n_rows - followers->n;
	g->n_multi = count_multi(followers);
	if (!g->n_multi)
		return;
	size_t n = followers->n + g->n_multi;
	g->start = pd_array_room(&g->memory[0], budget, (g->n_multi + 1) * sizeof *g->start);
	g->rows = pd_array_room(&g->memory[1], budget, n * sizeof *g->rows);
	g->multi = pd_array_room(&g->memory[2], budget, n * sizeof *g->multi);
	g->is_multi = pd_zalloc(n_words(g) * sizeof *g->is_multi);
	g->rank = pd_alloc((n_words(g) / PD_GROUPS_RANKED + 1) * sizeof *g->rank);
	list_multi(g, followers);
	rank_rows(g);
}

uint32_t pd_match_groups_multi(const struct pd_match_groups *g, uint32_t row)
{
	return g->multi[rank_of(g, row)];
}

uint32_t pd_match_groups_next(const struct pd_match_groups *g, uint32_t row)
{
	if (!g->n_multi || row >= g->n_rows)
		return UINT32_MAX;
	size_t word = row / 64;
	uint64_t bits = g->is_multi[word] & (~UINT64_C(0) << (row % 64));
	while (!bits && ++word < n_words(g))
		bits = g->is_multi[word];
	return bits ? (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
}

uint32_t *pd_match_groups_names(const struct pd_match_groups *g, struct pd_array *out, struct pd_budget *budget)
{
	if (!g->n_multi)
		return NULL;
	uint32_t *names = pd_array_room(out, budget, g->n_groups * sizeof *names);
	size_t n = 0;
	for (size_t row = 0; row < g->n_rows; row++)
		if (pd_match_groups_name(g, (uint32_t)row) == row)
			names[n++] = (uint32_t)row;
	return names;
}

void pd_match_groups_release(struct pd_match_groups *g)
{
	for (int i = 0; i < 3; i++)
		pd_array_release(&g->memory[i]);
	free(g->is_multi);
	free(g->rank);
	*g = (struct pd_match_groups){ 0 };
}

#define PART_ROWS 4096		/* in a part, on average, */
#define PART_BITS_MAX 12	/* unless there would be too many places to write to at once */
#define FREE UINT64_MAX
#define INLINE static inline __attribute__((always_inline))

/* The slots that a thread uses for one part after the other. */
struct part_table {
	uint64_t *v;
	size_t cap, mask;
};

struct equal {
	const uint64_t *keys;
	int words, part_bits;
	size_t n;
	struct pd_radix radix;		/* stretches of the rows, parts by the high bits of the hash */
	size_t from, to;		/* the parts of this round */
	uint64_t *dealt;		/* their rows, (half of the hash, row), by parts */
	size_t cap_dealt;
	struct part_table *tables;	/* one of each for each thread */
	struct pd_items *followers;
};

/* The finalizer of splitmix64 (S. Vigna, public domain), word after word. */
INLINE uint64_t hash_of(const uint64_t *key, int words)
{
	uint64_t h = 0;
	for (int w = 0; w < words; w++) {
		h ^= key[w];
		h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
		h ^= h >> 31;
	}
	return h;
}

INLINE void count(const struct equal *q, size_t stretch, int words)
{
	size_t *next = pd_radix_next(&q->radix, stretch), all = q->radix.n_stretches, to = q->n * (stretch + 1) / all;
	for (size_t i = q->n * stretch / all; i < to; i++)
		next[hash_of(q->keys + i * (size_t)words, words) >> 32 >> (32 - q->part_bits)]++;
}

INLINE void deal(const struct equal *q, size_t stretch, int words)
{
	size_t *next = pd_radix_next(&q->radix, stretch), all = q->radix.n_stretches, to = q->n * (stretch + 1) / all;
	uint64_t *dealt = q->dealt;
	const size_t first = q->from, parts = q->to - q->from, base = q->radix.part[q->from];
	for (size_t i = q->n * stretch / all; i < to; i++) {
		uint64_t h = hash_of(q->keys + i * (size_t)words, words);
		size_t p = h >> 32 >> (32 - q->part_bits);
		if (p - first < parts)
			dealt[next[p]++ - base] = h << 32 | i;
	}
}

/* A task for each width, so that the loops know it. */
#define DEFINE_TASK(name) \
	static void name##_task(void *ctx, size_t i, int thread) \
	{ \
		const struct equal *q = ctx; \
		(void)thread; \
		if (q->words == 1) \
			name(q, i, 1); \
		else if (q->words == 2) \
			name(q, i, 2); \
		else \
			name(q, i, q->words); \
	}
DEFINE_TASK(count)
DEFINE_TASK(deal)

static bool has_same_key(const struct equal *q, uint32_t x, uint32_t y)
{
	size_t w = (size_t)q->words;
	return memcmp(q->keys + x * w, q->keys + y * w, w * sizeof *q->keys) == 0;
}

/* Eight bytes for a row, the high bits of its hash and its number: half of a slot of base/map.h, and emptied part by part. */
static void clear_table(struct part_table *t, size_t n)
{
	for (t->mask = 15; t->mask < 2 * n; t->mask = 2 * t->mask + 1)
		;
	t->v = pd_big_at_least(t->v, t->mask + 1, &t->cap, sizeof *t->v);
	memset(t->v, 0xff, (t->mask + 1) * sizeof *t->v);
}

/* Enters one row, or names it as a follower of the first that is equal. */
static void enter_row(const struct equal *q, const struct part_table *t, uint64_t row, struct pd_items *followers)
{
	for (size_t at = row >> 32;; at++) {
		uint64_t *slot = &t->v[at & t->mask];
		if (*slot == FREE) {
			*slot = row;
			return;
		}
		if (*slot >> 32 == row >> 32 && has_same_key(q, (uint32_t)*slot, (uint32_t)row)) {
			pd_items_add(followers, *slot << 32 | (uint32_t)row, 0);
			return;
		}
	}
}

static void part_task(void *ctx, size_t i, int thread)
{
	const struct equal *q = ctx;
	struct part_table *t = &q->tables[thread];
	size_t p = q->from + i, at = q->radix.part[p] - q->radix.part[q->from], n = q->radix.part[p + 1] - q->radix.part[p];
	clear_table(t, n);
	for (size_t j = at; j < at + n; j++)
		enter_row(q, t, q->dealt[j], &q->followers[thread]);
}

/* As many parts, one at least, as `room` bytes hold. */
static void run_rounds(struct equal *q, int threads, size_t room)
{
	const size_t *part = q->radix.part;
	for (q->from = 0; q->from < q->radix.n_parts; q->from = q->to) {
		q->to = q->from + 1;
		while (q->to < q->radix.n_parts && (part[q->to + 1] - part[q->from]) * sizeof *q->dealt <= room)
			q->to++;
		q->dealt = pd_big_at_least(q->dealt, part[q->to] - part[q->from] + 1, &q->cap_dealt, sizeof *q->dealt);
		pd_parallel(threads, (size_t)threads, deal_task, q);
		pd_parallel(threads, q->to - q->from, part_task, q);
	}
}

static void find_followers(struct equal *q, int threads, size_t room)
{
	pd_radix_init(&q->radix, (size_t)threads, (size_t)1 << q->part_bits);
	q->tables = pd_zalloc((size_t)threads * sizeof *q->tables);
	pd_parallel(threads, (size_t)threads, count_task, q);
	pd_radix_sum(&q->radix);
	run_rounds(q, threads, room);
	for (int i = 0; i < threads; i++)
		free(q->tables[i].v);
	free(q->tables);
	free(q->dealt);
	pd_radix_release(&q->radix);
}

int pd_match_groups_find(const uint64_t *keys, int words, size_t n, int threads, struct pd_budget *budget, struct pd_match_groups *out,
		    struct pd_err *e)
{
	pd_match_groups_release(out);
	if (n >= UINT32_C(1) << 31)
		return pd_fail(e, PD_ERR_LIMIT, "%zu pages: at most 2,147,483,647 can be matched at once", n);
	threads = threads > 1 ? threads : 1;
	struct equal q = { .keys = keys, .words = words, .n = n };
	struct pd_items all;
	while (q.part_bits < PART_BITS_MAX && n >> q.part_bits > PART_ROWS)
		q.part_bits++;
	q.followers = pd_items_lists(threads, budget);
	find_followers(&q, threads, pd_budget_left(budget) / 3);
	int status = pd_items_gather(q.followers, threads, threads, &all, e);
	if (!status)
		pd_match_groups_make(out, n, &all, budget);
	pd_items_release(&all);
	return status ? status : pd_budget_check(budget, e);
}
