/* SPDX-License-Identifier: MIT
 *
 * Some bands at a time, so that sketches are read seldom, each band in the manner of groups.c: rows are dealt into parts by
 * the first bits of the band's value, and a part, small enough for the cache, into buckets, whose fingerprints then lie side
 * by side.  Where memory is short, parts are dealt in several rounds.
 */
#include "match/bands.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/threads.h"
#include "join/bits.h"
#include "join/plan.h"

#define NONE UINT32_MAX
#define CACHE_LINE 64
#define AHEAD 16		/* pairs whose sketches are asked for before they are needed */
#define WAITING 4096		/* pairs of several buckets, of which few have many */
#define AT_ONCE 4		/* bands whose values are taken in one pass over the sketches */
#define PART_ROWS_BITS 15	/* a part has about so many rows, */
#define PART_BITS_MAX 12	/* unless there would be too many parts to write to at once */
#define PIECE 256		/* rows of a bucket that are held against the others at a time */

/* The rows that take part. */
struct taking {
	struct pd_sketch_options options;
	uint64_t *sketch;		/* `words` each */
	uint32_t *member;
	size_t n, words;
	struct pd_array memory[2];
};

/* A row as it is dealt. */
struct dealt {
	uint64_t print;			/* the first 64 bits of its fingerprint */
	uint32_t value, row;
};

/* A row of a bucket, as it stands among the others by the minima after the band. */
struct adjacent {
	uint64_t host, minima, print;
	uint32_t row;
};

/* Two rows that one cluster has: one stands for the other, or a third row is like both. */
struct joined {
	uint32_t a, b;
};

/* What a thread needs. */
struct worker {
	struct pd_verifier verifier;
	struct pd_join_columns columns;	/* the fingerprints of a part, by buckets */
	uint32_t *row;			/* theirs */
	uint32_t *begin;		/* of each bucket, and the end */
	uint8_t *leader;		/* in a full bucket: which leader each follows, or FREE */
	uint64_t *spare_prints;
	uint32_t *spare_rows;
	struct adjacent *neighbours;
	struct joined *joined;		/* in this band */
	size_t n_joined, cap_joined;
	size_t cap_prints, cap_rows, cap_begin, cap_leaders, cap_spare_prints, cap_spare_rows, cap_neighbours;
	struct pd_join_hits hits;
	struct joined waiting[WAITING];	/* rows that meet in a bucket and are within reach */
	size_t n_waiting;
	uint64_t compared;
};

struct search {
	const struct taking *t;
	const struct pd_match_set *m;
	int width, reach, least;	/* minima that must agree */
	double chance;			/* that two fingerprints are within reach */
	uint64_t *full;		/* a bit for each bucket of each band, once that was searched */
	struct pd_match_share *share;	/* NULL: there are no other rows */
	uint8_t *covered;		/* by row: 1 once it follows a leader */
	uint32_t *parent;		/* by row: of those joined in earlier bands the first, or one on the way to it; NULL: not asked */
	uint32_t *last;			/* by row: the last one after it that was found like it as a neighbour, or NONE */
	size_t most_compared;			/* sketches that a row is held against in a bucket that holds little but rows like it */
	int part_bits, bucket_bits;	/* the first ones of the value; the bucket's begin with the part's */
	struct pd_join_scan_loops scan;
	size_t n_stretches;		/* of the rows */
	size_t first_band, n_bands;	/* at work */
	uint32_t *value[AT_ONCE];	/* the first 32 bits of the bands' values, by row */
	struct pd_radix radix[AT_ONCE];
	size_t band, from, to;		/* of them the one at work, and the parts of this round */
	struct dealt *dealt;
	size_t cap_dealt;
	struct worker *workers;		/* one of each for each thread */
	struct pd_items *lists;
};

/* --- how wide, how near --- */

/* A band is at most 64 bits, and at most the sketch. */
static int width_max(const struct pd_sketch_options *o)
{
	return 64 / o->bits < o->minima ? 64 / o->bits : o->minima;
}

static double meetings(const struct pd_sketch_options *o, int r, size_t n)
{
	return (double)n / 2 * (o->minima / r) * ldexp(1, -r * o->bits);
}

/* The narrowest band at which a page meets at most PD_BANDS_MEETINGS others by chance. */
static int width_of(const struct pd_sketch_options *o, size_t n)
{
	int r = 1;
	while (r < width_max(o) && meetings(o, r, n) > PD_BANDS_MEETINGS)
		r++;
	return r;
}

int pd_match_bands_width(const struct pd_sketch_options *o, int asked, size_t n)
{
	int widest = width_max(o);
	return !asked ? width_of(o, n) : asked < widest ? asked : widest;
}

int pd_match_bands_reach(const struct pd_sketch_options *o, int width, size_t n)
{
	int reach = 24;
	while (reach > 0 && meetings(o, width, n) * pd_join_chance(64, reach) > PD_BANDS_CHANCE)
		reach--;
	return reach;
}

int pd_match_bands_least(const struct pd_sketch_options *o, const struct pd_verify_options *verify)
{
	int n = 0;
	while (n <= o->minima && !pd_verify_maybe(verify, pd_sketch_estimate(o, n), 0))
		n++;
	return n;
}

/* --- who takes part --- */

static bool is_taking_part(const struct pd_match_set *m, const uint8_t *only, uint32_t member)
{
	const struct pd_match_links *l = &m->links;
	bool all = l->all_pairs || l->side || l->scope == PD_SCOPE_OTHER_HOSTS || pd_match_groups_name(&l->groups, member) == member;
	return all && (!only || only[pd_match_groups_name(pd_match_set_prints(m), member)]);
}

static void gather_rows(struct taking *t, const struct pd_match_set *m, const uint8_t *only)
{
	const struct pd_rows *rows = m->rows;
	struct pd_sketch sketch;
	size_t n = 0;
	t->options = rows->sketch;
	t->words = (size_t)pd_sketch_words(&rows->sketch);
	for (uint32_t i = 0; i < m->set->n; i++)
		n += is_taking_part(m, only, i);
	/* A sketch of the default kind is a line of the cache, where it begins with one. */
	char *room = pd_array_room(&t->memory[0], rows->budget, (n + 1) * t->words * sizeof *t->sketch + CACHE_LINE);
	t->sketch = (uint64_t *)(void *)(room + (CACHE_LINE - (uintptr_t)room % CACHE_LINE) % CACHE_LINE);
	t->member = pd_array_room(&t->memory[1], rows->budget, (n + 1) * sizeof *t->member);
	for (uint32_t i = 0; i < m->set->n; i++) {
		if (!is_taking_part(m, only, i) || !pd_rows_sketch(rows, pd_rows_set_row(m->set, i), &sketch))
			continue;
		memcpy(t->sketch + t->n * t->words, sketch.w, t->words * sizeof *t->sketch);
		t->member[t->n++] = i;
	}
}

static bool is_in_scope(const struct pd_match_links *l, uint32_t a, uint32_t b)
{
	/* One of each side. */
	if (l->side && (l->side[pd_rows_set_row(l->set, a)] | l->side[pd_rows_set_row(l->set, b)]) != (PD_SIDE_A | PD_SIDE_B))
		return false;
	return l->scope == PD_SCOPE_ALL || (l->host[a] == l->host[b]) == pd_match_scope_inside(l->scope);
}

/* --- a pair --- */

/* The band's minima as one number; they may lie in two words. */
static uint64_t band_of(const struct search *s, size_t i, size_t band)
{
	int bits = s->width * s->t->options.bits;
	return pd_bits_get(s->t->sketch + i * s->t->words, (int)band * bits, bits);
}

static bool is_within_reach(const struct search *s, uint32_t i, uint32_t j)
{
	const struct pd_rows_set *set = s->m->set;
	const size_t words = (size_t)set->words;
	return pd_bits_distance(set->keys + s->t->member[i] * words, set->keys + s->t->member[j] * words, 1) <= s->reach;
}

static bool is_alike(const struct search *s, size_t i, size_t j, struct worker *w)
{
	w->compared++;
	return pd_sketch_agreeing(&s->t->options, s->t->sketch + i * s->t->words, s->t->sketch + j * s->t->words) >= s->least;
}

/* The first 32 bits of a value of so many bits; where the scope is inside a host, rows of two hosts seldom meet. */
static inline uint32_t first_bits(const struct search *s, uint64_t v, int bits, bool inside, size_t i)
{
	if (inside)
		return (uint32_t)pd_hash64((char *)(uint64_t[]){ v, s->m->links.host[s->t->member[i]] }, 2 * sizeof v);
	return (uint32_t)(bits > 32 ? v >> (bits - 32) : v << (32 - bits));
}

static uint32_t value_of(const struct search *s, size_t i, size_t band)
{
	return first_bits(s, band_of(s, i, band), s->width * s->t->options.bits, pd_match_scope_inside(s->m->links.scope), i);
}

/* The bit of a row's bucket. */
static size_t bucket_bit(const struct search *s, size_t i, size_t band)
{
	return (band << s->bucket_bits) + (value_of(s, i, band) >> (32 - s->bucket_bits));
}

static bool knows_full(const struct search *s)
{
	return s->share && s->share->full_known;
}

/* Where a share keeps the bit of a row's bucket. */
static size_t shared_bit(const struct search *s, size_t i, size_t band)
{
	return pd_rows_set_row(s->m->set, s->t->member[i]) * s->share->full_words * 64 + band;
}

static bool is_full(const struct search *s, size_t i, size_t band)
{
	size_t bit = knows_full(s) ? shared_bit(s, i, band) : bucket_bit(s, i, band);
	const uint64_t *bits = knows_full(s) ? s->share->full : s->full;
	return __atomic_load_n(&bits[bit / 64], __ATOMIC_RELAXED) >> (bit % 64) & 1;
}

static void set_full(uint64_t *bits, size_t bit)
{
	__atomic_fetch_or(&bits[bit / 64], UINT64_C(1) << (bit % 64), __ATOMIC_RELAXED);
}

/* A pair is found in the first band that both share, unless that bucket is full.  Where full buckets are known all others were searched
 * before: what is left are pairs whose first bucket is one. */
static bool belongs_here(const struct search *s, size_t i, size_t j)
{
	size_t band = s->first_band + s->band;
	bool is_left = !knows_full(s) || is_full(s, i, band);
	if (band_of(s, i, band) != band_of(s, j, band))
		return false;
	for (size_t t = 0; t < band; t++) {
		if (band_of(s, i, t) != band_of(s, j, t))
			continue;
		if (!is_full(s, i, t))
			return false;
		is_left = true;
	}
	return is_left;
}

/* --- a bucket --- */

/* What waits, sketch by sketch; whether two rows are a pair depends on nothing that later buckets change. */
static void take_waiting(const struct search *s, struct worker *w, struct pd_items *out)
{
	const size_t words = s->t->words;
	for (size_t i = 0; i < w->n_waiting; i++) {
		const struct joined *pair = &w->waiting[i];
		if (i + AHEAD < w->n_waiting) {
			pd_prefetch(s->t->sketch + pair[AHEAD].a * words);
			pd_prefetch(s->t->sketch + pair[AHEAD].b * words);
		}
		if (is_alike(s, pair->a, pair->b, w) && belongs_here(s, pair->a, pair->b) &&
		    is_in_scope(&s->m->links, s->t->member[pair->a], s->t->member[pair->b]))
			pd_items_add_pair(out, pair->a, pair->b, 0);
	}
	w->n_waiting = 0;
}

static void take_bucket_hits(const struct search *s, struct worker *w, struct pd_items *out)
{
	for (size_t i = 0; i < w->hits.n; i++) {
		if (w->n_waiting == WAITING)
			take_waiting(s, w, out);
		w->waiting[w->n_waiting++] = (struct joined){ w->row[w->hits.v[i].a], w->row[w->hits.v[i].b] };
	}
}

/* One piece of a bucket with itself and with all after it. */
static void scan_piece(const struct search *s, struct worker *w, size_t at, size_t to)
{
	const struct pd_join_columns *c = &w->columns;
	size_t end = at + PIECE < to ? at + PIECE : to;
	s->scan.self((struct pd_join_run){ c, at, end }, s->reach, &w->hits);
	if (end < to)
		s->scan.cross((struct pd_join_run){ c, at, end }, (struct pd_join_run){ c, end, to }, s->reach, &w->hits);
}

/* All pairs within reach, piece by piece, which needs little memory. */
static void compare_all(const struct search *s, struct worker *w, size_t from, size_t to, struct pd_items *out)
{
	for (size_t at = from; at < to; at += PIECE) {
		w->hits.n = 0;
		scan_piece(s, w, at, to);
		take_bucket_hits(s, w, out);
	}
}

/* The pairs within reach are w->hits; false where there are more than `limit`. */
static bool find_hits(const struct search *s, struct worker *w, size_t from, size_t to, size_t limit)
{
	w->hits.n = 0;
	for (size_t at = from; at < to; at += PIECE) {
		scan_piece(s, w, at, to);
		if (w->hits.n > limit)
			return false;
	}
	return true;
}

/* --- a full bucket --- */

#define FREE UINT8_MAX
#define SAMPLES 64	/* pairs that show whether a bucket is of copies */
#define COPIES 4	/* one in so many of them is alike */
#define NEIGHBOURS 8	/* times as many are passed over as are compared */
#define HEADS 8		/* clusters of a bucket that are held together */

/* One that was like none before it, and the first of its followers that those pair with which may not pair with it. */
struct leader {
	uint32_t row, second;
};

/* Those of a bucket. */
struct leaders {
	struct leader v[PD_BANDS_LEADERS];
	uint8_t n;
};

static bool is_on(const struct search *s, uint32_t row, uint8_t side)
{
	const struct pd_match_links *l = &s->m->links;
	return !l->side || (l->side[pd_rows_set_row(l->set, s->t->member[row])] & side);
}

static bool is_same_host(const struct search *s, uint32_t a, uint32_t b)
{
	const struct pd_match_links *l = &s->m->links;
	return l->host[s->t->member[a]] == l->host[s->t->member[b]];
}

/* A leader stands for the row when it is verified with it. */
static uint8_t leader_of(const struct search *s, struct worker *w, const struct leaders *leaders, uint32_t row)
{
	const struct pd_match_set *m = s->m;
	double similarity;
	for (uint8_t i = 0; i < leaders->n; i++) {
		uint32_t leader = leaders->v[i].row;
		if (pd_match_scope_inside(m->links.scope) && !is_same_host(s, leader, row))
			continue;
		if (!is_within_reach(s, leader, row))
			continue;
		if (is_alike(s, leader, row, w) && pd_verify_rows(&w->verifier, pd_rows_set_row(m->set, s->t->member[leader]),
								   pd_rows_set_row(m->set, s->t->member[row]), 0, &similarity))
			return i;
	}
	return FREE;
}

/* Where two sides are matched the leaders are those of B; those of A alone only follow them. */
static uint8_t find_leader(const struct search *s, struct worker *w, struct leaders *leaders, uint32_t row)
{
	uint8_t i = leader_of(s, w, leaders, row);
	if (i == FREE && leaders->n < PD_BANDS_LEADERS) {
		leaders->v[leaders->n] = (struct leader){ row, NONE };
		return leaders->n++;
	}
	if (i == FREE)
		return FREE;
	struct leader *l = &leaders->v[i];
	bool between = s->m->links.scope == PD_SCOPE_OTHER_HOSTS;
	if (l->second == NONE && (!between || !is_same_host(s, l->row, row)))
		l->second = row;
	return i;
}

/* --- what stays together ---
 * A row that follows a leader has no part in other full buckets, and may be all that two leaders have in common.  So what follows is
 * held against other clusters that the same bucket holds: the first row of each stands for it.  Clusters are those of the bands
 * before this one, so that threads do not matter. */

static void join_rows(const struct search *s, struct worker *w, uint32_t a, uint32_t b)
{
	if (!s->parent)
		return;
	w->joined = pd_grow(w->joined, w->n_joined, &w->cap_joined, sizeof *w->joined);
	w->joined[w->n_joined++] = (struct joined){ a, b };
}

static uint32_t cluster_of(const struct search *s, uint32_t row)
{
	while (s->parent[row] != row)
		row = s->parent[row];
	return row;
}

/* After a band; the first row of a cluster names it. */
static void settle_clusters(struct search *s, int threads)
{
	for (int i = 0; i < threads; i++) {
		struct worker *w = &s->workers[i];
		for (size_t j = 0; j < w->n_joined; j++) {
			uint32_t a = cluster_of(s, w->joined[j].a), b = cluster_of(s, w->joined[j].b);
			for (uint32_t row = w->joined[j].a, next; row != a; row = next) {
				next = s->parent[row];
				s->parent[row] = a;
			}
			for (uint32_t row = w->joined[j].b, next; row != b; row = next) {
				next = s->parent[row];
				s->parent[row] = b;
			}
			if (a < b)
				s->parent[b] = a;
			else
				s->parent[a] = b;
		}
		w->n_joined = 0;
	}
}

static bool is_duplicate(const struct search *s, struct worker *w, uint32_t a, uint32_t b)
{
	const struct pd_match_set *m = s->m;
	double similarity;
	return is_in_scope(&m->links, s->t->member[a], s->t->member[b]) && is_within_reach(s, a, b) && is_alike(s, a, b, w) &&
	       pd_verify_rows(&w->verifier, pd_rows_set_row(m->set, s->t->member[a]), pd_rows_set_row(m->set, s->t->member[b]), 0, &similarity);
}

/* The first row of a cluster, and the place of the first one that this is joined with. */
struct cluster_head {
	uint32_t row, cluster;
	uint8_t with;
};

static uint8_t head_of(const struct cluster_head *heads, uint8_t i)
{
	while (heads[i].with != i)
		i = heads[i].with;
	return i;
}

static void hold_together(const struct search *s, struct worker *w, size_t from, size_t to, struct pd_items *out)
{
	struct cluster_head heads[HEADS];
	uint8_t n = 0;
	bool any = false;
	for (size_t i = from; i < to && !any; i++)
		any = s->covered[w->row[i]];
	for (size_t i = from; any && i < to; i++) {
		uint32_t row = w->row[i], cluster = cluster_of(s, row);
		uint8_t own = 0;
		while (own < n && heads[own].cluster != cluster)
			own++;
		if (own == n && n < HEADS)
			heads[n++] = (struct cluster_head){ row, cluster, own };
		size_t tried = 0;
		for (uint8_t h = 0; h < n && tried < s->most_compared; h++) {
			if ((!s->covered[row] && !s->covered[heads[h].row]) || heads[h].row == row ||
			    (own < n && head_of(heads, own) == head_of(heads, h)))
				continue;
			tried++;
			if (!is_duplicate(s, w, heads[h].row, row))
				continue;
			pd_items_add_pair(out, heads[h].row, row, 0);
			join_rows(s, w, heads[h].row, row);
			if (own == n)
				break;
			heads[head_of(heads, own)].with = head_of(heads, h);
		}
	}
}

/* --- followers --- */

/* A pair with the leader, or with the one after it where the scope asks for that.  False: the row is like neither. */
static bool follow_leader(const struct search *s, struct worker *w, const struct leader *l, uint32_t row, struct pd_items *out)
{
	const struct pd_match_links *links = &s->m->links;
	bool itself = l->row == row, second = itself || !is_in_scope(links, s->t->member[l->row], s->t->member[row]);
	uint32_t to = second ? l->second : l->row;
	if (to == NONE || to == row || (itself && !links->side && links->scope != PD_SCOPE_OTHER_HOSTS))
		return true;
	if (second && !itself && (!is_within_reach(s, to, row) || !is_alike(s, to, row, w)))
		return false;
	pd_items_add_pair(out, to, row, second ? 0 : PD_BANDS_LINKED);
	s->covered[row] = !itself;
	if (!second)
		join_rows(s, w, to, row);
	return true;
}

/* A leader that none follows may be like one that follows another: the first of these. */
static void find_any(const struct search *s, struct worker *w, uint32_t row, size_t from, size_t to, struct pd_items *out)
{
	const struct pd_match_set *m = s->m;
	double similarity;
	for (size_t i = from; i < to; i++) {
		uint32_t other = w->row[i];
		if (other == row || !is_in_scope(&m->links, s->t->member[row], s->t->member[other]) || !is_within_reach(s, row, other) ||
		    !is_alike(s, row, other, w))
			continue;
		if (!pd_verify_rows(&w->verifier, pd_rows_set_row(m->set, s->t->member[row]), pd_rows_set_row(m->set, s->t->member[other]), 0,
				    &similarity))
			continue;
		pd_items_add_pair(out, row, other, 0);
		return;
	}
}

/* Are they like each other, as many as meet?  By a few of them that are chosen by their places alone. */
static bool is_of_copies(const struct search *s, struct worker *w, size_t from, size_t to)
{
	size_t n = to - from, most = n / 2 < SAMPLES ? n / 2 : SAMPLES, tried = 0, alike = 0;
	for (size_t i = 0; i < most; i++) {
		size_t x = from + i * (n / 2) / most, y = x + n / 2;
		uint32_t a = w->row[x], b = w->row[y];
		if (pd_bits_distance(&w->columns.w[0][x], &w->columns.w[0][y], 1) > s->reach ||
		    (pd_match_scope_inside(s->m->links.scope) && !is_same_host(s, a, b)))
			continue;
		tried++;
		alike += is_alike(s, a, b, w);
	}
	return alike && alike * COPIES >= tried;
}

/* The minima after the band, the first one highest; they are read in a circle. */
static uint64_t minima_behind(const struct search *s, uint32_t row, int depth)
{
	const struct pd_sketch_options *o = &s->t->options;
	const uint64_t *sketch = s->t->sketch + row * s->t->words;
	size_t at = (s->first_band + s->band) * (size_t)s->width + (size_t)(s->width + depth);
	uint64_t v = 0;
	for (int i = 0; i < 64 / o->bits && i < o->minima; i++, at++)
		v = v << o->bits | pd_bits_get(sketch, (int)(at % (size_t)o->minima) * o->bits, o->bits);
	return v;
}

static int by_minima(const void *x, const void *y)
{
	const struct adjacent *a = x, *b = y;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->minima != b->minima)
		return a->minima < b->minima ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Rows that share the band, and little else: those that share more stand next to each other, and each is held against the
 * next ones, and against the first of those that share all that follows.  That costs the same for any number of them. */
static void compare_neighbours(const struct search *s, struct worker *w, size_t from, size_t n, int depth, struct pd_items *out)
{
	const struct pd_match_links *l = &s->m->links;
	w->neighbours = pd_big_at_least(w->neighbours, n, &w->cap_neighbours, sizeof *w->neighbours);
	struct adjacent *v = w->neighbours;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = w->row[from + i];
		v[i] = (struct adjacent){ pd_match_scope_inside(l->scope) ? l->host[s->t->member[row]] : 0, minima_behind(s, row, depth),
					   w->columns.w[0][from + i], row };
	}
	qsort(v, n, sizeof *v, by_minima);
	for (size_t i = 0, first = 0; i < n; i++) {
		if (v[i].host != v[first].host || v[i].minima != v[first].minima)
			first = i;
		size_t tried = 0;
		for (size_t j = i > first + s->most_compared ? first : i + 1; j < n && j <= i + NEIGHBOURS * s->most_compared && tried < s->most_compared;
		     j = j < i ? i + 1 : j + 1) {
			if (pd_bits_distance(&v[i].print, &v[j].print, 1) > s->reach ||
			    !is_in_scope(l, s->t->member[v[i].row], s->t->member[v[j].row]))
				continue;
			tried++;
			uint32_t a = v[i].row < v[j].row ? v[i].row : v[j].row, b = v[i].row < v[j].row ? v[j].row : v[i].row;
			/* Those that are alike meet in many bands; a row is in one bucket of each, and so with one thread. */
			if (s->last[a] == b || !is_alike(s, a, b, w))
				continue;
			s->last[a] = b;
			pd_items_add_pair(out, a, b, 0);
		}
	}
}

/* Those that follow none go on among themselves, in their order; how many. */
static size_t keep_free(struct worker *w, size_t from, size_t to)
{
	size_t n = from;
	for (size_t i = from; i < to; i++)
		if (w->leader[i] == FREE) {
			w->columns.w[0][n] = w->columns.w[0][i];
			w->row[n++] = w->row[i];
		}
	return n - from;
}

/* By the minimum that comes `depth` after the band; end[v]: where those of value v end. */
static void split_by_minimum(const struct search *s, struct worker *w, size_t from, size_t n, int depth, size_t end[256])
{
	int bits = s->t->options.bits, at = (int)((s->first_band + s->band + 1) * (size_t)s->width + (size_t)depth) % s->t->options.minima;
	w->spare_prints = pd_big_at_least(w->spare_prints, n, &w->cap_spare_prints, sizeof *w->spare_prints);
	w->spare_rows = pd_big_at_least(w->spare_rows, n, &w->cap_spare_rows, sizeof *w->spare_rows);
	memcpy(w->spare_prints, w->columns.w[0] + from, n * sizeof *w->spare_prints);
	memcpy(w->spare_rows, w->row + from, n * sizeof *w->spare_rows);
	memset(end, 0, 256 * sizeof *end);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			size_t *next = &end[pd_bits_get(s->t->sketch + w->spare_rows[i] * s->t->words, at * bits, bits)];
			if (pass) {
				w->columns.w[0][from + *next] = w->spare_prints[i];
				w->row[from + *next] = w->spare_rows[i];
			}
			++*next;
		}
		/* From counts to where each value begins. */
		for (size_t v = 0, sum = 0; !pass && v < 256; v++) {
			size_t count = end[v];
			end[v] = sum;
			sum += count;
		}
	}
}

/* Who stands for whom among copies; the rows that follow none are left. */
static size_t lead(const struct search *s, struct worker *w, size_t from, size_t to, struct pd_items *out)
{
	struct leaders leaders = { .n = 0 };
	for (size_t i = from; i < to; i++)
		w->leader[i] = is_on(s, w->row[i], PD_SIDE_B) ? find_leader(s, w, &leaders, w->row[i]) : FREE;
	for (size_t i = from; i < to; i++) {
		if (!is_on(s, w->row[i], PD_SIDE_B))
			w->leader[i] = leader_of(s, w, &leaders, w->row[i]);
		if (w->leader[i] != FREE && is_on(s, w->row[i], PD_SIDE_A) && !follow_leader(s, w, &leaders.v[w->leader[i]], w->row[i], out))
			w->leader[i] = FREE;
	}
	for (uint8_t i = 0; i < leaders.n; i++)
		if (leaders.v[i].second == NONE)
			find_any(s, w, leaders.v[i].row, from, to, out);
	size_t n = keep_free(w, from, to);
	if (n == 1)
		find_any(s, w, w->row[from], from + 1, to, out);
	return n;
}

/* Is it so small, or so seldom alike, that all its pairs can be compared?  If so, those within reach are w->hits. */
static bool is_small(const struct search *s, struct worker *w, size_t from, size_t to)
{
	size_t n = to - from, chance = (size_t)((double)n * (double)n * s->chance);
	return n <= PD_BANDS_BUCKET && find_hits(s, w, from, to, PD_BANDS_PAIRS * n + chance) &&
	       (w->hits.n <= s->most_compared * n + chance || is_of_copies(s, w, from, to));
}

/* Buckets are in the order of the rows. */
static void search_bucket(const struct search *s, struct worker *w, size_t from, size_t to, int depth, struct pd_items *out)
{
	size_t n, end[256], band = s->first_band + s->band;
	bool known = !depth && knows_full(s);
	if (s->m->o->all_pairs || (known && !is_full(s, w->row[from], band))) {
		compare_all(s, w, from, to, out);
		return;
	}
	if (!known && is_small(s, w, from, to)) {
		take_bucket_hits(s, w, out);
		return;
	}
	if (!depth && s->share && !known) {
		for (size_t i = from; i < to; i++)
			set_full(s->share->full, shared_bit(s, w->row[i], band));
		return;
	}
	if (!depth) {
		set_full(s->full, bucket_bit(s, w->row[from], band));
		if (s->parent)
			hold_together(s, w, from, to, out);
	}
	size_t kept = from;
	for (size_t i = from; i < to; i++)
		if (!s->covered[w->row[i]]) {
			w->columns.w[0][kept] = w->columns.w[0][i];
			w->row[kept++] = w->row[i];
		}
	n = kept - from;
	if (n > 1 && is_of_copies(s, w, from, kept))
		n = lead(s, w, from, kept, out);
	if (n < 2)
		return;
	if (n <= (2 * s->most_compared + 1) << s->t->options.bits || (s->width + depth + 1) * s->t->options.bits > 64) {
		compare_neighbours(s, w, from, n, depth, out);
		return;
	}
	split_by_minimum(s, w, from, n, depth, end);
	for (size_t v = 0, begin = 0; v < 256; begin = end[v++])
		if (end[v] - begin > 1)
			search_bucket(s, w, from + begin, from + end[v], depth + 1, out);
}

/* --- a part --- */

static void part_task(void *ctx, size_t i, int thread)
{
	const struct search *s = ctx;
	struct worker *w = &s->workers[thread];
	const size_t *part = s->radix[s->band].part;
	const struct dealt *rows = s->dealt + part[s->from + i] - part[s->from];
	size_t n = part[s->from + i + 1] - part[s->from + i], n_buckets = (size_t)1 << (s->bucket_bits - s->part_bits);
	w->columns.w[0] = pd_big_at_least(w->columns.w[0], n + PD_SCAN_PAD, &w->cap_prints, sizeof(uint64_t));
	w->row = pd_big_at_least(w->row, n + 1, &w->cap_rows, sizeof *w->row);
	w->leader = pd_big_at_least(w->leader, n + 1, &w->cap_leaders, sizeof *w->leader);
	w->begin = pd_big_at_least(w->begin, n_buckets + 2, &w->cap_begin, sizeof *w->begin);
	const int shift = 32 - s->bucket_bits;
	uint32_t *begin = w->begin, *row = w->row;
	uint64_t *print = w->columns.w[0];
	/* Counted two places on, so that placing leaves the beginnings in place. */
	memset(begin, 0, (n_buckets + 2) * sizeof *begin);
	for (size_t j = 0; j < n; j++)
		begin[(rows[j].value >> shift & (n_buckets - 1)) + 2]++;
	for (size_t b = 2; b < n_buckets + 2; b++)
		begin[b] += begin[b - 1];
	for (size_t j = 0; j < n; j++) {
		uint32_t at = begin[(rows[j].value >> shift & (n_buckets - 1)) + 1]++;
		print[at] = rows[j].print;
		row[at] = rows[j].row;
	}
	/* A scan loads these with the last keys and leaves them out of its answer. */
	memset(print + n, 0, PD_SCAN_PAD * sizeof *print);
	for (size_t b = 0; b < n_buckets; b++)
		if (w->begin[b + 1] - w->begin[b] > 1)
			search_bucket(s, w, w->begin[b], w->begin[b + 1], 0, &s->lists[thread]);
	take_waiting(s, w, &s->lists[thread]);
}

/* --- all --- */

static size_t stretch_begins(const struct search *s, size_t stretch)
{
	return s->t->n * stretch / s->n_stretches;
}

static void count_task(void *ctx, size_t stretch, int thread)
{
	const struct search *s = ctx;
	const size_t words = s->t->words, n_bands = s->n_bands, end = stretch_begins(s, stretch + 1);
	const int bits = s->width * s->t->options.bits, first = (int)s->first_band * bits, shift = 31 - s->part_bits;
	const bool inside = pd_match_scope_inside(s->m->links.scope);
	uint32_t *value[AT_ONCE];
	size_t *count[AT_ONCE];
	(void)thread;
	for (size_t b = 0; b < n_bands; b++) {
		value[b] = s->value[b];
		count[b] = pd_radix_next(&s->radix[b], stretch);
	}
	for (size_t i = stretch_begins(s, stretch); i < end; i++) {
		const uint64_t *sketch = s->t->sketch + i * words;
		pd_prefetch(sketch + AHEAD * words + (size_t)first / 64);	/* a word of each: too far apart for the machine to foresee */
		for (size_t b = 0; b < n_bands; b++) {
			uint32_t v = first_bits(s, pd_bits_get(sketch, first + (int)b * bits, bits), bits, inside, i);
			value[b][i] = v;
			count[b][v >> 1 >> shift]++;
		}
	}
}

static void deal_task(void *ctx, size_t stretch, int thread)
{
	const struct search *s = ctx;
	const struct pd_rows_set *set = s->m->set;
	const uint32_t *values = s->value[s->band], *member = s->t->member;
	const uint64_t *keys = set->keys;
	const size_t words = (size_t)set->words, from = s->from, n = s->to - s->from, end = stretch_begins(s, stretch + 1);
	const int shift = 31 - s->part_bits;
	size_t *next = pd_radix_next(&s->radix[s->band], stretch);
	struct dealt *dealt = s->dealt - s->radix[s->band].part[from];
	(void)thread;
	for (size_t i = stretch_begins(s, stretch); i < end; i++) {
		size_t p = values[i] >> 1 >> shift;
		if (p - from < n)
			dealt[next[p]++] = (struct dealt){ keys[member[i] * words], values[i], (uint32_t)i };
	}
}

/* As many parts, one at least, as `room` bytes hold. */
static void search_band(struct search *s, int threads, size_t room)
{
	const struct pd_radix *r = &s->radix[s->band];
	for (s->from = 0; s->from < r->n_parts; s->from = s->to) {
		s->to = s->from + 1;
		while (s->to < r->n_parts && (r->part[s->to + 1] - r->part[s->from]) * sizeof *s->dealt <= room)
			s->to++;
		s->dealt = pd_big_at_least(s->dealt, r->part[s->to] - r->part[s->from] + 1, &s->cap_dealt, sizeof *s->dealt);
		pd_parallel(threads, (size_t)threads, deal_task, s);
		pd_parallel(threads, s->to - s->from, part_task, s);
	}
}

static void search_bands(struct search *s, int threads, size_t room)
{
	size_t all = (size_t)(s->t->options.minima / s->width), from = 0;
	if (s->share && s->share->band >= 0) {
		from = (size_t)s->share->band;
		all = from + 1 < all ? from + 1 : all;
	}
	for (s->first_band = from; s->first_band < all; s->first_band += AT_ONCE) {
		s->n_bands = all - s->first_band < AT_ONCE ? all - s->first_band : AT_ONCE;
		for (size_t b = 0; b < s->n_bands; b++)
			pd_radix_init(&s->radix[b], (size_t)threads, (size_t)1 << s->part_bits);
		pd_parallel(threads, (size_t)threads, count_task, s);
		for (size_t b = 0; b < s->n_bands; b++)
			pd_radix_sum(&s->radix[b]);
		for (s->band = 0; s->band < s->n_bands; s->band++) {
			search_band(s, threads, room);
			if (s->parent)
				settle_clusters(s, threads);
			pd_radix_release(&s->radix[s->band]);
		}
	}
}

/* Small parts, and buckets of one value each, as far as that goes. */
static void choose_digits(struct search *s)
{
	int bits = s->width * s->t->options.bits, log = 0;
	while (s->t->n >> log > 1)
		log++;
	if (pd_match_scope_inside(s->m->links.scope))
		bits = log > bits ? log : bits;
	s->bucket_bits = bits < PD_BANDS_BUCKET_BITS ? bits : PD_BANDS_BUCKET_BITS;
	s->part_bits = log - PART_ROWS_BITS < 0 ? 0 : log - PART_ROWS_BITS < PART_BITS_MAX ? log - PART_ROWS_BITS : PART_BITS_MAX;
	s->part_bits = s->part_bits < s->bucket_bits ? s->part_bits : s->bucket_bits;
}

/* Crowded buckets name a pair once in each band.  A row keeps one link, to the first row that stands for it, unless that one is
 * linked itself: what is linked is one, and must not become a chain.  Other links are pairs like any. */
static void settle_links(struct pd_items *pairs, size_t n_rows, bool may_link)
{
	uint32_t *first = pd_alloc((n_rows + 1) * sizeof *first);
	size_t n = 0;
	memset(first, 0xff, (n_rows + 1) * sizeof *first);
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

int pd_match_bands_find(struct pd_match_bands *bands, const struct pd_match_set *m, const uint8_t *only, int most, struct pd_err *e)
{
	const struct pd_match_options *o = m->o;
	const struct pd_rows *rows = m->rows;
	struct taking t = { .n = 0 };
	struct pd_array values = { 0 }, parents = { 0 }, lasts = { 0 };
	if (!rows->sketched || o->verify.off)
		return PD_OK;
	gather_rows(&t, m, only);
	int threads = o->threads > 1 ? o->threads : 1;
	bands->width = pd_match_bands_width(&t.options, o->band_width, t.n);
	bands->reach = most >= 0 ? most : o->band_reach ? o->band_reach - 1 : pd_match_bands_reach(&t.options, bands->width, t.n);
	bands->most_distance = most >= 0 ? most : rows->bits;
	struct search s = { .t = &t, .m = m, .share = o->share, .width = bands->width, .reach = bands->reach, .least = pd_match_bands_least(&t.options, &o->verify),
			    .n_stretches = (size_t)threads,
			    .scan = pd_join_scan_best()->by[PD_SCAN_64] };
	choose_digits(&s);
	s.chance = pd_join_chance(64, s.reach);
	s.most_compared = (size_t)(PD_BANDS_LOOKS * s.width / t.options.minima);
	s.most_compared = s.most_compared ? s.most_compared : 1;
	s.covered = pd_zalloc(t.n + 1);
	s.last = pd_array_room(&lasts, rows->budget, (t.n + 1) * sizeof *s.last);
	memset(s.last, 0xff, (t.n + 1) * sizeof *s.last);
	if (!o->all_pairs && !rows->side) {
		s.parent = pd_array_room(&parents, rows->budget, (t.n + 1) * sizeof *s.parent);
		for (size_t i = 0; i < t.n; i++)
			s.parent[i] = (uint32_t)i;
	}
	s.full = pd_zalloc((((size_t)(t.options.minima / s.width) << s.bucket_bits) / 64 + 1) * sizeof *s.full);
	uint32_t *value = pd_array_room(&values, rows->budget, (AT_ONCE * t.n + 1) * sizeof *value);
	for (size_t b = 0; b < AT_ONCE; b++)
		s.value[b] = value + b * t.n;
	s.workers = pd_zalloc((size_t)threads * sizeof *s.workers);
	for (int i = 0; i < threads; i++) {
		s.workers[i].verifier = pd_match_verifier(o, rows);
		s.workers[i].verifier.apart = o->scope == PD_SCOPE_OTHER_HOSTS;
	}
	s.lists = pd_items_lists(threads, rows->budget);
	search_bands(&s, threads, pd_budget_left(rows->budget) / 4);
	int status = pd_items_gather(s.lists, threads, threads, &bands->pairs, e);
	settle_links(&bands->pairs, t.n, o->scope == PD_SCOPE_ALL && !o->all_pairs && !rows->side);
	for (size_t i = 0; i < bands->pairs.n; i++) {
		uint64_t *key = &bands->pairs.v[i].key;
		*key = (uint64_t)t.member[*key >> 32] << 32 | t.member[(uint32_t)*key];
	}
	for (int i = 0; i < threads; i++) {
		struct worker *w = &s.workers[i];
		bands->compared += w->compared;
		pd_verifier_release(&w->verifier);
		free(w->columns.w[0]);
		free(w->row);
		free(w->begin);
		free(w->hits.v);
		free(w->leader);
		free(w->spare_prints);
		free(w->spare_rows);
		free(w->neighbours);
		free(w->joined);
	}
	free(s.workers);
	free(s.covered);
	free(s.full);
	free(s.dealt);
	pd_array_release(&values);
	pd_array_release(&parents);
	pd_array_release(&lasts);
	pd_array_release(&t.memory[0]);
	pd_array_release(&t.memory[1]);
	return status;
}

size_t pd_match_bands_add(const struct pd_match_bands *bands, size_t at, const struct pd_match_set *m, struct pd_match_partners *out)
{
	const struct pd_match_links *links = &m->links;
	const struct pd_rows_set *set = m->set;
	const struct pd_item *v = bands->pairs.v;
	uint32_t a = (uint32_t)(v[at].key >> 32);
	size_t words = (size_t)set->words;
	/* Equal fingerprints are linked, or not, where they are grouped; but of many parts not all were compared. */
	bool equal = links->scope != PD_SCOPE_OTHER_HOSTS && !links->all_pairs && !links->side;
	equal = equal || pd_match_parts_several(&m->parts, pd_match_groups_name(pd_match_set_prints(m), a));
	for (; at < bands->pairs.n && v[at].key >> 32 == a; at++) {
		uint32_t b = (uint32_t)v[at].key;
		int distance = pd_bits_distance(set->keys + a * words, set->keys + b * words, (int)words);
		if ((!distance && !equal) || distance > bands->most_distance || !is_in_scope(links, a, b))
			continue;
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
		out->v[out->n++] = (struct pd_match_partner){ .member = b, .distance = distance, .linked = v[at].value == PD_BANDS_LINKED };
	}
	return at;
}
