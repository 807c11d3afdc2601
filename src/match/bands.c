/* SPDX-License-Identifier: MIT */
#include "match/bands.h"

#include <math.h>
#include <stdlib.h>

#include "base/threads.h"
#include "join/bits.h"

#define CHANCE_COMPARISONS 128
#define NONE UINT32_MAX

/* The sketches of the rows that take part, and which members those are. */
struct sketches {
	struct pd_sketch_options options;
	uint64_t *v;
	uint32_t *member;
	size_t n, words;
	struct pd_array memory[2];
};

struct search {
	const struct sketches *s;
	int width;
	int least;			/* minima that must agree */
	const struct pd_rows_set *set;
	struct pd_verifier *verifiers;	/* one of each for each thread */
	struct pd_items *lists;
};

/* A band is at most 64 bits, and at most the sketch. */
static int width_max(const struct pd_sketch_options *o)
{
	return 64 / o->bits < o->minima ? 64 / o->bits : o->minima;
}

int pd_match_bands_width(const struct pd_sketch_options *o, size_t n)
{
	int r = 1;
	while (r < width_max(o) && n / 2. * (o->minima / r) * ldexp(1, -r * o->bits) > CHANCE_COMPARISONS)
		r++;
	return r;
}

/* The band's minima as one number; they may lie in two words. */
static uint64_t band_of(const struct search *s, size_t i, size_t band)
{
	int bits = s->width * s->s->options.bits;
	return pd_bits_get(s->s->v + i * s->s->words, (int)band * bits, bits);
}

static bool is_shared_before(const struct search *s, size_t i, size_t j, size_t band)
{
	for (size_t t = 0; t < band; t++)
		if (band_of(s, i, t) == band_of(s, j, t))
			return true;
	return false;
}

static bool is_alike(const struct search *s, size_t i, size_t j)
{
	return pd_sketch_agreeing(&s->s->options, s->s->v + i * s->s->words, s->s->v + j * s->s->words) >= s->least;
}

/* All with all, in the first band that they share. */
static void compare_run(const struct search *s, const struct pd_item *run, size_t n, size_t band, struct pd_items *out)
{
	for (size_t x = 0; x < n; x++)
		for (size_t y = x + 1; y < n; y++)
			if (is_alike(s, run[x].value, run[y].value) && !is_shared_before(s, run[x].value, run[y].value, band))
				pd_items_add_pair(out, run[x].value, run[y].value, 0);
}

/* The leader stands for the row: is it verified with it? */
static bool may_follow(const struct search *s, uint32_t row, uint32_t leader, int thread)
{
	double similarity;
	return is_alike(s, leader, row) && pd_verify_rows(&s->verifiers[thread], pd_rows_set_row(s->set, s->s->member[leader]),
							  pd_rows_set_row(s->set, s->s->member[row]), 0, &similarity);
}

static void compare_long_run(const struct search *s, const struct pd_item *run, size_t n, int thread)
{
	uint32_t leaders[PD_BANDS_LEADERS];
	int n_leaders = 0, at;
	for (size_t x = 0; x < n; x++) {
		for (at = 0; at < n_leaders && !may_follow(s, run[x].value, leaders[at], thread); at++)
			;
		if (at < n_leaders)
			pd_items_add_pair(&s->lists[thread], leaders[at], run[x].value, PD_BANDS_LINKED);
		else if (n_leaders < PD_BANDS_LEADERS)
			leaders[n_leaders++] = run[x].value;
	}
}

/* Sorting is stable, so a run is in the order of the rows. */
static void search_band(void *ctx, size_t band, int thread)
{
	const struct search *s = ctx;
	size_t n = s->s->n;
	struct pd_items table = { .v = pd_alloc(n * sizeof *table.v), .n = n, .cap = n };
	for (size_t i = 0; i < n; i++)
		table.v[i] = (struct pd_item){ band_of(s, i, band), (uint32_t)i };
	pd_items_sort(&table);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && table.v[to].key == table.v[from].key; to++)
			;
		if (to - from > PD_BANDS_RUN)
			compare_long_run(s, table.v + from, to - from, thread);
		else
			compare_run(s, table.v + from, to - from, band, &s->lists[thread]);
	}
	pd_items_release(&table);
}

/* The fewest minima with which a pair may be verified, on one host or on two. */
static int least_agreeing(const struct pd_sketch_options *o, const struct pd_verify_options *verify)
{
	int n = 0;
	while (n <= o->minima && !pd_verify_maybe(verify, pd_sketch_estimate(o, n), 0))
		n++;
	return n;
}

static bool takes_part(const struct pd_match_links *l, uint32_t member)
{
	return l->all_pairs || l->side || l->scope == PD_SCOPE_OTHER_HOSTS || pd_match_groups_name(&l->groups, member) == member;
}

static void gather(struct sketches *s, const struct pd_match_set *m, const uint8_t *only)
{
	const struct pd_rows *rows = m->rows;
	const struct pd_rows_set *set = m->set;
	const struct pd_match_groups *prints = pd_match_set_prints(m);
	size_t n = 0;
	s->options = rows->sketch;
	s->words = (size_t)pd_sketch_words(&rows->sketch);
	for (uint32_t i = 0; i < set->n; i++)
		n += takes_part(&m->links, i) && (!only || only[pd_match_groups_name(prints, i)]);
	s->v = pd_array_room(&s->memory[0], rows->budget, (n + 1) * s->words * sizeof *s->v);
	s->member = pd_array_room(&s->memory[1], rows->budget, (n + 1) * sizeof *s->member);
	for (uint32_t i = 0; i < set->n; i++) {
		struct pd_sketch sketch;
		if (!takes_part(&m->links, i) || (only && !only[pd_match_groups_name(prints, i)]) || !pd_rows_sketch(rows, pd_rows_set_row(set, i), &sketch))
			continue;
		memcpy(s->v + s->n * s->words, sketch.w, s->words * sizeof *s->v);
		s->member[s->n++] = i;
	}
}

/* Long runs name a pair once in each band.  A row keeps one link, to the first row that stands for it, unless that one is
 * linked itself: what is linked is one, and must not become a chain.  Other links are pairs like any. */
static void settle_links(struct pd_items *pairs, size_t n_sketches, bool may_link)
{
	uint32_t *first = pd_alloc((n_sketches + 1) * sizeof *first);
	size_t n = 0;
	memset(first, 0xff, (n_sketches + 1) * sizeof *first);
	for (size_t i = 0; i < pairs->n; i++) {
		const struct pd_item *p = &pairs->v[i];
		uint32_t a = (uint32_t)(p->key >> 32), b = (uint32_t)p->key;
		if (p->value && first[b] == NONE)
			first[b] = a;
		if (n && pairs->v[n - 1].key == p->key)
			pairs->v[n - 1].value |= p->value;
		else
			pairs->v[n++] = *p;
	}
	pairs->n = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t a = (uint32_t)(pairs->v[i].key >> 32), b = (uint32_t)pairs->v[i].key;
		if (!may_link || first[b] != a || first[a] != NONE)
			pairs->v[i].value = 0;
	}
	free(first);
}

int pd_match_bands_find(struct pd_match_bands *bands, const struct pd_match_set *m, const uint8_t *only, struct pd_err *e)
{
	const struct pd_match_options *o = m->o;
	const struct pd_rows *rows = m->rows;
	struct sketches s = { .n = 0 };
	bands->most_distance = only ? o->k : rows->bits;
	if (!rows->sketched || o->verify.off)
		return PD_OK;
	gather(&s, m, only);
	int most = width_max(&s.options);
	bands->width = !o->band_width ? pd_match_bands_width(&s.options, s.n) : o->band_width < most ? o->band_width : most;
	/* A thread sorts one band of all sketches at a time, with a copy. */
	size_t threads = pd_budget_left(rows->budget) / 2 / (2 * sizeof(struct pd_item) * (s.n + 1));
	threads = threads < (size_t)o->threads ? threads : (size_t)o->threads;
	threads = threads > 1 ? threads : 1;
	struct search search = { .s = &s, .width = bands->width, .least = least_agreeing(&s.options, &o->verify), .set = m->set,
				 .verifiers = pd_zalloc(threads * sizeof *search.verifiers),
				 .lists = pd_items_lists((int)threads, rows->budget) };
	for (size_t i = 0; i < threads; i++)
		search.verifiers[i] = pd_match_verifier(o, rows);
	pd_parallel((int)threads, (size_t)(s.options.minima / bands->width), search_band, &search);
	int status = pd_items_gather(search.lists, (int)threads, (int)threads, &bands->pairs, e);
	settle_links(&bands->pairs, s.n, o->scope == PD_SCOPE_ALL && !o->all_pairs && !rows->side);
	for (size_t i = 0; i < bands->pairs.n; i++) {
		uint64_t *key = &bands->pairs.v[i].key;
		*key = (uint64_t)s.member[*key >> 32] << 32 | s.member[(uint32_t)*key];
	}
	for (size_t i = 0; i < threads; i++)
		pd_verifier_release(&search.verifiers[i]);
	free(search.verifiers);
	pd_array_release(&s.memory[0]);
	pd_array_release(&s.memory[1]);
	return status;
}

void pd_match_bands_release(struct pd_match_bands *bands)
{
	pd_items_release(&bands->pairs);
}

static bool is_in_scope(const struct pd_match_links *l, uint32_t a, uint32_t b)
{
	/* One of each side. */
	if (l->side && (l->side[pd_rows_set_row(l->set, a)] | l->side[pd_rows_set_row(l->set, b)]) != (PD_SIDE_A | PD_SIDE_B))
		return false;
	return l->scope == PD_SCOPE_ALL || (l->host[a] == l->host[b]) == pd_match_scope_inside(l->scope);
}

size_t pd_match_bands_add(const struct pd_match_bands *bands, size_t at, const struct pd_match_set *m, struct pd_match_partners *out)
{
	const struct pd_match_links *links = &m->links;
	const struct pd_rows_set *set = m->set;
	const struct pd_item *v = bands->pairs.v;
	uint32_t a = (uint32_t)(v[at].key >> 32);
	size_t words = (size_t)set->words;
	bool linked = links->scope != PD_SCOPE_OTHER_HOSTS && !links->all_pairs && !links->side;
	for (; at < bands->pairs.n && v[at].key >> 32 == a; at++) {
		uint32_t b = (uint32_t)v[at].key;
		int distance = pd_bits_distance(set->keys + a * words, set->keys + b * words, (int)words);
		/* Equal fingerprints are linked, or not, where they are grouped; but of many parts not all were compared. */
		if ((!distance && !linked) || distance > bands->most_distance || !is_in_scope(links, a, b))
			continue;
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
		out->v[out->n++] = (struct pd_match_partner){ .member = b, .distance = distance, .linked = v[at].value == PD_BANDS_LINKED };
	}
	return at;
}
