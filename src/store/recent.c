/* SPDX-License-Identifier: MIT */
#include "store/recent.h"

#include <stdlib.h>

#include "base/sort.h"

enum {
	CHAIN_BITS = 16,
	EXPECTED = 32768,
	TABLE_BITS = 12,	/* at most: buckets of a few keys, which opening fills without waiting for memory */
	BUCKET = 8		/* keys that a bucket has room for at first */
};

/* Chains, and not the tables of base/map.h: pages of one hash are many (one text, one URL), and all of them are wanted, newest
 * first.  They are found by the highest bits: those of the id alone. */
static uint32_t chain(uint64_t hash)
{
	return (uint32_t)(hash >> (64 - CHAIN_BITS));
}

void pd_store_recent_init(struct pd_store_recent *r, int bits, int k)
{
	*r = (struct pd_store_recent){ .bits = bits };
	r->partition = pd_store_partition_choose(bits, k, EXPECTED);
	if (r->partition.n_bits > TABLE_BITS)
		r->partition.n_bits = TABLE_BITS;
	r->buckets = pd_zalloc(((size_t)r->partition.n_blocks << r->partition.n_bits) * sizeof *r->buckets);
	for (int by = 0; by < PD_STORE_BY_COUNT; by++)
		r->head[by] = pd_zalloc(sizeof(uint32_t) << CHAIN_BITS);
}

void pd_store_recent_release(struct pd_store_recent *r)
{
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		free(r->head[by]);
		free(r->next[by]);
	}
	free(r->bands);
	free(r->band_chains);
	free(r->buckets);
	free(r->numbers);
	free(r->pages);
	free(r->text_at);
	pd_buf_release(&r->text);
	pd_arena_release(&r->arena);
	*r = (struct pd_store_recent){ 0 };
}

/* A bucket grows word by word: each column is moved behind the one before it.  What it leaves stays in the arena. */
static void grow_bucket(struct pd_store_recent *r, struct pd_store_recent_bucket *b)
{
	size_t words = (size_t)r->bits / 64;
	uint32_t cap = b->cap ? b->cap * 2 : BUCKET;
	uint64_t *keys = pd_arena_alloc(&r->arena, (cap * words + PD_SCAN_PAD) * 8 + cap * sizeof *b->rows);
	uint32_t *rows = (uint32_t *)(keys + cap * words + PD_SCAN_PAD);
	for (size_t w = 0; w < words && b->n; w++)
		memcpy(keys + w * cap, b->keys + w * b->cap, b->n * sizeof *keys);
	memset(keys + words * cap, 0, PD_SCAN_PAD * 8);
	if (b->n)
		memcpy(rows, b->rows, b->n * sizeof *rows);
	b->keys = keys;
	b->rows = rows;
	b->cap = cap;
}

static struct pd_store_recent_bucket *bucket_of(const struct pd_store_recent *r, const struct pd_key *key, int table)
{
	uint32_t block = pd_store_partition_block(r->partition, key->w, table);
	return &r->buckets[((size_t)table << r->partition.n_bits) + block];
}

static void add_key(struct pd_store_recent *r, const struct pd_key *key, uint32_t row)
{
	int words = r->bits / 64;
	for (int t = 0; t < r->partition.n_blocks; t++) {
		struct pd_store_recent_bucket *b = bucket_of(r, key, t);
		if (b->n == b->cap)
			grow_bucket(r, b);
		for (int w = 0; w < words; w++)
			b->keys[(size_t)w * b->cap + b->n] = key->w[w];
		b->rows[b->n++] = row;
	}
}

static void grow(struct pd_store_recent *r)
{
	size_t cap = r->cap ? r->cap * 2 : 256;
	r->numbers = pd_realloc(r->numbers, cap * sizeof *r->numbers);
	r->pages = pd_realloc(r->pages, cap * sizeof *r->pages);
	r->text_at = pd_realloc(r->text_at, cap * sizeof *r->text_at);
	for (int by = 0; by < PD_STORE_BY_COUNT; by++)
		r->next[by] = pd_realloc(r->next[by], cap * sizeof *r->next[by]);
	r->cap = cap;
}

static void chain_up(struct pd_store_recent *r, uint32_t row)
{
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		uint64_t hash = r->pages[row].hash[by];
		r->next[by][row] = 0;
		if (!hash)
			continue;
		r->next[by][row] = r->head[by][chain(hash)];
		r->head[by][chain(hash)] = row + 1;
	}
}

/* The oldest stands first in its chain: it is found whether others follow or not. */
static void chain_bands(struct pd_store_recent *r, uint32_t row)
{
	uint32_t band[PD_STORE_BANDS];
	size_t n = pd_store_page_bands(&r->pages[row], band);
	if (n && !r->band_chains)
		r->band_chains = pd_zalloc(PD_STORE_BAND_VALUES * sizeof *r->band_chains);
	for (size_t i = 0; i < n; i++) {
		uint32_t *last = &r->band_chains[band[i]].last, *first = &r->band_chains[band[i]].first;
		r->bands = pd_grow(r->bands, r->n_bands, &r->cap_bands, sizeof *r->bands);
		r->bands[r->n_bands++] = (struct pd_store_recent_band){ band[i], row, 0 };
		if (*last)
			r->bands[*last - 1].next = (uint32_t)r->n_bands;
		else
			*first = (uint32_t)r->n_bands;
		*last = (uint32_t)r->n_bands;
	}
}

/* Where the text of a page lies in r->text. */
static size_t text_of(struct pd_store_recent *r, struct pd_span text)
{
	const char *from = r->text.p, *end = from + r->text.n;
	size_t at = r->text.n;
	if (from && (uintptr_t)text.p >= (uintptr_t)from && (uintptr_t)text.p < (uintptr_t)end)
		return (size_t)(text.p - from);
	pd_buf_add_span(&r->text, text);
	return at;
}

void pd_store_recent_add(struct pd_store_recent *r, uint64_t number, const struct pd_store_page *p)
{
	uint32_t row = (uint32_t)r->n;
	if (r->n == r->cap)
		grow(r);
	r->numbers[row] = number;
	r->pages[row] = *p;
	r->text_at[row] = text_of(r, p->text);
	chain_up(r, row);
	chain_bands(r, row);
	if (pd_store_in_tables(p->has))
		add_key(r, &p->key, row);
	r->n++;
}

/* The last key of a bucket takes the place of the one that leaves. */
static void drop_key(struct pd_store_recent *r, uint32_t row)
{
	for (int t = 0; t < r->partition.n_blocks; t++) {
		struct pd_store_recent_bucket *b = bucket_of(r, &r->pages[row].key, t);
		uint32_t i = 0;
		while (i < b->n && b->rows[i] != row)
			i++;
		if (i == b->n)
			continue;
		b->n--;
		b->rows[i] = b->rows[b->n];
		for (size_t w = 0; w < (size_t)r->bits / 64; w++)
			b->keys[w * b->cap + i] = b->keys[w * b->cap + b->n];
	}
}

static void unchain(struct pd_store_recent *r, uint32_t row)
{
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		uint64_t hash = r->pages[row].hash[by];
		uint32_t *link = &r->head[by][chain(hash)];
		while (hash && *link && *link != row + 1)
			link = &r->next[by][*link - 1];
		if (hash && *link)
			*link = r->next[by][row];
	}
}

void pd_store_recent_drop(struct pd_store_recent *r, uint64_t number)
{
	int64_t row = pd_store_recent_row(r, number);
	if (row < 0)
		return;
	unchain(r, (uint32_t)row);
	if (pd_store_in_tables(r->pages[row].has))
		drop_key(r, (uint32_t)row);
}

struct pd_store_page pd_store_recent_page(const struct pd_store_recent *r, uint32_t row)
{
	struct pd_store_page p = r->pages[row];
	p.text.p = pd_buf_z(&r->text) + r->text_at[row];
	return p;
}

int64_t pd_store_recent_row(const struct pd_store_recent *r, uint64_t number)
{
	size_t at = PD_LOWER_BOUND(i, 0, r->n, r->numbers[i] < number);
	return at < r->n && r->numbers[at] == number ? (int64_t)at : -1;
}

static void add_found(struct pd_store_rows_found *out, uint32_t row)
{
	out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
	out->v[out->n++] = row;
}

void pd_store_recent_find(const struct pd_store_recent *r, enum pd_store_by by, uint64_t hash, uint64_t mask,
			  struct pd_store_rows_found *out)
{
	for (uint32_t i = r->head[by][chain(hash)]; i; i = r->next[by][i - 1])
		if (!((r->pages[i - 1].hash[by] ^ hash) & mask))
			add_found(out, i - 1);
}

void pd_store_recent_find_band(const struct pd_store_recent *r, uint32_t band, struct pd_store_rows_found *out)
{
	for (uint32_t i = r->band_chains ? r->band_chains[band].first : 0; i &&
	     out->n < out->most; i = r->bands[i - 1].next)
		add_found(out, r->bands[i - 1].row);
}
