/* SPDX-License-Identifier: MIT
 *
 * Find the pairs of rows by comparing all with all, by the rules of docs/format-rows.md, "pairs", and compare them
 * with the result of pd_match. Similarities are counted minimum by minimum, and groups of equal fingerprints row by
 * row.
 */
#ifndef FUZZ_BRUTE_H
#define FUZZ_BRUTE_H

#include "fuzz.h"
#include "match/bands.h"
#include "match/match.h"

enum { BRUTE_ROWS = 96, BRUTE_APART = 1000 };

struct brute {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	struct pd_rows_set sets[2];
	size_t set[BRUTE_ROWS];	     /* of each row: prints 0, digests 1, none 2 */
	size_t place[BRUTE_ROWS];    /* if it exists */
	bool looks;		     /* pairs are verified */
	uint32_t part[BRUTE_ROWS];   /* the first row of its part, where pairs are verified */
	uint32_t first[BRUTE_ROWS];  /* the first row equal to it in its scope */
	uint32_t across[BRUTE_ROWS]; /* the first on another host, or UINT32_MAX */
	bool found[BRUTE_ROWS][BRUTE_ROWS];
	uint32_t last_a, last_b;
	size_t n_found;
};

static inline int brute_distance(const struct brute *b, uint32_t x, uint32_t y)
{
	struct pd_key k[2] = { 0 };
	const struct pd_rows_set *s = &b->sets[b->set[x] & 1];
	if (b->set[x] != b->set[y] || b->set[x] == 2)
		return BRUTE_APART;
	memcpy(k[0].w, s->keys + b->place[x] * (size_t)s->words, (size_t)s->words * 8);
	memcpy(k[1].w, s->keys + b->place[y] * (size_t)s->words, (size_t)s->words * 8);
	int d = pd_hamming(&k[0], &k[1], s->words * 64);
	return b->set[x] == 0 ? d : d == 0 ? -1 : BRUTE_APART;
}

static inline bool brute_one_realm(const struct brute *b, uint32_t x, uint32_t y)
{
	return b->rows->realm && b->rows->realm[x] == b->rows->realm[y];
}

static inline uint64_t brute_minimum(const struct pd_sketch *s, int i, int bits)
{
	uint64_t value = 0;
	for (int j = 0; j < bits; j++)
		value |= (s->w[(i * bits + j) / 64] >> ((i * bits + j) % 64) & 1) << j;
	return value;
}

static inline double brute_similarity(const struct brute *b, uint32_t x, uint32_t y)
{
	const struct pd_sketch_options *o = &b->rows->sketch;
	struct pd_sketch s, t;
	double equal = 0;
	if (b->o->verify.off)
		return -1;
	if (b->set[x] == 1)
		return 1;
	if (!pd_rows_sketch(b->rows, x, &s) || !pd_rows_sketch(b->rows, y, &t))
		return -1;
	for (int i = 0; i < o->minima; i++)
		equal += brute_minimum(&s, i, o->bits) == brute_minimum(&t, i, o->bits);
	double chance = 1. / (1 << o->bits);
	return equal / o->minima > chance ? (equal / o->minima - chance) / (1 - chance) : 0;
}

/* The decision itself is match/verify.h's, asked for every two rows. */
static inline bool brute_verified(const struct brute *b, uint32_t x, uint32_t y, int distance, bool apart)
{
	struct pd_buf scratch[2] = { { 0 } };
	double s = brute_similarity(b, x, y);
	if (b->o->verify.off || (!b->looks && b->set[x] == 0))
		return true;
	if (s < 0)
		return distance <= b->o->verify.k_unknown;
	struct pd_row r, t;
	pd_rows_get(b->rows, x, &r);
	pd_rows_get(b->rows, y, &t);
	struct pd_facts f = pd_row_facts(&r, scratch), g = pd_row_facts(&t, scratch);
	enum pd_hosts hosts = apart ? PD_HOSTS_DIFFER : pd_hosts_compare(&f, &g);
	pd_buf_release(&scratch[0]);
	pd_buf_release(&scratch[1]);
	if (b->set[x] == 1)
		return pd_verify_equal_texts(&b->o->verify, &f, &g, hosts == PD_HOSTS_SAME) == PD_VERIFIED_YES;
	return pd_verify(&b->o->verify, s, distance, &f, &g, hosts) == PD_VERIFIED_YES;
}

static inline bool brute_share_band(const struct brute *b, uint32_t x, uint32_t y)
{
	const struct pd_sketch_options *o = &b->rows->sketch;
	struct pd_sketch s, t;
	if (!pd_rows_sketch(b->rows, x, &s) || !pd_rows_sketch(b->rows, y, &t))
		return false;
	for (int i = 0, run = 0; i < o->minima; i++) {
		if (i % b->o->band_width == 0)
			run = 0;
		run += brute_minimum(&s, i, o->bits) == brute_minimum(&t, i, o->bits);
		if (run == b->o->band_width)
			return true;
	}
	return false;
}

/* Number of rows from which bands are used. */
static inline size_t brute_banded(const struct brute *b)
{
	bool all = b->o->all_pairs || b->o->scope == PD_SCOPE_OTHER_HOSTS;
	struct pd_sketch s;
	size_t n = 0;
	for (uint32_t i = 0; i < b->rows->n; i++)
		n += b->set[i] == 0 && (all || b->part[i] == i) && pd_rows_sketch(b->rows, i, &s);
	return n;
}

/* Fingerprints of such a pair differ in few of their first bits. */
static inline bool brute_within_reach(const struct brute *b, uint32_t x, uint32_t y)
{
	const struct pd_sketch_options *o = &b->rows->sketch;
	int most = 64 / o->bits < o->minima ? 64 / o->bits : o->minima, width = b->o->band_width < most ? b->o->band_width : most;
	const uint64_t *keys = b->sets[0].keys;
	size_t words = (size_t)b->sets[0].words;
	return pd_bits_distance(keys + b->place[x] * words, keys + b->place[y] * words, 1) <=
	       pd_match_bands_reach(o, width, brute_banded(b));
}

/* If many rows share one band, only some of their pairs are listed (bands.h). */
static inline bool brute_may_crowd(const struct brute *b)
{
	return b->o->candidates != PD_CANDIDATES_HAMMING && !b->o->all_pairs && brute_banded(b) > 2 * PD_BANDS_PAIRS;
}

/* Are two rows with these different fingerprints candidates?  A row of a full bucket may be linked to a row that represents it,
 * also beyond reach. */
static inline bool brute_candidates(const struct brute *b, uint32_t x, uint32_t y, int distance)
{
	if (b->o->candidates != PD_CANDIDATES_BANDS && distance <= b->o->k)
		return true;
	return b->o->candidates != PD_CANDIDATES_HAMMING && !b->o->verify.off && distance < BRUTE_APART &&
	       brute_share_band(b, x, y) && (brute_may_crowd(b) || brute_within_reach(b, x, y));
}

/* Return the first row of x's group: of the first rows of earlier groups, the first that verifies with x. */
static inline uint32_t brute_part(const struct brute *b, uint32_t x)
{
	bool elsewhere = b->o->scope == PD_SCOPE_OTHER_HOSTS;
	int tried = 0;
	for (uint32_t y = 0; y < x && tried < PD_SUBGROUPS_TRIED; y++) {
		bool host = !pd_match_scope_inside(b->o->scope) || brute_one_realm(b, x, y);
		if (b->set[y] != b->set[x] || b->part[y] != y || brute_distance(b, x, y) > 0 || !host)
			continue;
		if (brute_verified(b, y, x, 0, elsewhere))
			return y;
		tried++;
	}
	return x;
}

static inline bool brute_alike(const struct brute *b, uint32_t x, uint32_t y)
{
	return brute_distance(b, x, y) <= 0 &&
	       (b->o->verify.off || (!b->looks && b->set[x] == 0) || b->o->all_pairs || b->part[x] == b->part[y]);
}

/* The first row equal to x: on another host, or one that x may be linked with. */
static inline uint32_t brute_first(const struct brute *b, uint32_t x, bool elsewhere)
{
	for (uint32_t y = 0; y < b->rows->n; y++) {
		bool host = elsewhere ? !brute_one_realm(b, x, y) : b->o->scope == PD_SCOPE_ALL || brute_one_realm(b, x, y);
		if (brute_alike(b, x, y) && host)
			return y;
	}
	return elsewhere ? UINT32_MAX : x;
}

static inline bool brute_wanted(const struct brute *b, uint32_t x, uint32_t y)
{
	int d = brute_distance(b, x, y);
	if (d > 0 && !brute_candidates(b, x, y, d))
		return false;
	if (b->o->scope != PD_SCOPE_ALL && brute_one_realm(b, x, y) != pd_match_scope_inside(b->o->scope))
		return false;
	if (!brute_verified(b, x, y, d, false))
		return false;
	if (b->o->all_pairs)
		return true;
	if (b->o->scope == PD_SCOPE_OTHER_HOSTS)
		return d > 0 || b->across[x] == y || b->across[y] == x;
	return b->first[x] == x && (d <= 0 ? b->first[y] == x : b->first[y] == y);
}

static inline void brute_pair(struct brute *b, const struct pd_match_pair *pair)
{
	uint32_t x = pair->a, y = pair->b;
	HOLDS(x < y && y < b->rows->n && pair->distance == brute_distance(b, x, y));
	HOLDS(pair->similarity == (b->looks || (b->set[x] == 1 && !b->o->verify.off) ? brute_similarity(b, x, y) : -1));
	HOLDS(!b->n_found || b->last_a < x || (b->last_a == x && b->last_b < y));
	b->found[x][y] = true;
	b->last_a = x;
	b->last_b = y;
	b->n_found++;
}

static inline void brute_format(void *formatter, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	pd_buf_add(out, pairs, n * sizeof *pairs);
}

static inline int brute_write(void *ctx, const struct pd_buf *out)
{
	for (size_t at = 0; at < out->n; at += sizeof(struct pd_match_pair)) {
		struct pd_match_pair pair;
		memcpy(&pair, out->p + at, sizeof pair);
		brute_pair(ctx, &pair);
	}
	return 0;
}

static inline void brute_place(struct brute *b)
{
	for (uint32_t i = 0; i < b->rows->n; i++)
		b->set[i] = 2;
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < b->sets[s].n; i++) {
			uint32_t row = pd_rows_set_row(&b->sets[s], (uint32_t)i);
			HOLDS(row < b->rows->n && (i == 0 || pd_rows_set_row(&b->sets[s], (uint32_t)i - 1) < row));
			b->set[row] = s;
			b->place[row] = i;
		}
	for (uint32_t i = 0; i < b->rows->n; i++)
		b->part[i] = brute_part(b, i);
	for (uint32_t i = 0; i < b->rows->n; i++) {
		b->first[i] = b->set[i] == 2 ? i : brute_first(b, i, false);
		b->across[i] = b->set[i] == 2 ? UINT32_MAX : brute_first(b, i, true);
	}
}

/* Read options from two bytes, within the limits of the rows. */
static inline struct pd_match_options brute_options(unsigned how, unsigned k, const struct pd_rows *rows)
{
	static const enum pd_index_plan_kind plans[] = { PD_PLAN_AUTO, PD_PLAN_PAPER, PD_PLAN_BLOCKS, PD_PLAN_ALL };
	struct pd_match_options o = { .plan = plans[how & 3],
				      .scope = (enum pd_match_scope)(how >> 2 & 3),
				      .threads = 1 + (how & 1) };
	o.all_pairs = how & 16;
	o.verify = (struct pd_verify_options){ .off = how & 32, .least = .4, .least_same_host = how & 64 ? .6 : .2 };
	o.k = (int)(k % (unsigned)(rows->bits / 4 + 1));
	if (o.plan == PD_PLAN_PAPER && o.k > 3)
		o.k &= 3;
	o.candidates = (enum pd_match_candidates)((k >> 6) % 3);
	o.band_width = 1 + (k >> 5 & 1) * 3;
	o.verify.k_unknown = how & 128 ? o.k : o.k / 2;
	return o;
}

/* Check that pd_match gives exactly the required pairs, each once, in order.  With an odd number of rows all arrays
 * are in files. */
static inline void brute_check(struct pd_rows *rows, const struct pd_match_options *o)
{
	struct pd_budget budget = { .limit = 1, .tmp_dir = "/dev/shm" }, *before = rows->budget;
	struct brute b = { .rows = rows, .o = o, .sets = { rows->fingerprints, rows->digests } };
	void *formatters[2] = { NULL };
	struct pd_match_sink sink = { .formatters = formatters, .format = brute_format, .write = brute_write, .ctx = &b };
	struct pd_match_stats stats;
	struct pd_err e = { 0 };
	if (rows->n > BRUTE_ROWS)
		return;
	b.looks = !o->verify.off && (rows->sketched || o->verify.k_unknown < o->k);
	brute_place(&b);
	if (rows->n % 2)
		rows->budget = &budget;
	HOLDS(pd_match(rows, o, &sink, &stats, &e) == PD_OK);
	HOLDS(budget.used == 0);
	rows->budget = before;
	HOLDS(stats.pairs == b.n_found);
	bool crowd = brute_may_crowd(&b);
	for (uint32_t x = 0; x < rows->n; x++)
		for (uint32_t y = x + 1; y < rows->n; y++)
			HOLDS(crowd ? b.found[x][y] <= brute_wanted(&b, x, y) : b.found[x][y] == brute_wanted(&b, x, y));
}

#endif
