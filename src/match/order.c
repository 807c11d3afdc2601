/* SPDX-License-Identifier: MIT */
#include "match/order.h"

#include <stdlib.h>

#include "row/fields.h"

#define REPEATED UINT32_MAX

static struct pd_span id_of(const struct pd_rows *rows, uint32_t row)
{
	const char *p = pd_rows_text(rows, row), *end = rows->spool + rows->spool_size;
	return pd_span(p, (size_t)((const char *)memchr(p, '\t', (size_t)(end - p)) - p));
}

static bool have_one_id(const struct pd_rows *rows, uint32_t a, uint32_t b)
{
	return pd_span_eq(id_of(rows, a), id_of(rows, b));
}

/* An id is parsed once, for any number of comparisons. */
struct row_id {
	struct pd_span text;
	struct pd_page_id id;
};

static struct row_id read_id(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span text = id_of(rows, row);
	return (struct row_id){ text, pd_page_id_parse(text) };
}

static int compare_ids(const struct row_id *a, const struct row_id *b)
{
	return pd_page_id_order(&a->id, a->text, &b->id, b->text);
}

/* Merge two consecutive runs.  Of equal ids the earlier one stays first.  Runs that are already in order, like those
 * of one file, cost one comparison. */
static void merge_runs(const struct pd_rows *rows, const uint32_t *from, size_t middle, size_t n, uint32_t *to)
{
	size_t a = 0, b = middle;
	if (middle < n) {
		struct row_id last = read_id(rows, from[middle - 1]), y = read_id(rows, from[middle]);
		if (compare_ids(&last, &y) > 0) {
			struct row_id x = read_id(rows, from[0]);
			while (a < middle && b < n) {
				bool left = compare_ids(&x, &y) <= 0;
				*to++ = from[left ? a++ : b++];
				if (left && a < middle)
					x = read_id(rows, from[a]);
				else if (!left && b < n)
					y = read_id(rows, from[b]);
			}
		}
	}
	memcpy(to, from + a, (middle - a) * sizeof *to);
	memcpy(to + (middle - a), from + b, (n - b) * sizeof *to);
}

/* Rows sorted by id, stable, in one of two arrays. */
static uint32_t *sort_by_id(const struct pd_rows *rows, uint32_t *order, uint32_t *spare)
{
	for (size_t i = 0; i < rows->n; i++)
		order[i] = (uint32_t)i;
	for (size_t run = 1; run < rows->n; run *= 2) {
		for (size_t at = 0; at < rows->n; at += 2 * run) {
			size_t left = rows->n - at, n = left < 2 * run ? left : 2 * run;
			merge_runs(rows, order + at, n < run ? n : run, n, spare + at);
		}
		uint32_t *sorted = spare;
		spare = order;
		order = sorted;
	}
	return order;
}

/* An array by row -> the same by new row. */
static void move_array(void *array, struct pd_array *b, size_t elem, const uint32_t *place, const struct pd_rows *rows, size_t left)
{
	struct pd_array moved = { 0 };
	void **v = array;
	if (!*v)
		return;
	char *to = pd_array_room(&moved, rows->budget, left * elem);
	for (size_t i = 0; i < rows->n; i++)
		if (place[i] != REPEATED)
			memcpy(to + place[i] * elem, (const char *)*v + i * elem, elem);
	pd_array_release(b);
	*b = moved;
	*v = b->p;
}

/* An id on both sides is on both. */
static void move_sides(struct pd_rows *rows, const uint32_t *place, const uint32_t *order, size_t left)
{
	struct pd_array moved = { 0 };
	size_t at = 0;
	if (!rows->side)
		return;
	uint8_t *to = pd_array_room(&moved, rows->budget, left + 1);
	memset(to, 0, left + 1);
	for (size_t i = 0; i < rows->n; i++) {
		at = place[order[i]] == REPEATED ? at : place[order[i]];
		to[at] |= rows->side[order[i]];
	}
	pd_array_release(&rows->memory.side);
	rows->memory.side = moved;
	rows->side = to;
}

/* A set's rows, ascending again. */
static void move_set(struct pd_rows *rows, struct pd_rows_set *s, int which, const uint32_t *place, size_t left)
{
	struct pd_array at_memory = { 0 }, row_memory = { 0 }, keys_memory = { 0 };
	size_t w = (size_t)s->words, n = 0;
	uint32_t *at = pd_array_room(&at_memory, rows->budget, left * sizeof *at); /* new row -> its index in the set */
	uint32_t *row = pd_array_room(&row_memory, rows->budget, (s->n + 1) * sizeof *row);
	uint64_t *keys = pd_array_room(&keys_memory, rows->budget, (s->n + 1) * w * sizeof *keys);
	for (size_t i = 0; i < left; i++)
		at[i] = REPEATED;
	for (uint32_t i = 0; i < s->n; i++)
		if (place[pd_rows_set_row(s, i)] != REPEATED)
			at[place[pd_rows_set_row(s, i)]] = i;
	for (size_t i = 0; i < left; i++) {
		if (at[i] == REPEATED)
			continue;
		row[n] = (uint32_t)i;
		memcpy(keys + n * w, s->keys + at[i] * w, w * sizeof *keys);
		n++;
	}
	pd_array_release(&at_memory);
	pd_array_release(&rows->memory.row[which]);
	pd_array_release(&rows->memory.keys[which]);
	rows->memory.row[which] = row_memory;
	rows->memory.keys[which] = keys_memory;
	s->keys = keys;
	s->row = row;
	s->n = n;
	if (n == left) { /* rows from 0 on need no numbers */
		pd_array_release(&rows->memory.row[which]);
		s->row = NULL;
	}
}

static const char *origin_of(const struct pd_rows *rows, uint32_t row)
{
	size_t i = rows->n_origins;
	while (i > 1 && rows->origin[i - 1].row > row)
		i--;
	return i ? rows->origin[i - 1].path : "-";
}

/* Rows with the same id are one page that was read twice; if their contents differ, they are two pages, of which one
 * would be lost.  order: the rows sorted by id. */
static int check_repeated(const struct pd_rows *rows, const uint32_t *order, struct pd_err *e)
{
	for (size_t i = 1; i < rows->n; i++) {
		uint32_t a = order[i - 1], b = order[i];
		if (!have_one_id(rows, a, b))
			continue;
		uint64_t x = pd_rows_content(rows, a), y = pd_rows_content(rows, b);
		if (x == y || !x || !y)
			continue;
		struct pd_buf id = { 0 };
		pd_tsv_value(id_of(rows, a), &id);
		int status =
			pd_fail(e, PD_ERR_INPUT,
				"the id %.*s names two pages, one in %s and one in %s; make the rows again with different ids: "
				"with 'fp --name=NAME' for standard input, with different paths for files",
				id.n < 100 ? (int)id.n : 100, pd_buf_z(&id), origin_of(rows, a), origin_of(rows, b));
		pd_buf_release(&id);
		return status;
	}
	return PD_OK;
}

/* order: the rows sorted by id. */
static void renumber(struct pd_rows *rows, const uint32_t *order)
{
	struct pd_array memory = { 0 };
	uint32_t *place = pd_array_room(&memory, rows->budget, rows->n * sizeof *place), next = 0;
	for (size_t i = 0; i < rows->n; i++)
		place[order[i]] = i && have_one_id(rows, order[i - 1], order[i]) ? REPEATED : next++;
	move_sides(rows, place, order, next);
	move_set(rows, &rows->fingerprints, 0, place, next);
	move_set(rows, &rows->digests, 1, place, next);
	move_array(&rows->realm, &rows->memory.realm, sizeof *rows->realm, place, rows, next);
	move_array(&rows->at.low, &rows->memory.low, sizeof *rows->at.low, place, rows, next);
	move_array(&rows->at.high, &rows->memory.high, sizeof *rows->at.high, place, rows, next);
	rows->repeated = rows->n - next;
	rows->n = next;
	pd_array_release(&memory);
}

int pd_rows_order(struct pd_rows *rows, struct pd_err *e)
{
	struct pd_array order = { 0 }, spare = { 0 };
	uint32_t *a = pd_array_room(&order, rows->budget, rows->n * sizeof *a);
	uint32_t *b = pd_array_room(&spare, rows->budget, rows->n * sizeof *b);
	const uint32_t *sorted = sort_by_id(rows, a, b);
	int status = check_repeated(rows, sorted, e);
	if (!status)
		renumber(rows, sorted);
	pd_array_release(&order);
	pd_array_release(&spare);
	return status ? status : pd_budget_check(rows->budget, e);
}
