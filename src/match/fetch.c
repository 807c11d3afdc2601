/* SPDX-License-Identifier: MIT
 *
 * Decompress blocks of key files, and read parts of text files again, each once and on threads; keep the requested
 * lines in sequence.
 */
#include "match/fetch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/threads.h"
#include "row/table.h"
#include "match/plain.h"

#define STRETCH (64 * PD_KEYFILE_BLOCK) /* rows that a thread fetches at a time, of one file */
#define AT_ONCE ((size_t)1 << 20)	/* bytes of a file of text that are read together */
#define LINE 4096			/* as long as most are */

/* The lines that a thread read from its part. */
struct fetched {
	struct pd_buf text, raw; /* lines, and the buffer from which they were cut */
	struct pd_buf at;	 /* where each line begins in `text` */
	struct pd_unpacker *unpacker;
	struct pd_err err;
};

struct fetching {
	struct pd_rows *rows;
	struct pd_rows_late *late;
	const struct pd_late_file *file; /* the one at work */
	size_t end;			 /* behind its last row */
	int fd;				 /* of text */
	struct fetched *threads;
	struct pd_turns *turns;
	uint64_t bytes; /* of lines so far */
	size_t n;	/* lines */
	int status;
	struct pd_err err;
};

static bool is_wanted(const struct pd_rows *rows, size_t row)
{
	return rows->there[row / 64] >> (row % 64) & 1;
}

/* The first requested row from `row` on; `end`: n */
static size_t next_wanted(const struct pd_rows *rows, size_t row, size_t end)
{
	while (row < end) {
		uint64_t bits = rows->there[row / 64] >> (row % 64);
		if (bits) {
			row += (size_t)__builtin_ctzll(bits);
			return row < end ? row : end;
		}
		row = (row / 64 + 1) * 64;
	}
	return end;
}

static void add_line(struct fetched *t, const struct pd_span *f, const int columns[PD_ROW_VIEWED])
{
	uint32_t at = (uint32_t)t->text.n;
	pd_buf_add(&t->at, &at, sizeof at);
	pd_tsv_join(&t->text, f, columns, PD_ROW_VIEWED);
	pd_buf_add_c(&t->text, '\n');
}

static int fetch_keys(struct fetching *g, size_t from, size_t to, struct fetched *t)
{
	static const int as_kept[PD_ROW_VIEWED] = { PD_ROW_ID,	       PD_ROW_URL,     PD_ROW_FETCH_TIME,
						    PD_ROW_TEXT_BYTES, PD_ROW_QUALITY, PD_ROW_CONTENT_DIGEST };
	const struct pd_keyfile *k = g->file->keys;
	int status = PD_OK;
	t->unpacker = t->unpacker ? t->unpacker : pd_unpacker_new();
	for (size_t row = next_wanted(g->rows, from, to); !status && row < to;) {
		size_t block = (row - g->file->row) / PD_KEYFILE_BLOCK, first = g->file->row + block * PD_KEYFILE_BLOCK;
		size_t last = first + PD_KEYFILE_BLOCK < to ? first + PD_KEYFILE_BLOCK : to;
		status = pd_keyfile_unpack(k, t->unpacker, block, g->file->path, &t->raw, &t->err);
		for (; !status && row < last; row = next_wanted(g->rows, row + 1, to)) {
			struct pd_span f[PD_ROW_FIELDS];
			status = pd_keyfile_row(k, &t->raw, row - g->file->row, g->file->path, f, &t->err);
			if (!status)
				add_line(t, f, as_kept);
		}
	}
	return status;
}

static int fail_changed(const struct pd_late_file *file, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_INPUT, "%s was changed while it was read", file->path);
}

enum { NO_COLUMN = PD_TABLE_COLUMNS_MAX };

/* The columns of the fields that pairs carry, in a row's file. */
struct viewed {
	int column[PD_ROW_VIEWED];
	size_t until; /* the row from which on the columns have another order */
};

static struct viewed viewed_at(const struct pd_late_file *file, size_t row)
{
	size_t i = file->n_columns - 1;
	while (i > 0 && file->columns[i].row > row)
		i--;
	struct viewed v = { .until = i + 1 < file->n_columns ? file->columns[i + 1].row : SIZE_MAX };
	for (int w = 0; w < PD_ROW_VIEWED; w++) {
		v.column[w] = NO_COLUMN;
		for (int at = 0; at < file->columns[i].n; at++)
			if (file->columns[i].order[at] == pd_row_kept[w])
				v.column[w] = at;
	}
	return v;
}

/* False: the line is not a row any more. */
static bool add_text_row(struct fetched *t, struct pd_span line, const struct viewed *v)
{
	struct pd_span f[PD_TABLE_COLUMNS_MAX + 1];
	line.n -= line.n && line.p[line.n - 1] == '\r';
	for (size_t n = pd_tsv_fields(line, f, PD_TABLE_COLUMNS_MAX); n <= NO_COLUMN; n++)
		f[n] = pd_span(NULL, 0);
	add_line(t, f, v->column);
	return f[v->column[PD_ROW_ID]].n;
}

static uint64_t text_at(const struct fetching *g, size_t row)
{
	return pd_rows_offset(&g->late->at, row);
}

/* Return the line of a row, from t->raw, which begins at byte *at of the file, or is refilled up to the row `last`
 * and beyond. */
static int text_line(struct fetching *g, struct fetched *t, size_t row, size_t last, uint64_t *at, struct pd_span *line)
{
	uint64_t from = text_at(g, row), to = text_at(g, last) + LINE;
	for (size_t more = to - from < AT_ONCE ? (size_t)(to - from) : AT_ONCE;; more *= 2) {
		if (from >= *at && from < *at + t->raw.n) {
			const char *p = t->raw.p + (from - *at), *end = memchr(p, '\n', t->raw.n - (size_t)(from - *at));
			*line = pd_span(p, (size_t)((end ? end : t->raw.p + t->raw.n) - p));
			if (end || *at + t->raw.n >= (uint64_t)g->file->st.st_size)
				return PD_OK;
		}
		pd_buf_clear(&t->raw);
		*at = from;
		if (!pd_plain_read(g->fd, from, from + more, &t->raw))
			return pd_fail_errno(&t->err, "cannot read %s", g->file->path);
		if (!t->raw.n)
			return fail_changed(g->file, &t->err);
	}
}

static int fetch_text(struct fetching *g, size_t from, size_t to, struct fetched *t)
{
	struct viewed v = { .until = 0 };
	struct pd_span line;
	uint64_t at = 0;
	size_t last = to - 1;
	int status = PD_OK;
	pd_buf_clear(&t->raw);
	while (last > from && !is_wanted(g->rows, last))
		last--;
	for (size_t row = next_wanted(g->rows, from, to); !status && row < to; row = next_wanted(g->rows, row + 1, to)) {
		if (row >= v.until)
			v = viewed_at(g->file, row);
		status = text_line(g, t, row, last, &at, &line);
		if (!status && !add_text_row(t, line, &v))
			status = fail_changed(g->file, &t->err);
	}
	return status;
}

/* In order: append the fetched lines to the earlier ones. */
static void keep(struct fetching *g, struct fetched *t, int status)
{
	struct pd_rows *rows = g->rows;
	size_t n = t->at.n / sizeof(uint32_t);
	if (status && !g->status) {
		g->status = status;
		g->err = t->err;
	}
	if (g->status || !n)
		return;
	rows->spool = pd_array_room(&g->late->text, rows->budget, g->bytes + t->text.n);
	memcpy(rows->spool + g->bytes, t->text.p, t->text.n);
	rows->at.low = pd_array_room(&rows->memory.low, rows->budget, (g->n + n) * sizeof *rows->at.low);
	rows->at.high = pd_array_room(&rows->memory.high, rows->budget, (g->n + n) * sizeof *rows->at.high);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = g->bytes + ((const uint32_t *)t->at.p)[i];
		rows->at.low[g->n] = (uint32_t)at;
		rows->at.high[g->n++] = (uint8_t)(at >> 32);
	}
	g->bytes += t->text.n;
}

static void fetch_stretch(void *ctx, size_t i, int thread)
{
	struct fetching *g = ctx;
	struct fetched *t = &g->threads[thread];
	size_t from = g->file->row + i * STRETCH, to = from + STRETCH < g->end ? from + STRETCH : g->end;
	int status = PD_OK;
	pd_buf_clear(&t->text);
	pd_buf_clear(&t->at);
	if (!__atomic_load_n(&g->status, __ATOMIC_RELAXED) && next_wanted(g->rows, from, to) < to)
		status = g->file->keys ? fetch_keys(g, from, to, t) : fetch_text(g, from, to, t);
	pd_turns_wait(g->turns, i);
	keep(g, t, status);
	pd_turns_end(g->turns, i);
}

/* The bytes must be the same as at the first reading. */
static int open_text(struct fetching *g)
{
	const struct stat *was = &g->file->st;
	struct stat st;
	g->fd = open(g->file->path, O_RDONLY | O_CLOEXEC);
	if (g->fd < 0 || fstat(g->fd, &st) < 0)
		return pd_fail_errno(&g->err, "cannot read %s", g->file->path);
	if (st.st_dev != was->st_dev || st.st_ino != was->st_ino || st.st_size != was->st_size ||
	    st.st_mtim.tv_sec != was->st_mtim.tv_sec || st.st_mtim.tv_nsec != was->st_mtim.tv_nsec)
		return fail_changed(g->file, &g->err);
	return PD_OK;
}

static int fetch_file(struct fetching *g, const struct pd_late_file *file, size_t end, int threads)
{
	g->file = file;
	g->end = end;
	g->fd = -1;
	if (next_wanted(g->rows, file->row, end) == end)
		return PD_OK;
	g->status = file->keys ? PD_OK : open_text(g);
	if (!g->status) {
		g->turns = pd_turns_new();
		pd_parallel(threads, (end - file->row + STRETCH - 1) / STRETCH, fetch_stretch, g);
		pd_turns_free(g->turns);
	}
	if (g->fd >= 0)
		close(g->fd);
	return g->status;
}

static void count_before(struct pd_rows *rows)
{
	uint32_t before = 0;
	rows->before = pd_array_room(&rows->late->before, rows->budget, (rows->n / 64 + 1) * sizeof *rows->before);
	for (size_t i = 0; i <= rows->n / 64; i++) {
		rows->before[i] = before;
		before += (uint32_t)__builtin_popcountll(rows->there[i]);
	}
}

uint64_t *pd_rows_wanted(struct pd_rows *rows)
{
	size_t bytes = (rows->n / 64 + 1) * sizeof *rows->there;
	rows->there = pd_array_room(&rows->late->there, rows->budget, bytes);
	memset(rows->there, 0, bytes);
	return rows->there;
}

int pd_rows_fetch(struct pd_rows *rows, int threads, struct pd_err *e)
{
	struct pd_rows_late *l = rows->late;
	struct fetching g = { .rows = rows, .late = l };
	int status = PD_OK;
	threads = threads > 1 ? threads : 1;
	g.threads = pd_zalloc((size_t)threads * sizeof *g.threads);
	for (size_t i = 0; !status && i < l->n; i++)
		status = fetch_file(&g, &l->file[i], i + 1 < l->n ? l->file[i + 1].row : rows->n, threads);
	rows->spool_size = g.bytes;
	count_before(rows);
	for (int i = 0; i < threads; i++) {
		pd_buf_release(&g.threads[i].text);
		pd_buf_release(&g.threads[i].raw);
		pd_buf_release(&g.threads[i].at);
		pd_unpacker_free(g.threads[i].unpacker);
	}
	free(g.threads);
	pd_array_release(&l->low);
	pd_array_release(&l->high);
	if (status)
		*e = g.err;
	return status ? status : pd_budget_check(rows->budget, e);
}
