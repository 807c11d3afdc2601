/* SPDX-License-Identifier: MIT */
#include "rows/plain.h"

#include "base/file.h"
#include "base/hash.h"

bool pd_plain_read(int fd, uint64_t from, uint64_t to, struct pd_buf *out)
{
	ssize_t n = pd_pread(fd, pd_buf_reserve(out, (size_t)(to - from)), (size_t)(to - from), from);
	out->n += n > 0 ? (size_t)n : 0;
	return n >= 0;
}

#define MORE (64 * 1024)

/* The lines that begin between w->from and w->to; *skip: what stands before the first of them. */
static bool read_lines(struct pd_plain_worker *w, size_t *skip)
{
	struct pd_buf *t = &w->text;
	uint64_t from = w->from - (w->from > 0);
	const char *end;
	pd_buf_clear(t);
	*skip = 0;
	if (!pd_plain_read(w->plain->fd, from, w->to, t))
		return false;
	if (w->from) {
		end = memchr(t->p, '\n', t->n);
		*skip = end ? (size_t)(end + 1 - t->p) : t->n;
	}
	if (*skip == t->n)
		return true;
	for (size_t seen = t->n - 1; !(end = memchr(t->p + seen, '\n', t->n - seen));) {	/* where the last ends */
		seen = t->n;
		if (!pd_plain_read(w->plain->fd, from + seen, from + seen + MORE, t))
			return false;
		if (t->n == seen)
			return true;
	}
	t->n = (size_t)(end + 1 - t->p);
	return true;
}

static struct pd_span column_of(const struct pd_plain *p, const struct pd_span *f, size_t n, int column)
{
	int at = p->column[column];
	return at >= 0 && (size_t)at < n ? f[at] : pd_span(NULL, 0);
}

static bool is_said(struct pd_span s)
{
	return s.n && !pd_span_is(s, "-");
}

/* The kinds of sketches are counted alone. */
static bool count_sketch(const struct pd_plain *p, struct pd_span column, struct pd_plain_piece *out)
{
	struct pd_sketch s;
	if (!is_said(column))
		return true;
	if (!p->no_verify)
		return false;
	if (!p->sketch.minima || column.n != (size_t)pd_sketch_words(&p->sketch) * 16)
		out->others++;
	else if (pd_sketch_parse(&p->sketch, column, &s))
		out->sketched++;
	else
		return false;
	return true;
}

/* False: it is not plain. */
static bool parse_row(struct pd_plain_worker *w, struct pd_span line, struct pd_plain_piece *out)
{
	const struct pd_plain *p = w->plain;
	struct pd_span f[PD_TSV_COLUMNS_MAX];
	size_t n = pd_tsv_fields(line, f, PD_TSV_COLUMNS_MAX);
	struct pd_span hex = column_of(p, f, n, PD_FP_FINGERPRINT), id = column_of(p, f, n, PD_FP_ID), params = column_of(p, f, n, PD_FP_PARAMS);
	struct pd_key key;
	int bits;
	uint8_t kind = PD_PLAIN_NONE;
	if (n < p->least || !hex.n || !is_said(id) || (is_said(params) && params.n < sizeof p->params && !pd_span_is(params, p->params)) ||
	    !count_sketch(p, column_of(p, f, n, PD_FP_SKETCH), out) || (out->rows && pd_page_id_cmp(out->last, id) >= 0))
		return false;
	if (!pd_span_is(hex, "-")) {
		if (!pd_key_parse(hex, &bits, &key) || bits != p->bits)
			return false;
		kind = PD_PLAIN_PRINT;
		pd_buf_add(&w->print, key.w, (size_t)bits / 8);
		out->prints++;
	} else if (pd_key_parse(column_of(p, f, n, PD_FP_TEXT_DIGEST), &bits, &key) && bits == 128) {
		if (!p->no_verify)
			return false;
		kind = PD_PLAIN_DIGEST;
		pd_buf_add(&w->digest, key.w, 16);
		out->digests++;
	}
	if (!out->rows++)
		out->first = id;
	out->last = id;
	pd_buf_add_c(&w->kind, (char)kind);
	return true;
}

static bool parse_lines(struct pd_plain_worker *w, struct pd_span text, struct pd_plain_piece *out)
{
	const char *p = text.p, *end = p + text.n;
	if (memchr(p, 0, text.n))
		return false;
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct pd_span line = pd_span(p, (size_t)((stop ? stop : end) - p));
		uint32_t at = (uint32_t)(p - text.p);
		if (!line.n || *p == '#' || p[line.n - 1] == '\r' || !parse_row(w, line, out))
			return false;
		pd_buf_add(&w->at, &at, sizeof at);
		out->lines++;
		p += line.n + 1;
	}
	return true;
}

void pd_plain_parse(struct pd_plain_worker *w, struct pd_buf *out)
{
	struct pd_plain_piece piece = { .plain = false };
	size_t skip;
	pd_buf_clear(&w->print);
	pd_buf_clear(&w->digest);
	pd_buf_clear(&w->at);
	pd_buf_clear(&w->kind);
	piece.failed = !read_lines(w, &skip);
	struct pd_span text = pd_span(w->text.p + skip, w->text.n - skip);
	piece.from = w->from - (w->from > 0) + skip;
	piece.to = piece.from + text.n;
	piece.plain = !piece.failed && text.n && parse_lines(w, text, &piece);
	pd_buf_add(out, &piece, sizeof piece);
	if (!piece.plain)
		return;
	pd_buf_add(out, w->print.p, w->print.n);
	pd_buf_add(out, w->digest.p, w->digest.n);
	pd_buf_add(out, w->at.p, w->at.n);
	pd_buf_add(out, w->kind.p, w->kind.n);
	pd_buf_add_span(out, piece.first);
	pd_buf_add_span(out, piece.last);
}

struct pd_plain_piece pd_plain_unpack(const struct pd_buf *out)
{
	struct pd_plain_piece piece;
	memcpy(&piece, out->p, sizeof piece);
	if (!piece.plain)
		return piece;
	const char *p = out->p + sizeof piece, *end = out->p + out->n;
	piece.print = (const uint64_t *)p;
	size_t ids = piece.first.n + piece.last.n, rest = piece.digests * 16 + piece.rows * (sizeof *piece.at + sizeof *piece.kind) + ids;
	piece.digest = (const uint64_t *)(end - rest);
	piece.at = (const uint32_t *)(piece.digest + 2 * piece.digests);
	piece.kind = (const uint8_t *)(piece.at + piece.rows);
	piece.first.p = (const char *)(piece.kind + piece.rows);
	piece.last.p = piece.first.p + piece.first.n;
	return piece;
}

void pd_plain_worker_release(struct pd_plain_worker *w)
{
	struct pd_buf *b[] = { &w->text, &w->print, &w->digest, &w->at, &w->kind };
	for (size_t i = 0; i < sizeof b / sizeof *b; i++)
		pd_buf_release(b[i]);
}
