/* SPDX-License-Identifier: MIT */
#include "match/rows_order.h"

#include <stdlib.h>

#include "base/page_id.h"

enum { GONE = -1 };

static int compare(const struct pd_rows *rows, uint32_t a, uint32_t b)
{
	return pd_page_id_cmp(pd_rows_view(rows, a).id, pd_rows_view(rows, b).id);
}

static bool in_order(const struct pd_rows *rows)
{
	for (size_t i = 1; i < rows->n; i++)
		if (compare(rows, (uint32_t)i - 1, (uint32_t)i) >= 0)
			return false;
	return true;
}

/* Equal ids: the one that came first stays. */
static int by_id(const void *x, const void *y, void *ctx)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int d = compare(ctx, a, b);
	return d ? d : (a > b) - (a < b);
}

/* place[row that came i-th] = its number in the order of ids, or GONE; *sorted: the rows in that order. */
static int64_t *places(struct pd_rows *rows, uint32_t **sorted)
{
	uint32_t *order = pd_alloc(rows->n * sizeof *order);
	int64_t *place = pd_alloc(rows->n * sizeof *place);
	int64_t next = 0;
	for (size_t i = 0; i < rows->n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, rows->n, sizeof *order, by_id, rows);
	for (size_t i = 0; i < rows->n; i++)
		place[order[i]] = i && compare(rows, order[i - 1], order[i]) == 0 ? GONE : next++;
	rows->repeated = rows->n - (size_t)next;
	*sorted = order;
	return place;
}

static void move_words(uint64_t **v, const int64_t *place, size_t n, size_t left)
{
	if (!*v)
		return;
	uint64_t *moved = pd_alloc(left * sizeof *moved);
	for (size_t i = 0; i < n; i++)
		if (place[i] != GONE)
			moved[place[i]] = (*v)[i];
	free(*v);
	*v = moved;
}

static void move_offsets(struct pd_offsets *o, const int64_t *place, size_t n, size_t left)
{
	struct pd_offsets moved = { pd_alloc(left * sizeof *moved.low), pd_alloc(left * sizeof *moved.high) };
	for (size_t i = 0; i < n; i++) {
		if (place[i] == GONE)
			continue;
		moved.low[place[i]] = o->low[i];
		moved.high[place[i]] = o->high[i];
	}
	free(o->low);
	free(o->high);
	*o = moved;
}

/* An id that stands on both sides is on both. */
static void move_sides(struct pd_rows *rows, const int64_t *place, const uint32_t *order, size_t left)
{
	if (!rows->side)
		return;
	uint8_t *moved = pd_zalloc(left + 1);
	size_t at = 0;
	for (size_t i = 0; i < rows->n; i++) {
		at = place[order[i]] == GONE ? at : (size_t)place[order[i]];
		moved[at] |= rows->side[order[i]];
	}
	free(rows->side);
	rows->side = moved;
}

/* A set's rows, ascending again. */
static void move_set(struct pd_row_set *s, const int64_t *place, size_t n_rows)
{
	size_t w = (size_t)s->words, n = 0;
	int64_t *at = pd_alloc(n_rows * sizeof *at);	/* new row -> where it stands in the set */
	uint32_t *row = pd_alloc(s->n * sizeof *row);
	uint64_t *keys = pd_alloc(s->n * w * sizeof *keys);
	for (size_t i = 0; i < n_rows; i++)
		at[i] = GONE;
	for (size_t i = 0; i < s->n; i++)
		if (place[pd_set_row(s, (uint32_t)i)] != GONE)
			at[place[pd_set_row(s, (uint32_t)i)]] = (int64_t)i;
	for (size_t i = 0; i < n_rows; i++) {
		if (at[i] == GONE)
			continue;
		row[n] = (uint32_t)i;
		memcpy(keys + n * w, s->keys + (size_t)at[i] * w, w * sizeof *keys);
		n++;
	}
	free(at);
	free(s->row);
	free(s->keys);
	s->row = row;
	s->keys = keys;
	s->n = n;
}

void pd_rows_order(struct pd_rows *rows)
{
	if (in_order(rows))
		return;
	size_t came = rows->n;
	uint32_t *order;
	int64_t *place = places(rows, &order);
	size_t left = came - rows->repeated;
	move_sides(rows, place, order, left);
	free(order);
	move_set(&rows->prints, place, came);
	move_set(&rows->digests, place, came);
	move_words(&rows->host, place, came, left);
	move_offsets(&rows->at, place, came, left);
	rows->n = left;
	free(place);
}
