/* SPDX-License-Identifier: MIT
 *
 * Rows -> their pairs, by comparing all with all and by the words of docs/format-rows.md, "pairs"; and what pd_match gives
 * held against them.
 */
#ifndef FUZZ_BRUTE_H
#define FUZZ_BRUTE_H

#include "fuzz.h"
#include "match/match.h"

enum { BRUTE_ROWS = 96, BRUTE_APART = 1000 };

struct brute {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	struct pd_row_set sets[2];
	size_t set[BRUTE_ROWS];				/* of each row: prints 0, digests 1, none 2 */
	size_t place[BRUTE_ROWS];			/* where it is there */
	uint32_t first[BRUTE_ROWS];			/* the first row equal to it in its scope */
	uint32_t across[BRUTE_ROWS];			/* the first on another host, or UINT32_MAX */
	bool found[BRUTE_ROWS][BRUTE_ROWS];
	uint32_t last_a, last_b;
	size_t n_found;
};

static inline int brute_distance(const struct brute *b, uint32_t x, uint32_t y)
{
	struct pd_key k[2] = { 0 };
	const struct pd_row_set *s = &b->sets[b->set[x] & 1];
	if (b->set[x] != b->set[y] || b->set[x] == 2)
		return BRUTE_APART;
	memcpy(k[0].w, s->keys + b->place[x] * (size_t)s->words, (size_t)s->words * 8);
	memcpy(k[1].w, s->keys + b->place[y] * (size_t)s->words, (size_t)s->words * 8);
	int d = pd_hamming(&k[0], &k[1], s->words * 64);
	return b->set[x] == 0 ? d : d == 0 ? -1 : BRUTE_APART;
}

static inline bool brute_same_host(const struct brute *b, uint32_t x, uint32_t y)
{
	return b->rows->host && b->rows->host[x] == b->rows->host[y];
}

/* The first row equal to x: on another host, or one that x may be linked with. */
static inline uint32_t brute_first(const struct brute *b, uint32_t x, bool elsewhere)
{
	for (uint32_t y = 0; y < b->rows->n; y++) {
		bool host = elsewhere ? !brute_same_host(b, x, y) : b->o->scope == PD_SCOPE_ALL || brute_same_host(b, x, y);
		if (brute_distance(b, x, y) <= 0 && host)
			return y;
	}
	return elsewhere ? UINT32_MAX : x;
}

static inline bool brute_wanted(const struct brute *b, uint32_t x, uint32_t y)
{
	int d = brute_distance(b, x, y);
	if (d > b->o->k && d != -1)
		return false;
	if (b->o->scope != PD_SCOPE_ALL && brute_same_host(b, x, y) != (b->o->scope == PD_SCOPE_SAME_HOST))
		return false;
	if (b->o->all_pairs)
		return true;
	if (b->o->scope == PD_SCOPE_OTHER_HOSTS)
		return d > 0 || b->across[x] == y || b->across[y] == x;
	return b->first[x] == x && (d <= 0 ? b->first[y] == x : b->first[y] == y);
}

static inline int brute_pair(void *ctx, const struct pd_match_pair *pair)
{
	struct brute *b = ctx;
	uint32_t x = pair->a, y = pair->b;
	HOLDS(x < y && y < b->rows->n && pair->distance == brute_distance(b, x, y));
	HOLDS(!b->n_found || b->last_a < x || (b->last_a == x && b->last_b < y));
	b->found[x][y] = true;
	b->last_a = x;
	b->last_b = y;
	b->n_found++;
	return 0;
}

static inline void brute_place(struct brute *b)
{
	for (uint32_t i = 0; i < b->rows->n; i++)
		b->set[i] = 2;
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < b->sets[s].n; i++) {
			HOLDS(b->sets[s].row[i] < b->rows->n && (i == 0 || b->sets[s].row[i - 1] < b->sets[s].row[i]));
			b->set[b->sets[s].row[i]] = s;
			b->place[b->sets[s].row[i]] = i;
		}
	for (uint32_t i = 0; i < b->rows->n; i++) {
		b->first[i] = b->set[i] == 2 ? i : brute_first(b, i, false);
		b->across[i] = b->set[i] == 2 ? UINT32_MAX : brute_first(b, i, true);
	}
}

/* Options out of two bytes, within what the rows allow. */
static inline struct pd_match_options brute_options(unsigned how, unsigned k, const struct pd_rows *rows)
{
	static const enum pd_plan_kind plans[] = { PD_PLAN_AUTO, PD_PLAN_PAPER, PD_PLAN_BLOCKS, PD_PLAN_ALL };
	struct pd_match_options o = { .plan = plans[how & 3], .scope = (enum pd_scope)((how >> 2 & 3) % 3), .threads = 1 };
	o.all_pairs = how & 16;
	o.verify.off = true;
	o.k = (int)(k % (unsigned)(rows->bits / 4 + 1));
	if (o.plan == PD_PLAN_PAPER && o.k > 3)
		o.k &= 3;
	return o;
}

/* Has pd_match given every pair that it must, once, in order, and no other? */
static inline void brute_check(const struct pd_rows *rows, const struct pd_match_options *o)
{
	struct brute b = { .rows = rows, .o = o, .sets = { rows->prints, rows->digests } };
	struct pd_match_stats stats;
	struct pd_err e = { 0 };
	if (rows->n > BRUTE_ROWS)
		return;
	brute_place(&b);
	HOLDS(pd_match(rows, o, brute_pair, &b, &stats, &e) == PD_OK);
	HOLDS(stats.pairs == b.n_found);
	for (uint32_t x = 0; x < rows->n; x++)
		for (uint32_t y = x + 1; y < rows->n; y++)
			HOLDS(b.found[x][y] == brute_wanted(&b, x, y));
}

#endif
