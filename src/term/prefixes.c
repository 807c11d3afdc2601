/* SPDX-License-Identifier: MIT
 *
 * In: the words of a dictionary.  Out: the tables of their beginnings (prefixes.h), the same for the same words.
 *
 * Length by length: what a prefix is found by is where the one before it lies, which is known when its table is made.
 * The words come in bytewise order, so all that share a prefix stand together.
 */
#include "term/prefixes.h"

#include <stdlib.h>

#include "base/utf8.h"

enum { BUCKET = 4, SHIFTS = UINT16_MAX + 1, BUCKET_MAX = 64 };

/* Four slots of five are taken: fewer would be found faster, but fit fewer caches. */
#define SLOTS(n) ((n) * 5 / 4 + 1)

struct prefix_list {
	uint64_t *slot;		/* as they will stand in the table */
	size_t n, cap;
};

static void list_add(struct prefix_list *l, uint64_t key)
{
	l->slot = pd_grow(l->slot, l->n, &l->cap, sizeof *l->slot);
	l->slot[l->n++] = key << 22 | PD_PREFIX_NO_COST;
}

static void ends_here(struct prefix_list *l, uint32_t cost)
{
	l->slot[l->n - 1] = (l->slot[l->n - 1] & ~(uint64_t)PD_PREFIX_NO_COST) | cost;
}

static void goes_on(struct prefix_list *l)
{
	l->slot[l->n - 1] |= PD_PREFIX_MORE;
}

/* A table while it is filled. */
struct filling {
	struct pd_prefix_table t;
	uint64_t *slot;
	uint16_t *shift;
	uint32_t *begin;	/* of each bucket in `order`, and where the last ends */
	uint32_t *order;	/* numbers of the list, bucket by bucket */
};

static uint32_t bucket_of(const struct filling *f, uint64_t slot)
{
	return pd_prefix_bucket(&f->t, pd_prefix_hash(slot >> 22));
}

static void sort_into_buckets(struct filling *f, const struct prefix_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		f->begin[bucket_of(f, l->slot[i])]++;
	for (uint32_t b = 0, sum = 0; b <= f->t.buckets; b++) {
		sum += f->begin[b];
		f->begin[b] = sum;
	}
	for (size_t i = l->n; i-- > 0; )
		f->order[--f->begin[bucket_of(f, l->slot[i])]] = (uint32_t)i;
}

/* The members of a bucket go where this shift sends them, if nobody is there; else nothing changes. */
static bool try_shift(struct filling *f, const struct prefix_list *l, uint32_t bucket, uint32_t shift)
{
	uint32_t first = f->begin[bucket], last = f->begin[bucket + 1], i = first;
	for (; i < last; i++) {
		uint64_t slot = l->slot[f->order[i]];
		uint32_t place = pd_prefix_shifted(&f->t, pd_prefix_hash(slot >> 22), shift);
		if (f->slot[place])
			break;
		f->slot[place] = slot;
	}
	if (i == last)
		return true;
	while (i-- > first)
		f->slot[pd_prefix_shifted(&f->t, pd_prefix_hash(l->slot[f->order[i]] >> 22), shift)] = 0;
	return false;
}

static bool place_bucket(struct filling *f, const struct prefix_list *l, uint32_t bucket)
{
	for (uint32_t shift = 0; shift < SHIFTS; shift++)
		if (try_shift(f, l, bucket, shift)) {
			f->shift[bucket] = (uint16_t)shift;
			return true;
		}
	return false;
}

/* The fullest first, while there is room. */
static bool place_all(struct filling *f, const struct prefix_list *l)
{
	for (uint32_t size = BUCKET_MAX; size > 0; size--)
		for (uint32_t b = 0; b < f->t.buckets; b++) {
			uint32_t n = f->begin[b + 1] - f->begin[b];
			if (n > BUCKET_MAX || (n == size && !place_bucket(f, l, b)))
				return false;
		}
	return true;
}

static bool fill_bucket(struct filling *f, const struct prefix_list *l)
{
	f->begin = pd_zalloc((f->t.buckets + 1) * sizeof *f->begin);
	f->order = pd_zalloc((l->n + 1) * sizeof *f->order);
	sort_into_buckets(f, l);
	bool placed = place_all(f, l);
	free(f->begin);
	free(f->order);
	return placed;
}

/* A word on its way through the lengths. */
struct walker {
	const char *p, *end;
	uint32_t before;	/* its first code point, or where its prefix lies in the table before */
	bool there;		/* has a prefix of this length: */
	uint64_t key;
};

static void begin_walks(struct walker *w, const struct pd_prefix_word *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		w[i] = (struct walker){ .p = words[i].text.p, .end = words[i].text.p + words[i].text.n };
		w[i].before = w[i].p < w[i].end ? pd_utf8_next(&w[i].p) : 0;
	}
}

static void step(struct walker *w, uint32_t cost, struct prefix_list *l)
{
	w->there = w->p < w->end;
	if (!w->there)
		return;
	w->key = pd_prefix_key(w->before, pd_utf8_next(&w->p));
	if (l->n == 0 || l->slot[l->n - 1] >> 22 != w->key)
		list_add(l, w->key);
	if (w->p == w->end)
		ends_here(l, cost);
	else
		goes_on(l);
}

static bool add_level(struct walker *w, size_t n, const struct prefix_list *l, struct pd_buf *tables, struct pd_buf *levels)
{
	struct filling f = { .t = { .slots = (uint32_t)SLOTS(l->n), .buckets = (uint32_t)(l->n / BUCKET + 1) } };
	struct pd_prefix_level level = { tables->n, f.t.slots, f.t.buckets };
	size_t size = f.t.slots * sizeof *f.slot + (f.t.buckets + 3) / 4 * 8;	/* the next begins at a multiple of 8 */
	f.slot = (uint64_t *)pd_buf_reserve(tables, size);
	f.shift = (uint16_t *)(f.slot + f.t.slots);
	memset(f.slot, 0, size);
	f.t.shift = f.shift;
	tables->n += size;
	pd_buf_add(levels, &level, sizeof level);
	if (!fill_bucket(&f, l))
		return false;
	for (size_t i = 0; i < n; i++)
		if (w[i].there)
			w[i].before = pd_prefix_place(&f.t, w[i].key);
	return true;
}

int pd_prefixes_make(const struct pd_prefix_word *words, size_t n, struct pd_buf *tables, struct pd_buf *levels,
		     struct pd_err *e)
{
	struct walker *w = pd_zalloc(n * sizeof *w);
	struct prefix_list l = { 0 };
	bool placed = true;
	begin_walks(w, words, n);
	do {
		l.n = 0;
		for (size_t i = 0; i < n; i++)
			step(&w[i], words[i].cost, &l);
		if (l.n > 0 || levels->n == 0)
			placed = SLOTS(l.n) <= PD_PREFIX_SLOTS_MAX && add_level(w, n, &l, tables, levels);
	} while (placed && l.n > 0);
	free(l.slot);
	free(w);
	return placed ? PD_OK : pd_fail(e, PD_ERR_DICT, "cannot make a table of %zu prefixes", l.n);
}
