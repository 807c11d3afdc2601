/* SPDX-License-Identifier: MIT
 *
 * Tables: rows as columns in the layout of Apache Arrow.  Rows are added as the text of a stage or as values, and
 * are returned as columns or as the same text.
 */
#include "api/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "row/table.h"
#include "row/write.h"
#include "run/rows.h"

/* --- columns --- */

_Static_assert((int)PD_COLUMN_NUMBER == PAGEDEDUP_UINT64 && (int)PD_COLUMN_REAL == PAGEDEDUP_FLOAT64 &&
		       (int)PD_COLUMN_TEXT == PAGEDEDUP_TEXT && (int)PD_COLUMN_BYTES == PAGEDEDUP_BYTES,
	       "columns are returned unchanged");

struct pd_column *pd_api_column_add(struct pagededup_table *t, const char *name, int type, int width, enum pd_column_print print,
				    bool in_rows)
{
	t->v = pd_realloc(t->v, (t->n_columns + 1) * sizeof *t->v);
	struct pd_column *c = &t->v[t->n_columns++];
	pd_column_init(c, name, (enum pd_column_type)type, width, print);
	c->in_rows = in_rows;
	return c;
}

/* --- tables of pages --- */

struct api_table {
	pagededup_model *model;
	unsigned with;
};

static int fill_table(void *handle, void *ctx, struct pd_err *e)
{
	struct pagededup_table *t = handle;
	const struct api_table *a = ctx;
	const struct pd_tables *tables = &a->model->tables;
	int sketch = tables->fingerprints ? pd_sketch_words(&a->model->options.sketch) * 8 : 0;
	t->with = a->with;
	t->handle.model = a->model;
	pd_buf_add_span(&t->header, pd_buf_span(&a->model->header));
	for (int i = 0; i < PD_FP_COLUMNS; i++) {
		struct pd_column_kind kind = pd_column_kind(pd_fp_columns[i]);
		int width = kind.type != PD_COLUMN_BYTES ? 0
			    : i == PD_FP_SKETCH		 ? (sketch ? sketch : 64)
							 : a->model->options.sign.bits / 8;
		if (i == PD_FP_FINGERPRINT && a->model->options.sign.bits == 64)
			kind.type = PD_COLUMN_NUMBER;
		pd_api_column_add(t, pd_fp_columns[i], (int)kind.type, width, kind.print, true);
	}
	for (int i = 0; i < tables->methods.n; i++)
		pd_api_column_add(t, tables->methods.v[i].method->name, PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, true);
	if (t->with & PAGEDEDUP_WITH_TITLE)
		pd_api_column_add(t, "title", PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, false);
	if (t->with & PAGEDEDUP_WITH_MAIN_TEXT)
		pd_api_column_add(t, "text", PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, false);
	if (t->with & PAGEDEDUP_WITH_VISIBLE_TEXT)
		pd_api_column_add(t, "visible_text", PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, false);
	return PD_OK;
}

static void release_table(void *handle)
{
	struct pagededup_table *t = handle;
	for (int i = 0; i < t->n_workers; i++)
		pagededup_worker_free(t->workers[i]);
	free(t->workers);
	for (size_t i = 0; i < t->n_columns; i++)
		pd_column_release(&t->v[i]);
	free(t->v);
	pd_buf_release(&t->header);
	pd_buf_release(&t->text);
	pd_buf_release(&t->scratch);
}

int pd_api_table_new(pagededup_table **out, pd_api_fill *fill, void *ctx, pagededup_error *error)
{
	return pd_api_new((void **)out, PD_API_TABLE, sizeof **out, release_table, fill, ctx, error);
}

int pagededup_table_new(pagededup_table **out, pagededup_model *model, unsigned with, pagededup_error *error)
{
	if (out)
		*out = NULL;
	if (with & ~(PAGEDEDUP_WITH_TITLE | PAGEDEDUP_WITH_MAIN_TEXT | PAGEDEDUP_WITH_VISIBLE_TEXT))
		return pd_api_fail(error, PD_ERR_VERSION, "columns that this version of the library does not know");
	return pd_api_new_of(model, (void **)out, PD_API_TABLE, sizeof **out, release_table, fill_table,
			     &(struct api_table){ model, with }, error);
}

void pagededup_table_free(pagededup_table *t)
{
	pd_api_free(t, PD_API_TABLE);
}

int pd_api_add_row(struct pagededup_table *t, struct pd_span row)
{
	struct pd_span fields[PD_TABLE_COLUMNS_MAX] = { { NULL, 0 } };
	size_t n = 0, at_field = 0;
	if (row.n && row.p[row.n - 1] == '\n')
		row.n--;
	for (size_t i = 0; i < t->n_columns; i++)
		n += t->v[i].in_rows;
	if (pd_tsv_fields(row, fields, PD_TABLE_COLUMNS_MAX) < n)
		return PD_ERR_FORMAT;
	int status = PD_OK;
	for (size_t i = 0; !status && i < t->n_columns; i++)
		if (t->v[i].in_rows)
			status = pd_column_put_field(&t->v[i], fields[at_field++], &t->scratch);
	t->rows++;
	return status;
}

static struct pd_column *column_named(const struct pagededup_table *t, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (!strcmp(t->v[i].name.p, name))
			return &t->v[i];
	return NULL;
}

/* A row of `fp`, its title and its texts: the input of a table from a worker. */
struct page_parts {
	uint32_t row, title, text, visible; /* bytes that follow */
};

static int add_parts(struct pagededup_table *t, struct pd_span bytes)
{
	struct page_parts p;
	memcpy(&p, bytes.p, sizeof p);
	const char *from = bytes.p + sizeof p;
	int status = pd_api_add_row(t, pd_span(from, p.row));
	if (!status && t->with & PAGEDEDUP_WITH_TITLE)
		pd_column_put_text(column_named(t, "title"), pd_span(from + p.row, p.title));
	if (!status && t->with & PAGEDEDUP_WITH_MAIN_TEXT)
		pd_column_put_text(column_named(t, "text"), pd_span(from + p.row + p.title, p.text));
	if (!status && t->with & PAGEDEDUP_WITH_VISIBLE_TEXT)
		pd_column_put_text(column_named(t, "visible_text"), pd_span(from + p.row + p.title + p.text, p.visible));
	return status;
}

/* The worker's page, or the record if it is not a page. */
static void write_parts(struct pagededup_worker *w, unsigned with, const struct pd_record *record, struct pd_buf *out)
{
	struct page_parts p = { 0 };
	struct pd_pipeline *line = &w->pipeline;
	size_t from = out->n;
	pd_buf_add(out, &p, sizeof p);
	if (w->has_page)
		pd_page_fp_row(line, NULL, out);
	else {
		for (int i = 0; i < PD_FP_COLUMNS + line->tables->methods.n; i++) {
			if (i)
				pd_buf_add_c(out, '\t');
			if (i == PD_FP_ID)
				pd_tsv_add(out, pd_buf_span(&record->id));
			else if (i == PD_FP_URL)
				pd_tsv_add(out, pd_buf_span(&record->url));
			else if (i == PD_FP_FETCH_TIME)
				pd_tsv_add(out, pd_buf_span(&record->fetch_time));
			else
				pd_buf_add_z(out, i == PD_FP_FLAGS ? "no-page" : "-");
		}
		pd_buf_add_c(out, '\n');
	}
	p.row = (uint32_t)(out->n - from - sizeof p);
	if (with & PAGEDEDUP_WITH_TITLE && w->has_page) {
		pd_buf_add_span(out, line->blocks.meta.title);
		p.title = (uint32_t)line->blocks.meta.title.n;
	}
	if (with & PAGEDEDUP_WITH_MAIN_TEXT && w->has_page) {
		pd_buf_add_span(out, pd_buf_span(&line->topic.text));
		p.text = (uint32_t)line->topic.text.n;
	}
	if (with & PAGEDEDUP_WITH_VISIBLE_TEXT && w->has_page) {
		size_t begin = out->n;
		pd_blocks_visible(&line->blocks, PD_VISIBLE_TITLE, out);
		p.visible = (uint32_t)(out->n - begin);
	}
	memcpy(out->p + from, &p, sizeof p);
}

/* --- signing into a table --- */

struct api_filling {
	struct pagededup_table *t;
	pagededup_worker *worker; /* pair that has the next row as its page */
	const struct pd_buf *parts;
	/* or many pages, by threads: */
	const pagededup_input *inputs;
	pagededup_reader *reader;
	uint64_t n, most; /* returned, and the maximum */
	bool more;
	int threads;
	struct pd_err *err;
};

/* One thread of many. */
struct filler {
	struct api_filling *all;
	struct pagededup_worker *w;
	struct pd_record record;
};

static int check_model(const struct pagededup_table *t, const struct pagededup_model *m, struct pd_err *e)
{
	if (!t->handle.model)
		return pd_fail(e, PD_ERR_USAGE, "pages cannot be added to this table; use one from pagededup_table_new");
	return m && m != t->handle.model ? pd_fail(e, PD_ERR_PARAMS, "the table belongs to another model") : PD_OK;
}

static int describe(void *ctx, struct pd_err *e)
{
	struct api_filling *f = ctx;
	pd_buf_clear(&f->worker->row);
	write_parts(f->worker, f->t->with, NULL, &f->worker->row);
	return PD_OK;
}

static int add_page_parts(void *ctx, struct pd_err *e)
{
	struct api_filling *f = ctx;
	int status = check_model(f->t, f->worker->handle.model, e);
	return status ? status : add_parts(f->t, pd_buf_span(f->parts));
}

int pagededup_table_add(pagededup_table *t, pagededup_worker *w, pagededup_error *error)
{
	const struct pd_api_use uses[] = { PD_API_ALONE(TABLE, t), PD_API_ALONE(WORKER, w) };
	int status = pd_api_enter(uses, 2, error);
	if (status)
		return status;
	struct api_filling f = { .t = t, .worker = w, .parts = &w->row };
	if (!w->has_page)
		status = pd_api_fail(error, PD_ERR_USAGE, "the worker has no page; sign one first");
	else
		status = pd_api_call(NULL, describe, &f, error);
	if (!status)
		status = pd_api_call(NULL, add_page_parts, &f, error);
	return pd_api_leave(uses, 2, status);
}

static int next_input(void *shared, void *worker)
{
	struct api_filling *f = shared;
	struct filler *w = worker;
	if (f->n == f->most)
		return 0;
	pagededup_input input;
	int status = pd_api_take(&input, sizeof input, (const char *)f->inputs + f->n * f->inputs->size, f->err);
	if (!status && input.size != f->inputs->size)
		status = pd_fail(f->err, PD_ERR_USAGE, "the size of input %llu differs from the first one's",
				 (unsigned long long)f->n);
	if (!status)
		status = pd_api_check_input(&input, f->err);
	if (status)
		return status;
	f->n++;
	pd_api_input(&w->record, &input);
	return 1;
}

enum { THREADS_MAX = 1024 };

static void sign_one(void *worker, struct pd_buf *out)
{
	struct filler *f = worker;
	enum pd_skip skip = pd_api_sign(f->w, &f->record);
	if (!skip || f->all->inputs)
		write_parts(f->w, f->all->t->with, &f->record, out);
}

static int take_input(void *shared, const struct pd_buf *parts)
{
	struct api_filling *f = shared;
	int status = add_parts(f->t, pd_buf_span(parts));
	return status ? pd_fail(f->err, status, "a row cannot be read") : PD_OK;
}

static int next_of_dump(void *shared, void *worker)
{
	struct api_filling *f = shared;
	struct filler *w = worker;
	struct pagededup_reader *r = f->reader;
	if (f->most && f->n >= f->most) {
		f->more = true;
		return 0;
	}
	int status = r->ended ? 0 : pd_reader_next(r->reader, &w->record, f->err);
	r->ended |= status <= 0;
	r->has_record = false;
	if (status <= 0)
		return status;
	f->n += w->record.kind != PD_RECORD_OTHER;
	return 1;
}

static int take_of_dump(void *shared, const struct pd_buf *parts)
{
	return parts->n ? take_input(shared, parts) : PD_OK;
}

/* Workers are kept with the table for the next batch. */
static int make_workers(struct pagededup_table *t, int n, struct pd_err *e)
{
	pagededup_error error = { sizeof error };
	if (t->n_workers < n)
		t->workers = pd_realloc(t->workers, (size_t)n * sizeof *t->workers);
	while (t->n_workers < n) {
		int status = pagededup_worker_new(&t->workers[t->n_workers], t->handle.model, &error);
		if (status)
			return pd_fail(e, status, "%s", error.text);
		t->n_workers++;
	}
	return PD_OK;
}

static int fill(void *ctx, struct pd_err *e)
{
	static const struct pd_pool_ops of_inputs = { next_input, sign_one, take_input },
					of_dump = { next_of_dump, sign_one, take_of_dump };
	struct api_filling *f = ctx;
	int n = f->threads > 0 ? f->threads : pd_cores(), status = check_model(f->t, f->reader ? f->reader->handle.model : NULL, e);
	if (f->inputs && (uint64_t)n > f->most / 4 + 1)
		n = (int)(f->most / 4 + 1);
	if (!status)
		status = make_workers(f->t, n, e);
	if (status)
		return status;
	f->err = e;
	struct filler *w = pd_zalloc((size_t)n * sizeof *w);
	pd_local_mem void **workers = pd_zalloc((size_t)n * sizeof *workers);
	for (int i = 0; i < n; i++) {
		w[i] = (struct filler){ .all = f, .w = f->t->workers[i] };
		workers[i] = &w[i];
	}
	status = pd_pool_run(f->reader ? &of_dump : &of_inputs, f, workers, n);
	for (int i = 0; i < n; i++)
		pd_record_release(&w[i].record);
	free(w);
	return status ? status : f->more ? PAGEDEDUP_MORE : PD_OK;
}

static int fill_none(void *ctx, struct pd_err *e)
{
	return PD_OK;
}

static int check_threads(int threads, pagededup_error *error)
{
	return threads < 0 || threads > THREADS_MAX
		       ? pd_api_fail(error, PD_ERR_USAGE, "the number of threads is from 1 to 1024, or 0 for all cores")
		       : PD_OK;
}

int pagededup_table_sign(pagededup_table *t, const pagededup_input *inputs, size_t n, int threads, pagededup_error *error)
{
	if (n && !inputs)
		return pd_api_fail(error, PD_ERR_USAGE, "no inputs: the array is NULL");
	if (n > PTRDIFF_MAX / sizeof *inputs)
		return pd_api_fail(error, PD_ERR_USAGE, "more inputs than memory can hold");
	int status = check_threads(threads, error);
	if (status)
		return status;
	return pd_api_call_alone(t, PD_API_TABLE, NULL, n ? fill : fill_none,
				 &(struct api_filling){ .t = t, .inputs = inputs, .most = n, .threads = threads }, error);
}

int pagededup_table_read(pagededup_table *t, pagededup_reader *reader, uint64_t most, int threads, pagededup_error *error)
{
	const struct pd_api_use uses[] = { PD_API_ALONE(TABLE, t), PD_API_ALONE(READER, reader) };
	int status = check_threads(threads, error);
	if (!status)
		status = pd_api_enter(uses, 2, error);
	if (status)
		return status;
	struct api_filling f = { .t = t, .reader = reader, .most = most, .threads = threads };
	return pd_api_leave(uses, 2, pd_api_call(reader->o.stop, fill, &f, error));
}

/* --- columns that come from elsewhere --- */

struct importing {
	const char *header;
	const pagededup_column *columns;
	size_t n_columns;
	uint64_t rows;
};

static const pagededup_column *import_named(const struct importing *in, const char *name)
{
	const pagededup_column *c = in->columns;
	for (size_t i = 0; i < in->n_columns; i++, c = pd_api_next_column(c))
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

const pagededup_column *pd_api_next_column(const pagededup_column *c)
{
	return (const pagededup_column *)((const char *)c + c->size);
}

/* A value has at most 64 bytes, so the size of this number of rows fits. */
static const uint64_t rows_max = INT64_MAX / 64;

static int check_text(const pagededup_column *c, uint64_t rows, struct pd_err *e)
{
	if (!rows)
		return PD_OK;
	if (!c->offsets)
		return pd_fail(e, PD_ERR_FORMAT, "column '%s' is incomplete: it has no offsets", c->name);
	if (c->offsets[0] < 0)
		return pd_fail(e, PD_ERR_FORMAT, "column '%s': its offsets begin below 0", c->name);
	for (uint64_t i = 0; i < rows; i++)
		if (c->offsets[i] > c->offsets[i + 1])
			return pd_fail(e, PD_ERR_FORMAT, "column '%s': its offsets do not ascend", c->name);
	if (c->offsets[rows] > c->offsets[0] && !c->data)
		return pd_fail(e, PD_ERR_FORMAT, "column '%s' is incomplete: it has no data", c->name);
	return c->data_bytes && (uint64_t)c->offsets[rows] > c->data_bytes
		       ? pd_fail(e, PD_ERR_FORMAT, "column '%s': its offsets end after its %llu bytes of data", c->name,
				 (unsigned long long)c->data_bytes)
		       : PD_OK;
}

static int check_values(const pagededup_column *c, uint64_t rows, struct pd_err *e)
{
	uint64_t width = c->type == PAGEDEDUP_BYTES ? (uint64_t)c->width : 8;
	if (c->type == PAGEDEDUP_BYTES && (c->width < 1 || c->width > 64))
		return pd_fail(e, PD_ERR_FORMAT, "column '%s': %d is not a valid number of bytes for a value", c->name, c->width);
	if (c->type != PAGEDEDUP_UINT64 && c->type != PAGEDEDUP_FLOAT64 && c->type != PAGEDEDUP_BYTES)
		return pd_fail(e, PD_ERR_FORMAT, "column '%s': %d is not a type", c->name, c->type);
	if (rows && !c->data)
		return pd_fail(e, PD_ERR_FORMAT, "column '%s' is incomplete: it has no data", c->name);
	return c->data_bytes && c->data_bytes / width < rows
		       ? pd_fail(e, PD_ERR_FORMAT, "column '%s' is incomplete: %llu bytes of data for %llu rows", c->name,
				 (unsigned long long)c->data_bytes, (unsigned long long)rows)
		       : PD_OK;
}

int pd_api_check_column(const pagededup_column *c, uint64_t rows, struct pd_err *e)
{
	return c->type == PAGEDEDUP_TEXT ? check_text(c, rows, e) : check_values(c, rows, e);
}

int pd_api_check_columns(const pagededup_column *columns, size_t n, uint64_t rows, struct pd_err *e)
{
	const pagededup_column *c = columns;
	pagededup_column one;
	int status = PD_OK;
	if (n && !columns)
		return pd_fail(e, PD_ERR_USAGE, "no columns: the array is NULL");
	if (n > PTRDIFF_MAX / sizeof *columns || rows > rows_max)
		return pd_fail(e, PD_ERR_USAGE, "more columns or rows than memory can hold");
	for (size_t i = 0; !status && i < n; i++, c = pd_api_next_column(c)) {
		status = pd_api_take(&one, sizeof one, c, e);
		if (!status && (one.size < sizeof one || one.size != columns->size))
			status = pd_fail(e, PD_ERR_USAGE, "column %zu of %zu has a wrong size; set its member 'size' to sizeof",
					 i + 1, n);
		if (!status && !one.name)
			status = pd_fail(e, PD_ERR_USAGE, "column %zu of %zu has no name", i + 1, n);
	}
	return status;
}

static int import_column(struct pagededup_table *t, const struct importing *in, const char *name, int type, int width,
			 enum pd_column_print print, bool in_rows, struct pd_err *e)
{
	const pagededup_column *from = import_named(in, name);
	int status = from ? pd_api_check_column(from, in->rows, e) : PD_OK;
	bool either = from && !strcmp(name, "fingerprint") && from->type == PAGEDEDUP_UINT64;
	if (!status && from && from->type != type && !either)
		status = pd_fail(e, PD_ERR_FORMAT, "column '%s' has another type than %s", name,
				 type == PAGEDEDUP_TEXT	     ? "text"
				 : type == PAGEDEDUP_FLOAT64 ? "64-bit floating point"
				 : type == PAGEDEDUP_BYTES   ? "bytes of one width"
							     : "unsigned 64-bit");
	if (!status && from && from->type == PAGEDEDUP_BYTES && from->width != 8 && from->width != 16 && from->width != 32 &&
	    from->width != 64)
		status = pd_fail(e, PD_ERR_FORMAT, "column '%s': %d is not a valid number of bytes for a value", name, from->width);
	if (status)
		return status;
	struct pd_column *to = pd_api_column_add(t, name, from ? from->type : type, from ? from->width : width, print, in_rows);
	for (uint64_t row = 0; row < in->rows; row++)
		if (from) {
			const char *data = from->data;
			uint64_t number;
			double real;
			if (!(!from->valid || (from->valid[row / 8] >> (row % 8) & 1))) {
				pd_column_put_null(to);
			} else if (from->type == PAGEDEDUP_TEXT) {
				struct pd_span s =
					pd_span(data + from->offsets[row], (size_t)(from->offsets[row + 1] - from->offsets[row]));
				if (s.n)
					pd_column_put_text(to, s);
				else
					pd_column_put_null(to);
			} else if (from->type == PAGEDEDUP_BYTES) {
				pd_column_put_bytes(to, data + row * (uint64_t)from->width);
			} else if (from->type == PAGEDEDUP_FLOAT64) {
				memcpy(&real, data + row * 8, 8);
				pd_column_put_real(to, real);
			} else {
				memcpy(&number, data + row * 8, 8);
				pd_column_put_number(to, number);
			}
		} else
			pd_column_put_null(to);
	return PD_OK;
}

/* Methods in the header have their own columns. */
static int import_methods(struct pagededup_table *t, const struct importing *in, struct pd_err *e)
{
	int status = PD_OK;
	for (int i = 0; !status && pd_sign_methods[i]; i++)
		if (pd_sign_methods[i]->kind != PD_SIGN_BITS && import_named(in, pd_sign_methods[i]->name))
			status = import_column(t, in, pd_sign_methods[i]->name, PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, true, e);
	return status;
}

/* Return the kind of rows that a header names, or NULL if it is of no kind that has an API. */
static const struct pd_table_columns *kind_of(struct pd_span header)
{
	static const enum pd_table_kind kinds[] = { PD_TABLE_FP, PD_TABLE_PAIRS, PD_TABLE_VERDICTS };
	struct pd_span word = { NULL, 0 };
	for (int i = 0; i < 3 && header.p; i++)
		pd_span_split(&header, ' ', &word);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (pd_span_is(word, pd_table_columns[kinds[i]].kind))
			return &pd_table_columns[kinds[i]];
	return NULL;
}

/* The reason of suspects among pairs.  Rows do not have this column. */
static struct pd_column *add_suspect_column(struct pagededup_table *t)
{
	return pd_api_column_add(t, PD_SUSPECT_MARK, PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, false);
}

static int fill_import(void *handle, void *ctx, struct pd_err *e)
{
	struct pagededup_table *t = handle;
	const struct importing *in = ctx;
	const struct pd_table_columns *rows = &pd_table_columns[PD_TABLE_FP];
	int status = pd_api_check_columns(in->columns, in->n_columns, in->rows, e);
	if (status)
		return status;
	if (in->header && *in->header)
		rows = strncmp(in->header, "# pagededup ", 12) ? NULL : kind_of(pd_span_z(in->header));
	if (!rows)
		return pd_fail(e, PD_ERR_FORMAT, "this is not a header of rows of pages, pairs or verdicts");
	bool pages = rows == &pd_table_columns[PD_TABLE_FP], pairs = rows == &pd_table_columns[PD_TABLE_PAIRS];
	if (!import_named(in, pages ? "fingerprint" : pairs ? "id_a" : "id"))
		return pd_fail(e, PD_ERR_FORMAT, "%s need a column '%s'", pages ? "pages" : rows->kind,
			       pages   ? "fingerprint"
			       : pairs ? "id_a"
				       : "id");
	pd_buf_add_z(&t->header, in->header ? in->header : "");
	for (int i = 0; !status && i < rows->n; i++) {
		struct pd_column_kind kind = pd_column_kind(rows->columns[i]);
		status = import_column(t, in, rows->columns[i], (int)kind.type, kind.type == PD_COLUMN_BYTES ? 64 : 0, kind.print,
				       true, e);
	}
	if (!status && pages)
		status = import_methods(t, in, e);
	if (!status && pairs)
		status = import_column(t, in, PD_SUSPECT_MARK, PAGEDEDUP_TEXT, 0, PD_PRINT_TEXT, false, e);
	t->rows = in->rows;
	return status;
}

int pagededup_table_import(pagededup_table **out, const char *header, const pagededup_column *columns, size_t n_columns,
			   uint64_t rows, pagededup_error *error)
{
	struct importing in = { header, columns, n_columns, rows };
	return pd_api_table_new(out, fill_import, &in, error);
}

/* --- rows as text --- */

struct parsing {
	struct pd_span text;
	bool pairs;
	struct pd_column *suspect;
	uint64_t line;
};

/* Set the width of a column of bytes from its first value; a fingerprint of 64 bits is a number. */
static void set_widths(struct pagededup_table *t, struct pd_span rest)
{
	struct pd_span line, fields[PD_TABLE_COLUMNS_MAX];
	size_t unknown = 0;
	for (size_t i = 0; i < t->n_columns; i++)
		unknown += t->v[i].type == PD_COLUMN_BYTES;
	while (unknown && rest.n && pd_span_split(&rest, '\n', &line)) {
		size_t n = line.n && line.p[0] != '#' ? pd_tsv_fields(line, fields, PD_TABLE_COLUMNS_MAX) : 0;
		for (size_t i = 0; i < n && i < t->n_columns; i++) {
			struct pd_column *c = &t->v[i];
			if (c->type != PD_COLUMN_BYTES || c->width || !pd_tsv_has(fields[i]))
				continue;
			c->width = fields[i].n / 2 <= 64 ? (int)(fields[i].n / 2) : 64;
			unknown--;
		}
	}
	for (size_t i = 0; i < t->n_columns; i++) {
		struct pd_column *c = &t->v[i];
		if (c->type == PD_COLUMN_BYTES && !strcmp(c->name.p, "fingerprint") && (!c->width || c->width == 8)) {
			c->type = PD_COLUMN_NUMBER;
			c->width = 0;
		} else if (c->type == PD_COLUMN_BYTES && !c->width) {
			c->width = 64;
		}
	}
}

/* Read the header: a line with the kind and the parameters, and the names of the columns, which may be missing. */
static int parse_header(struct pagededup_table *t, struct parsing *p, struct pd_err *e)
{
	static const char end[] = PD_ROW_ENDS;
	struct pd_span rest = p->text, line, name;
	const struct pd_table_columns *rows =
		pd_span_split(&rest, '\n', &line) && pd_span_istarts(line, "# pagededup ") ? kind_of(line) : NULL;
	if (!rows)
		return pd_fail(e, PD_ERR_FORMAT, "this is not a header of rows of pages, pairs or verdicts");
	p->line = 1;
	p->pairs = rows == &pd_table_columns[PD_TABLE_PAIRS];
	/* A table has no last line, so its header must not promise one. */
	if (line.n > sizeof end - 1 && !memcmp(line.p + line.n - (sizeof end - 1), end, sizeof end - 1))
		line.n -= sizeof end - 1;
	pd_buf_add_span(&t->header, line);
	pd_buf_add_c(&t->header, '\n');
	if (rest.n > 1 && rest.p[0] == '#' && rest.p[1] != ' ') {
		pd_span_split(&rest, '\n', &line);
		p->line++;
		pd_buf_add_span(&t->header, line);
		pd_buf_add_c(&t->header, '\n');
		for (line = pd_span(line.p + 1, line.n - 1);
		     t->n_columns < PD_TABLE_COLUMNS_MAX && pd_span_split(&line, '\t', &name);) {
			char z[64];
			snprintf(z, sizeof z, "%.*s", (int)name.n, name.p);
			struct pd_column_kind kind = pd_column_kind(z);
			pd_api_column_add(t, z, (int)kind.type, 0, kind.print, true);
		}
	} else {
		pd_row_names(rows->columns, &t->header);
		for (int i = 0; i < rows->n; i++) {
			struct pd_column_kind kind = pd_column_kind(rows->columns[i]);
			pd_api_column_add(t, rows->columns[i], (int)kind.type, 0, kind.print, true);
		}
	}
	p->text = rest;
	set_widths(t, rest);
	if (p->pairs)
		p->suspect = add_suspect_column(t);
	return PD_OK;
}

static int fill_parsed(void *handle, void *ctx, struct pd_err *e)
{
	static const char mark[] = "# " PD_SUSPECT_MARK " ";
	struct pagededup_table *t = handle;
	struct parsing *p = ctx;
	struct pd_span line, why;
	int status = parse_header(t, p, e);
	while (!status && p->text.n && pd_span_split(&p->text, '\n', &line)) {
		bool suspect = p->pairs && pd_span_starts(line, mark);
		p->line++;
		if (!line.n || (line.p[0] == '#' && !suspect))
			continue;
		if (suspect) {
			line = pd_span(line.p + sizeof mark - 1, line.n - (sizeof mark - 1));
			pd_span_split(&line, '\t', &why);
		}
		if (!line.p || pd_api_add_row(t, line))
			status = pd_fail(e, PD_ERR_FORMAT, "line %" PRIu64 ": this is not a row with the columns of the header",
					 p->line);
		else if (suspect)
			pd_column_put_text(p->suspect, why);
		else if (p->suspect)
			pd_column_put_null(p->suspect);
	}
	return status;
}

int pagededup_table_parse(pagededup_table **out, const char *text, size_t bytes, pagededup_error *error)
{
	struct parsing p = { .text = pd_span(text ? text : "", text ? bytes : 0) };
	return pd_api_table_new(out, fill_parsed, &p, error);
}

/* --- contents of a table --- */

uint64_t pagededup_table_rows(const pagededup_table *t)
{
	return pd_api_is(t, PD_API_TABLE) ? t->rows : 0;
}

size_t pagededup_table_columns(const pagededup_table *t)
{
	return pd_api_is(t, PD_API_TABLE) ? t->n_columns : 0;
}

int pagededup_table_column(const pagededup_table *t, size_t i, pagededup_column *out)
{
	const struct pd_api_use use = PD_API_SHARED(TABLE, t);
	int status = out ? pd_api_check_result(out, NULL) : PD_ERR_USAGE;
	if (!status)
		status = pd_api_enter(&use, 1, NULL);
	if (status)
		return status;
	if (i >= t->n_columns)
		return pd_api_leave(&use, 1, PD_ERR_NOT_FOUND);
	const struct pd_column *c = &t->v[i];
	static const uint64_t nothing;
	pagededup_column column = { .name = c->name.p,
				    .type = (int)c->type,
				    .width = c->width,
				    .data = c->data.p ? c->data.p : (const char *)&nothing,
				    .offsets = c->type == PD_COLUMN_TEXT ? (const int64_t *)(const void *)c->offsets.p : NULL,
				    .valid = c->nulls ? (const uint8_t *)c->valid.p : NULL,
				    .nulls = c->nulls,
				    .data_bytes = c->data.n };
	pd_api_give(out, &column, sizeof column);
	return pd_api_leave(&use, 1, PD_OK);
}

int pagededup_table_find(const pagededup_table *t, const char *name, pagededup_column *out)
{
	const struct pd_api_use use = PD_API_SHARED(TABLE, t);
	int status = name && out ? pd_api_enter(&use, 1, NULL) : PD_ERR_USAGE;
	if (status)
		return status;
	const struct pd_column *c = column_named(t, name);
	return pd_api_leave(&use, 1, c ? pagededup_table_column(t, (size_t)(c - t->v), out) : PD_ERR_NOT_FOUND);
}

const char *pagededup_table_header(const pagededup_table *t)
{
	return pd_api_is(t, PD_API_TABLE) ? pd_buf_z(&t->header) : "";
}

static int print_all(void *ctx, struct pd_err *e)
{
	struct pagededup_table *t = ctx;
	bool any = false;
	const struct pd_column *suspect = NULL;
	for (size_t i = 0; i < t->n_columns; i++) {
		any |= t->v[i].in_rows;
		suspect = !t->v[i].in_rows && !strcmp(t->v[i].name.p, PD_SUSPECT_MARK) ? &t->v[i] : suspect;
	}
	if (!any)
		return pd_fail(e, PD_ERR_USAGE, "pairs need a table of pages that has the text of its rows");
	pd_buf_clear(&t->text);
	for (uint64_t row = 0; row < t->rows; row++) {
		bool first = true;
		if (suspect && pd_column_has(suspect, row)) {
			pd_buf_add_z(&t->text, "# " PD_SUSPECT_MARK " ");
			pd_column_print(suspect, row, &t->text);
			pd_buf_add_c(&t->text, '\t');
		}
		for (size_t i = 0; i < t->n_columns; i++) {
			if (!t->v[i].in_rows)
				continue;
			if (!first)
				pd_buf_add_c(&t->text, '\t');
			first = false;
			pd_column_print(&t->v[i], row, &t->text);
		}
		pd_buf_add_c(&t->text, '\n');
	}
	return PD_OK;
}

int pagededup_table_text(pagededup_table *t, const char **text, size_t *bytes, pagededup_error *error)
{
	const struct pd_api_use use = PD_API_ALONE(TABLE, t);
	if (!text || !bytes)
		return pd_api_fail(error, PD_ERR_USAGE, "no place for the text: it is NULL");
	*text = "";
	*bytes = 0;
	int status = pd_api_enter(&use, 1, error);
	if (status)
		return status;
	status = pd_api_call(NULL, print_all, t, error);
	if (!status) {
		*text = pd_buf_z(&t->text);
		*bytes = t->text.n;
	}
	return pd_api_leave(&use, 1, status);
}

/* --- as a source of rows --- */

enum { PIECE = 1 << 16 };

void pd_api_rows_init(struct pd_api_rows *r, const struct pagededup_table *t, char side, const char *name)
{
	*r = (struct pd_api_rows){ .t = t, .side = side };
	snprintf(r->name, sizeof r->name, "%s", name);
}

void pd_api_rows_id(const struct pagededup_table *t, char side, uint64_t row, struct pd_buf *out)
{
	const struct pd_column *c = &t->v[PD_FP_ID];
	if (pd_column_has(c, row))
		pd_column_print(c, row, out);
	else
		pd_buf_printf(out, "%c:%" PRIu64, side, row);
}

static struct pd_span more_rows(void *ctx)
{
	struct pd_api_rows *r = ctx;
	pd_buf_clear(&r->text);
	if (!r->begun)
		pd_buf_add_span(&r->text, pd_buf_span(&r->t->header));
	r->begun = true;
	/* A call that has to end reads no more rows, and returns its status later. */
	for (; r->at < r->t->rows && r->text.n < PIECE && !pd_call_status(); r->at++) {
		const struct pd_column *v = r->t->v;
		for (size_t i = 0; i < r->t->n_columns; i++) {
			if (!v[i].in_rows)
				continue;
			if (i)
				pd_buf_add_c(&r->text, '\t');
			if (i == PD_FP_ID)
				pd_api_rows_id(r->t, r->side, r->at, &r->text);
			else
				pd_column_print(&v[i], r->at, &r->text);
		}
		pd_buf_add_c(&r->text, '\n');
	}
	return pd_buf_span(&r->text);
}

struct pd_table_source pd_api_rows_source(struct pd_api_rows *r)
{
	return (struct pd_table_source){ .name = r->name, .more = more_rows, .ctx = r };
}

/* --- verdicts and answers --- */

void pd_api_verdict_columns(struct pagededup_table *t, const char *const *names)
{
	for (; *names; names++) {
		struct pd_column_kind kind = pd_column_kind(*names);
		pd_api_column_add(t, *names, (int)kind.type, 0, kind.print, true);
	}
}
