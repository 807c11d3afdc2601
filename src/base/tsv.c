/* SPDX-License-Identifier: MIT */
#include "base/tsv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/parquet_rows.h"
#include "base/fields.h"
#include "base/file.h"

/* --- lines -> rows with columns by name; comment lines that are not ours are passed over --- */

static void order_from_names(struct pd_tsv_reader *r, const struct pd_span *names, size_t n)
{
	r->n_order = (int)n;
	for (r->n_columns = 0; r->columns[r->n_columns]; r->n_columns++)
		;
	for (size_t i = 0; i < n; i++) {
		r->order[i] = -1;
		for (int c = 0; r->columns[c]; c++)
			if (pd_span_is(names[i], r->columns[c]))
				r->order[i] = c;
	}
}

/* Number of columns that rows of a kind ("fp", …) had in the first version: rows without column names may lack the
 * later ones.  `all` if no column was added. */
static int columns_at_first(const char *kind, int all)
{
	return !strcmp(kind, "fp")	   ? PD_FP_SUBJECT
	       : !strcmp(kind, "pairs")	   ? PD_PAIRS_CONTENT_DIGEST_A
	       : !strcmp(kind, "verdicts") ? PD_VERDICTS_CLUSTER_SIZE
	       : !strcmp(kind, "answers")  ? PD_ANSWERS_SUSPECT
					   : all;
}

/* Until a file declares its columns, rows have the order of version 1: rows can be read without their header. */
static void order_by_version_1(struct pd_tsv_reader *r)
{
	struct pd_span names[PD_TSV_COLUMNS_MAX];
	size_t n = 0;
	for (; r->v1_columns[n] && n < PD_TSV_COLUMNS_MAX; n++)
		names[n] = pd_span_z(r->v1_columns[n]);
	order_from_names(r, names, n);
	r->n_least = columns_at_first(r->kind, r->n_order);
}

/* A source as a stream. */
struct pd_tsv_stream {
	const struct pd_tsv_source *from;
	struct pd_span rest;
};

const struct pd_tsv_source *pd_tsv_source_find(struct pd_tsv_sources s, const char *path)
{
	for (int i = 0; i < s.n; i++)
		if (s.v[i].name == path)
			return &s.v[i];
	return NULL;
}

static ssize_t read_stream(void *stream, char *to, size_t room)
{
	struct pd_tsv_stream *s = stream;
	if (!s->rest.n)
		s->rest = s->from->more(s->from->ctx);
	size_t n = s->rest.n < room ? s->rest.n : room;
	if (n)
		memcpy(to, s->rest.p, n);
	s->rest.p += n;
	s->rest.n -= n;
	return (ssize_t)n;
}

static void open_stream(struct pd_tsv_reader *r, const struct pd_tsv_source *source)
{
	r->stream = pd_zalloc(sizeof *r->stream);
	r->stream->from = source;
	r->f = pd_check_alloc(fopencookie(r->stream, "r", (cookie_io_functions_t){ .read = read_stream }));
}

static int open_next(struct pd_tsv_reader *r, struct pd_err *e)
{
	int n = r->n_paths ? r->n_paths : 1;
	if (r->at >= n)
		return 0;
	r->path = r->n_paths ? r->paths[r->at] : "-";
	r->at++;
	r->line_no = 0;
	r->names_known = r->end_due = false;
	const struct pd_tsv_source *source = pd_tsv_source_find(r->sources, r->path);
	if (source) {
		open_stream(r, source);
	} else if (!strcmp(r->path, "-")) {
		r->f = stdin;
		r->path = "standard input";
	} else {
		r->f = pd_input_fopen(r->path, e);
		if (!r->f)
			return e->status;
	}
	pd_line_reader_start(&r->lines, r->f, r->path);
	order_by_version_1(r);
	int status = source ? PD_OK : pd_parquet_rows_open(&r->columns_in, r->f, r->path, e);
	return status ? status : 1;
}

static void close_file(struct pd_tsv_reader *r)
{
	if (r->f && r->f != stdin)
		fclose(r->f);
	r->f = NULL;
	free(r->stream);
	r->stream = NULL;
	pd_parquet_rows_close(r->columns_in);
	r->columns_in = NULL;
	r->left = pd_span(NULL, 0);
}

static const char *writer_of(const char *kind)
{
	static const char *const writers[][2] = {
		{ "fp", "fp" },	     { "pairs", "match" }, { "params", "url --learn-params" },	     { "sites", "sites" },
		{ "ranks", "rank" }, { "link", "link" },   { "sweep", "eval --sweep --format=tsv" }, { "verdicts", "cluster" }
	};
	size_t i = 0;
	while (i + 1 < sizeof writers / sizeof *writers && strcmp(kind, writers[i][0]) != 0)
		i++;
	return writers[i][1];
}

/* Files of columns, and rows in memory, have their own end mark. */
static void note_end_due(struct pd_tsv_reader *r)
{
	r->end_due =
		!r->parts && !r->columns_in && !r->stream && pd_span_is(pd_param(pd_buf_span(&r->header.recorded), "end"), "total");
}

int pd_tsv_end(struct pd_tsv_reader *r, struct pd_err *e)
{
	if (!r->end_due)
		return PD_OK;
	r->end_due = false;
	r->cut++;
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", r->path, r->line_no, PD_CUT_TABLE);
}

/* "pagededup fp 1 a=b c=d | e=f": kind, version, parameters. */
static int take_header_line(struct pd_tsv_reader *r, struct pd_span s, struct pd_err *e)
{
	struct pd_span kind, version;
	uint64_t v;
	if (!pd_span_split(&s, ' ', &kind) || !pd_span_split(&s, ' ', &version) || !pd_span_u64(version, &v))
		return pd_fail(e, PD_ERR_VERSION, "%s:%" PRIu64 ": the header line names no kind and version", r->path, r->line_no);
	if (!pd_span_is(kind, r->kind) && !(r->or_kind && pd_span_is(kind, r->or_kind)))
		return pd_fail(e, PD_ERR_VERSION, "%s holds %.*s rows, not the %s rows that 'pagededup %s' writes", r->path,
			       (int)kind.n, kind.p, r->kind, writer_of(r->kind));
	if (v > 1)
		return pd_fail(e, PD_ERR_VERSION, "%s: version %" PRIu64 " of %s rows; this program knows version 1", r->path, v,
			       r->kind);
	snprintf(r->header.kind, sizeof r->header.kind, "%.*s", (int)kind.n, kind.p);
	r->header.version = (int)v;
	/* A kind without MUST has the bar at once: "sites 1 | by=ip". */
	ptrdiff_t at = s.n && s.p[0] == '|' ? 0 : s.p ? pd_span_find(s, pd_span_z(" |")) : -1;
	struct pd_span must = at >= 0 ? pd_span(s.p, (size_t)at) : s;
	pd_buf_set(&r->header.must, pd_span_trim(must));
	size_t rest = at > 0 ? (size_t)at + 2 : 1;
	pd_buf_set(&r->header.recorded, at >= 0 ? pd_span_trim(pd_span(s.p + rest, s.n - rest)) : pd_span("", 0));
	r->new_header = true;
	int status = pd_tsv_end(r, e); /* of the table before this one */
	note_end_due(r);
	return status;
}

/* A line of column names has at least the two required columns; other comments are not ours. */
static void read_names(struct pd_tsv_reader *r, struct pd_span line)
{
	struct pd_span names[PD_TSV_COLUMNS_MAX];
	size_t n = pd_tsv_fields(line, names, PD_TSV_COLUMNS_MAX), needed = 0;
	for (size_t i = 0; i < n; i++)
		needed += pd_span_is(names[i], r->columns[0]) || pd_span_is(names[i], r->columns[1]);
	if (needed < 2)
		return;
	order_from_names(r, names, n);
	r->n_least = r->n_order;
	r->names_known = true;
}

/* A comment that contains a row, in the order of version 1. */
static int read_marked(struct pd_tsv_reader *r, struct pd_span rest, struct pd_err *e)
{
	struct pd_span f[PD_TSV_COLUMNS_MAX], mark;
	size_t n_columns = 0, n = 0;
	while (r->v1_columns[n_columns])
		n_columns++;
	if (!pd_span_split(&rest, '\t', &mark) || !mark.n ||
	    (n = pd_tsv_fields(rest, f, PD_TSV_COLUMNS_MAX)) < (size_t)columns_at_first(r->kind, (int)n_columns) ||
	    memchr(r->line.p, 0, r->line.n))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": not a row of %s after '# %s'", r->path, r->line_no, r->kind,
			       r->marked);
	for (size_t c = 0; r->columns[c]; c++) {
		r->fields[c] = pd_span(NULL, 0);
		for (size_t i = 0; i < n_columns && i < n; i++)
			if (!strcmp(r->columns[c], r->v1_columns[i]))
				r->fields[c] = f[i];
	}
	r->mark = mark;
	return 1;
}

/* Return the rest after "# WORD ", if the line begins with it. */
static bool is_marked(const struct pd_tsv_reader *r, struct pd_span line, struct pd_span *rest)
{
	size_t n = r->marked ? strlen(r->marked) : 0;
	if (!n || line.n < n + 3 || memcmp(line.p, "# ", 2) || memcmp(line.p + 2, r->marked, n) || line.p[n + 2] != ' ')
		return false;
	*rest = pd_span(line.p + n + 3, line.n - n - 3);
	return true;
}

static int read_comment(struct pd_tsv_reader *r, struct pd_span line, struct pd_err *e)
{
	struct pd_span rest;
	if (is_marked(r, line, &rest))
		return read_marked(r, rest, e);
	struct pd_span ours = pd_span_z("# pagededup "), total = pd_span_z("# total ");
	if (line.n >= ours.n && !memcmp(line.p, ours.p, ours.n))
		return take_header_line(r, pd_span(line.p + ours.n, line.n - ours.n), e);
	if (line.n >= total.n && !memcmp(line.p, total.p, total.n)) {
		pd_buf_add(&r->totals, line.p + total.n, line.n - total.n);
		pd_buf_add_c(&r->totals, '\n');
		r->end_due = false;
	} else {
		read_names(r, pd_span(line.p + 1, line.n - 1));
	}
	return PD_OK;
}

/* The first row of a file does not fit: explain the kind of the file, and the expected kind. */
static int no_rows(const struct pd_tsv_reader *r, struct pd_err *e)
{
	const char *writer = writer_of(r->kind);
	const char *or_else = r->or_else ? r->or_else : "";
	if (r->line.p[0] == '{')
		return pd_fail(e, PD_ERR_VERSION,
			       "%s holds JSONL, which cannot be read here: TSV is needed, 'pagededup %s' "
			       "without --format=jsonl%s",
			       r->path, writer, or_else);
	return pd_fail(e, PD_ERR_VERSION, "%s holds no %s rows: 'pagededup %s' writes them%s", r->path, r->kind, writer, or_else);
}

static int read_row(struct pd_tsv_reader *r, struct pd_err *e)
{
	struct pd_span file_fields[PD_TSV_COLUMNS_MAX];
	size_t n = pd_tsv_fields(r->line, file_fields, PD_TSV_COLUMNS_MAX);
	memset(r->fields, 0, r->n_columns * sizeof *r->fields);
	for (size_t i = 0; i < n && i < (size_t)r->n_order; i++)
		if (r->order[i] >= 0)
			r->fields[r->order[i]] = file_fields[i];
	bool cut = n < (size_t)r->n_least || memchr(r->line.p, 0, r->line.n);
	/* In a file without column names, the first row decides whether the file contains rows at all; files of
	 * columns have names. */
	if ((cut || r->columns_in) && !r->names_known)
		return no_rows(r, e);
	r->names_known = true;
	if (cut)
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": not a row of %s: %d columns expected, %zu found", r->path,
			       r->line_no, r->kind, r->n_order, n);
	return 1;
}

static int next_text_line(struct pd_tsv_reader *r, struct pd_err *e)
{
	int status = pd_line_next(&r->lines, &r->line, e); /* remove a CR that an editor added; a CR of a value is escaped */
	r->bytes = r->lines.bytes;
	r->line_no = r->lines.no;
	return status;
}

/* Unreadable rows count as one bad row, and reading continues after them. */
static int next_columns_line(struct pd_tsv_reader *r, struct pd_err *e)
{
	if (!r->left.n) {
		int status = pd_parquet_rows_next(r->columns_in, &r->left, &r->left_row, e);
		if (status <= 0)
			return status;
	}
	pd_span_split(&r->left, '\n', &r->line);
	r->bytes += r->line.n + 1;
	r->line_no = r->left_row++;
	return 1;
}

/* 1 a row, 0 no row yet, negative on error. */
static int take_line(struct pd_tsv_reader *r, struct pd_err *e)
{
	r->mark = pd_span(NULL, 0);
	if (!r->line.n)
		return 0;
	return r->line.p[0] == '#' ? read_comment(r, r->line, e) : read_row(r, e);
}

static int next_file_line(struct pd_tsv_reader *r, struct pd_err *e)
{
	int status = r->columns_in ? next_columns_line(r, e) : next_text_line(r, e);
	if (status == PD_ERR_FORMAT)
		return status;
	if (status <= 0) {
		close_file(r);
		return status ? status : pd_tsv_end(r, e);
	}
	return take_line(r, e);
}

void pd_tsv_begin(struct pd_tsv_reader *r, const char *path)
{
	close_file(r);
	r->path = path;
	r->line_no = 0;
	r->names_known = r->end_due = false;
	order_by_version_1(r);
}

int pd_tsv_line(struct pd_tsv_reader *r, struct pd_span line, struct pd_err *e)
{
	r->bytes += line.n + 1;
	r->line_no++;
	line.n -= line.n && line.p[line.n - 1] == '\r';
	r->line = line;
	return take_line(r, e);
}

int pd_tsv_next(struct pd_tsv_reader *r, struct pd_err *e)
{
	for (;;) {
		int s = r->f ? 1 : open_next(r, e);
		if (s <= 0)
			return s;
		s = next_file_line(r, e);
		if (s)
			return s;
	}
}

void pd_tsv_release(struct pd_tsv_reader *r)
{
	close_file(r);
	pd_line_reader_release(&r->lines);
	pd_buf_release(&r->header.must);
	pd_buf_release(&r->header.recorded);
	pd_buf_release(&r->totals);
}

void pd_tsv_add_bad(uint64_t bad, uint64_t cut, struct pd_buf *out)
{
	if (bad > cut) {
		pd_buf_add_z(out, ", ");
		pd_buf_count(out, bad - cut, "bad row");
		pd_buf_add_z(out, " left out");
	}
	if (cut) {
		pd_buf_add_z(out, ", ");
		pd_buf_count(out, cut, "table");
		pd_buf_add_z(out, " cut");
	}
}
