/* SPDX-License-Identifier: MIT */
#include "rows/rows.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/fields.h"
#include "base/tsv.h"

static bool is_said(struct pd_span s)
{
	return s.n && !pd_span_is(s, "-");
}

static double read_confidence(struct pd_span s)
{
	char text[16], *end;
	if (!is_said(s) || s.n >= sizeof text)
		return 1;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	double v = strtod(text, &end);
	return *end || !(v >= 0 && v <= 1) ? 1 : v;
}

uint64_t pd_rows_hash_language(struct pd_span languages)
{
	return is_said(languages) ? pd_hash64(languages.p, languages.n) | 1 : 0;
}

struct pd_facts pd_facts_read(struct pd_span url, struct pd_span terms, struct pd_span confidence, struct pd_span languages,
			      struct pd_span subject)
{
	struct pd_facts f = PD_FACTS_UNKNOWN;
	uint64_t n;
	if (pd_span_u64(terms, &n) && n <= INT64_MAX)
		f.terms = (int64_t)n;
	f.confidence = read_confidence(confidence);
	f.language = pd_rows_hash_language(languages);
	f.subject = pd_subject_parse(subject);
	pd_subject_set_url(&f.subject, url);
	return f;
}

struct pd_span pd_rows_line(const struct pd_rows *rows, uint32_t row)
{
	uint64_t at = pd_rows_offset(&rows->at, row);
	struct pd_span line = pd_span(rows->spool + at, rows->spool_size - at);
	line.n = (size_t)((const char *)memchr(line.p, '\n', line.n) - line.p);
	return line;
}

struct pd_rows_view pd_rows_view(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span f[5];
	pd_tsv_fields(pd_rows_line(rows, row), f, 5);
	return (struct pd_rows_view){ f[0], f[1], f[2], f[3], f[4] };
}

struct pd_span pd_rows_value(const struct pd_rows *rows, uint32_t row, int method)
{
	struct pd_span f[PD_ROW_FIELDS + PD_METHODS_MAX] = { { NULL, 0 } };
	int at = PD_ROW_FIELDS;
	for (int i = 0; i < method; i++)
		at += rows->methods.v[i].method->kind != PD_SIGN_BITS;
	pd_tsv_fields(pd_rows_line(rows, row), f, (size_t)at + 1);
	return f[at];
}

struct pd_facts pd_rows_facts(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span f[PD_ROW_FIELDS] = { { NULL, 0 } };
	if (!rows->spool)
		return PD_FACTS_UNKNOWN;
	pd_tsv_fields(pd_rows_line(rows, row), f, PD_ROW_FIELDS);
	return pd_facts_read(f[1], f[5], f[6], f[7], f[8]);
}

uint64_t pd_rows_hash_host(struct pd_span url, struct pd_buf scratch[2])
{
	struct pd_buf *value = &scratch[0], *host = &scratch[1];
	pd_tsv_value(url, value);
	pd_url_host(pd_buf_span(value), host);
	return pd_hash64(host->p, host->n);
}

uint64_t pd_rows_host(const struct pd_rows *rows, uint32_t row, struct pd_buf scratch[2])
{
	if (rows->realms == PD_REALM_HOST)
		return rows->realm[row];
	if (!rows->spool)
		return pd_hash64("", 0);
	return pd_rows_hash_host(pd_rows_view(rows, row).url, scratch);
}

/* A row set that was never spooled has no sketches. */
bool pd_rows_sketch(const struct pd_rows *rows, uint32_t row, struct pd_sketch *out)
{
	*out = (struct pd_sketch){ 0 };
	if (!rows->sketched || !rows->spool)
		return false;
	const char *line = rows->spool + pd_rows_offset(&rows->at, row);
	if (line[-1] != rows->sketch_kind)
		return false;
	size_t bytes = (size_t)pd_sketch_words(&rows->sketch) * sizeof *out->w;
	memcpy(out->w, line - 1 - sizeof(uint64_t) - bytes, bytes);
	out->present = true;
	return true;
}

#define REPEATED UINT32_MAX

static struct pd_span id_of(const struct pd_rows *rows, uint32_t row)
{
	const char *p = pd_rows_text(rows, row), *end = rows->spool + rows->spool_size;
	return pd_span(p, (size_t)((const char *)memchr(p, '\t', (size_t)(end - p)) - p));
}

static int compare_ids(const struct pd_rows *rows, uint32_t a, uint32_t b)
{
	return pd_page_id_cmp(id_of(rows, a), id_of(rows, b));
}

static bool in_order(const struct pd_rows *rows)
{
	struct pd_span last = { 0 };
	struct pd_page_id last_id = { 0 };
	for (size_t i = 0; i < rows->n; i++) {
		struct pd_span span = id_of(rows, (uint32_t)i);
		struct pd_page_id id = pd_page_id_parse(span);
		if (i && pd_page_id_order(&last_id, last, &id, span) >= 0)
			return false;
		last = span;
		last_id = id;
	}
	return true;
}

/* Two runs that follow each other -> one.  Of equal ids the one that came first stays first. */
static void merge_runs(const struct pd_rows *rows, const uint32_t *from, size_t middle, size_t n, uint32_t *to)
{
	size_t a = 0, b = middle;
	while (a < middle && b < n)
		*to++ = compare_ids(rows, from[a], from[b]) <= 0 ? from[a++] : from[b++];
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

/* An id that stands on both sides is on both. */
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
	uint32_t *at = pd_array_room(&at_memory, rows->budget, left * sizeof *at);	/* new row -> where it stands in the set */
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
	if (n == left) {	/* rows from 0 on need no numbers */
		pd_array_release(&rows->memory.row[which]);
		s->row = NULL;
	}
}

static const char *file_of(const struct pd_rows *rows, uint32_t row)
{
	size_t i = rows->n_origins;
	while (i > 1 && rows->origin[i - 1].row > row)
		i--;
	return i ? rows->origin[i - 1].path : "-";
}

/* Rows that share an id are one page, met twice; with other contents they are two, of which one would be lost.  order: the rows
 * sorted by id. */
static int check_repeated(const struct pd_rows *rows, const uint32_t *order, struct pd_err *e)
{
	for (size_t i = 1; i < rows->n; i++) {
		uint32_t a = order[i - 1], b = order[i];
		if (compare_ids(rows, a, b) != 0)
			continue;
		uint64_t x = pd_rows_content(rows, a), y = pd_rows_content(rows, b);
		if (x == y || !x || !y)
			continue;
		struct pd_span id = id_of(rows, a);
		return pd_fail(e, PD_ERR_INPUT, "the id %.*s stands for two pages, one in %s and one in %s: give ids another name where the "
			       "rows are made, standard input with 'fp --name=NAME', files by another path", id.n < 100 ? (int)id.n : 100, id.p,
			       file_of(rows, a), file_of(rows, b));
	}
	return PD_OK;
}

/* order: the rows sorted by id. */
static void renumber(struct pd_rows *rows, const uint32_t *order)
{
	struct pd_array memory = { 0 };
	uint32_t *place = pd_array_room(&memory, rows->budget, rows->n * sizeof *place), next = 0;
	for (size_t i = 0; i < rows->n; i++)
		place[order[i]] = i && compare_ids(rows, order[i - 1], order[i]) == 0 ? REPEATED : next++;
	move_sides(rows, place, order, next);
	move_set(rows, &rows->prints, 0, place, next);
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
	if (in_order(rows))
		return PD_OK;
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

void pd_rows_release(struct pd_rows *rows)
{
	if (rows->spool)
		munmap(rows->spool, rows->spool_size);
	struct pd_rows_memory *m = &rows->memory;
	struct pd_array *blocks[] = { &m->row[0], &m->row[1], &m->keys[0], &m->keys[1], &m->low, &m->high, &m->realm, &m->side };
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		pd_array_release(blocks[i]);
	pd_buf_release(&rows->must);
	pd_buf_release(&rows->totals);
	*rows = (struct pd_rows){ 0 };
}
