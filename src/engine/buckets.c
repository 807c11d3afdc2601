/* SPDX-License-Identifier: MIT */
#include "engine/buckets.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "write/write.h"

#define TOGETHER 65536	/* rows that are matched together; a bucket may have more */

/* --- rows that wait --- */

static FILE *new_file(const struct pd_engine_buckets *b, struct pd_err *e)
{
	struct pd_buf sketch = { 0 };
	FILE *f = pd_tempfile_open(b->task->tmp_dir, e);
	if (!f)
		return NULL;
	pd_sketch_print(&b->p->sketch, &sketch);
	fprintf(f, "# pagededup fp 1 %s | sketch=%s\n", pd_buf_z(&b->p->must), b->p->sketch.minima ? sketch.p : "none");
	pd_buf_release(&sketch);
	return f;
}

static int add_row(struct pd_engine_buckets *b, FILE **to, struct pd_span row, struct pd_err *e)
{
	if (!*to && !(*to = new_file(b, e)))
		return PD_ERR_SYSTEM;
	fwrite(row.p, 1, row.n, *to);
	putc('\n', *to);
	return PD_OK;
}

int pd_engine_buckets_add(struct pd_engine_buckets *b, struct pd_engine_table table, bool is_new, struct pd_span row, struct pd_err *e)
{
	bool other = table.kind != b->table.kind || table.number != b->table.number;
	if (is_new && b->n_waiting && (other || b->n_waiting >= TOGETHER)) {
		int status = pd_engine_buckets_end(b, e);
		if (status)
			return status;
	}
	b->table = table;
	b->n_waiting++;
	return add_row(b, &b->waiting, row, e);
}

int pd_engine_buckets_add_stored(struct pd_engine_buckets *b, struct pd_span row, struct pd_err *e)
{
	b->n_waiting++;
	return add_row(b, &b->against, row, e);
}

int pd_engine_buckets_add_new(struct pd_engine_buckets *b, struct pd_span row, struct pd_err *e)
{
	b->n_waiting++;
	return add_row(b, &b->waiting, row, e);
}

/* --- pairs --- */

/* Is it one of this table?  All rows of tables of fingerprints and of bands have a fingerprint. */
static bool belongs(const struct pd_engine_buckets *b, const struct pd_match_pair *pair)
{
	const struct pd_rows_set *set = &b->rows->prints;
	const size_t words = (size_t)set->words;
	switch (b->table.kind) {
	case 'h':
		return pair->distance > 0 && pd_engine_tables_first(b->tables, b->table.number, set->keys + pair->a * words, set->keys + pair->b * words);
	case 'b':
		return pair->distance > (b->p->match.candidates == PD_CANDIDATES_BOTH ? b->p->match.k : 0);
	default:
		return true;
	}
}

static void format_pairs(void *ctx, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	struct pd_engine_buckets *b = ctx;
	for (size_t i = 0; i < n; i++) {
		if (!belongs(b, &pairs[i]))
			continue;
		if (b->on_pair) {
			b->on_pair(b->ctx, b->rows, &pairs[i]);
			continue;
		}
		pd_buf_add_z(out, "p\t");
		pd_write_pair_rows(b->rows, &pairs[i], 1, out);
		b->follows[pairs[i].b] = 1;
		b->pairs++;
	}
}

static int write_out(void *ctx, const struct pd_buf *text)
{
	struct pd_engine_buckets *b = ctx;
	if (fwrite(text->p, 1, text->n, stdout) != text->n)
		return pd_fail_errno(&b->err, "cannot write standard output");
	return PD_OK;
}

/* As the rows of a table meet: all with all of their bucket.  Copies are linked to the first of them where all copies come together. */
static struct pd_match_options options_of(const struct pd_engine_buckets *b, struct pd_doubts *doubts)
{
	struct pd_match_options o = b->p->match;
	o.plan = PD_PLAN_AUTO;
	/* Of pairs that were found before, as the rows of a key are, none is in doubt. */
	o.doubts = o.verify.off || (b->table.kind == PD_ENGINE_AGAINST && !b->batch) ? NULL : doubts;
	if (b->table.kind == PD_ENGINE_AGAINST || b->table.kind == PD_ENGINE_INSIDE) {
		o.all_pairs = true;
		return o;
	}
	o.candidates = b->table.kind == 'b' ? PD_CANDIDATES_BANDS : PD_CANDIDATES_HAMMING;
	if (b->table.kind == 'e' || b->table.kind == 'd') {
		o.k = 0;
		return o;
	}
	o.all_pairs = true;
	o.band_only = b->table.kind == 'b' ? b->table.number + 1 : 0;
	return o;
}

/* Of each row what it is most like, as far as this table knows. */
static int write_doubts(struct pd_engine_buckets *b, const struct pd_doubts *doubts)
{
	struct pd_doubt d;
	struct pd_buf *out = &b->out;
	int status = PD_OK;
	for (uint32_t row = 0; !status && row < doubts->n; row++) {
		if (!pd_doubts_of(doubts, row, &d))
			continue;
		pd_buf_clear(out);
		struct pd_span id = pd_rows_view(b->rows, row).id;
		if (b->table.kind == PD_ENGINE_AGAINST)
			pd_buf_printf(out, "s.%016" PRIx64 "\t", pd_hash64(id.p, id.n));
		else
			pd_buf_add_z(out, "s\t");
		pd_buf_add_span(out, id);
		pd_buf_printf(out, "\t%04ld\t", lrint(d.similarity * 1000));
		pd_buf_add_span(out, pd_rows_view(b->rows, d.a == row ? d.b : d.a).id);
		pd_buf_printf(out, "\t%d\t", (int)d.result);
		pd_write_suspect_line(b->rows, &d, NULL, out);
		status = write_out(b, out);
	}
	return status;
}

/* Does the row of this id stand for others, and was it not written yet? */
static bool take_leader(struct pd_map *stays, struct pd_span id)
{
	uint32_t *state = pd_map_find(stays, pd_hash64(id.p, id.n));
	if (!state || *state)
		return false;
	*state = 1;
	return true;
}

/* The rows as they were handed on: read again, since less of them is kept for pairs. */
static int write_leaders(struct pd_engine_buckets *b)
{
	struct pd_engine_row row;
	struct pd_line_reader lines = { .f = b->waiting, .path = "a temporary file" };
	struct pd_span line;
	struct pd_map stays = { 0 };
	int more = 1, status = fseeko(b->waiting, 0, SEEK_SET) < 0 ? pd_fail_errno(&b->err, "cannot read a temporary file") : PD_OK;
	for (size_t i = 0; i < b->rows->n; i++) {
		struct pd_span id = pd_rows_view(b->rows, (uint32_t)i).id;
		if (!b->follows[i])
			pd_map_add(&stays, pd_hash64(id.p, id.n));
	}
	while (!status && (more = pd_line_next(&lines, &line, &b->err)) == 1) {
		if (!line.n || line.p[0] == '#')
			continue;
		status = pd_engine_row_parse(&row, line, NULL, &b->err);
		if (status || !row.has_print || !take_leader(&stays, row.f[PD_FP_ID]))
			continue;
		pd_buf_clear(&b->out);
		pd_buf_add_z(&b->out, "r\t");
		pd_buf_add_span(&b->out, line);
		pd_buf_add_c(&b->out, '\n');
		status = write_out(b, &b->out);
	}
	pd_line_reader_release(&lines);
	pd_map_release(&stays);
	return status ? status : more;
}

static int match_rows(struct pd_engine_buckets *b, struct pd_rows *rows)
{
	struct pd_doubts doubts = { 0 };
	struct pd_match_options o = options_of(b, &doubts);
	struct pd_match_stats stats;
	void *formatter = b;
	struct pd_match_sink sink = { .formatters = &formatter, .format = format_pairs, .write = write_out, .ctx = b };
	b->rows = rows;
	b->follows = pd_zalloc(rows->n + 1);
	if (o.doubts)
		pd_doubts_init(&doubts, PD_DOUBTS_ALL, rows);
	int status = pd_match(rows, &o, &sink, &stats, &b->err);
	if (!status && o.doubts)
		status = write_doubts(b, &doubts);
	if (!status && b->leaders)
		status = write_leaders(b);
	pd_doubts_release(&doubts);
	free(b->follows);
	b->follows = NULL;
	return status;
}

static int flush(FILE *f, struct pd_err *e)
{
	return f && (fflush(f) || ferror(f)) ? pd_fail_errno(e, "cannot write a temporary file (choose another place with --tmp-dir)") : PD_OK;
}

/* A file without a name, by the name that the system has for it. */
static char *name_of(FILE *f, struct pd_buf *out)
{
	pd_buf_printf(out, "/proc/self/fd/%d", fileno(f));
	return out->p;
}

int pd_engine_buckets_end(struct pd_engine_buckets *b, struct pd_err *e)
{
	struct pd_rows rows = { 0 };
	struct pd_buf names[2] = { { 0 }, { 0 } };
	struct pd_budget budget = { .limit = b->task->memory ? b->task->memory : pd_memory_default(), .tmp_dir = b->task->tmp_dir };
	size_t least = pd_memory_least(b->n_waiting, b->table.kind == 'b' || b->batch);
	if (!b->n_waiting || (!b->waiting && !b->batch))
		return PD_OK;
	budget.limit = budget.limit < least ? least : budget.limit;
	int status = flush(b->waiting, e);
	if (!status)
		status = flush(b->against, e);
	if (!status) {
		char *path = b->batch ? (char *)b->batch : name_of(b->waiting, &names[0]), *against = b->against ? name_of(b->against, &names[1]) : NULL;
		struct pd_rows_options in = { .paths = &path, .n_paths = 1, .against = &against, .n_against = b->against != NULL,
					      .tmp_dir = b->task->tmp_dir, .budget = &budget, .bad_row = pd_log_bad_row, .ctx = b->task->log };
		pd_inputs_forget();
		status = pd_rows_read(&rows, &in, e);
		if (!status && rows.bad)
			status = pd_fail(e, PD_ERR_INPUT, "rows that cannot be read: they are not of the task before this one");
	}
	if (!status && (status = match_rows(b, &rows)) != 0)
		*e = b->err;
	pd_rows_release(&rows);
	pd_buf_release(&names[0]);
	pd_buf_release(&names[1]);
	for (FILE **f = (FILE *[]){ b->waiting, b->against }, **end = f + 2; f < end; f++)
		if (*f)
			fclose(*f);
	b->waiting = b->against = NULL;
	b->n_waiting = 0;
	return status;
}

void pd_engine_buckets_release(struct pd_engine_buckets *b)
{
	if (b->waiting)
		fclose(b->waiting);
	if (b->against)
		fclose(b->against);
	pd_buf_release(&b->out);
}
