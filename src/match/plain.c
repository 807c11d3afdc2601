/* SPDX-License-Identifier: MIT */
#include "match/plain.h"
#include "row/fields.h"

#include "base/file.h"
#include "base/hash.h"
#include "row/table.h"
#include "match/keyfile.h"

void pd_spooled_begin(struct pd_buf *out, const uint64_t *sketch, size_t words, struct pd_span content_digest, int kind)
{
	uint64_t content = pd_tsv_has(content_digest) ? pd_hash64(content_digest.p, content_digest.n) | 1 : 0;
	if (kind)
		pd_buf_add(out, sketch, words * sizeof *sketch);
	pd_buf_add(out, &content, sizeof content);
	pd_buf_add_c(out, (char)kind);
}

bool pd_plain_read(int fd, uint64_t from, uint64_t to, struct pd_buf *out)
{
	ssize_t n = pd_pread(fd, pd_buf_reserve(out, (size_t)(to - from)), (size_t)(to - from), from);
	out->n += n > 0 ? (size_t)n : 0;
	return n >= 0;
}

#define MORE (64 * 1024)

/* The lines that begin between w->from and w->to; *skip: the bytes before the first of them. */
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
	for (size_t seen = t->n - 1; !(end = memchr(t->p + seen, '\n', t->n - seen));) { /* end of the last one */
		seen = t->n;
		if (!pd_plain_read(w->plain->fd, from + seen, from + seen + MORE, t))
			return false;
		if (t->n == seen)
			return true;
	}
	t->n = (size_t)(end + 1 - t->p);
	return true;
}

/* `at`: where the line begins.  False: it is not plain. */
static bool parse_row(struct pd_plain_worker *w, struct pd_span line, uint32_t at, struct pd_plain_piece *out)
{
	const struct pd_plain *p = w->plain;
	struct pd_span of_file[PD_TABLE_COLUMNS_MAX], *f;
	size_t n = pd_tsv_fields(line, of_file, PD_TABLE_COLUMNS_MAX);
	struct pd_row row;
	struct pd_err why;
	uint8_t kind = PD_PLAIN_NONE;
	f = row.f;
	for (int c = 0; c < PD_FP_COLUMNS; c++)
		f[c] = p->column[c] >= 0 && (size_t)p->column[c] < n ? of_file[p->column[c]] : pd_span(NULL, 0);
	struct pd_span params = f[PD_FP_PARAMS], id = f[PD_FP_ID];
	if (n < p->least || pd_row_parse(&row, &p->sketch, &why) || (row.has_fingerprint && row.bits != p->bits) ||
	    (pd_tsv_has(params) && params.n < sizeof p->params && !pd_span_is(params, p->params)))
		return false;
	bool sketched = row.sketch.present || row.other_sketch;
	if (p->prints_alone && (sketched || row.has_digest))
		return false;
	if (sketched) /* sketches of another kind are only counted */
		++*(row.other_sketch ? &out->others : &out->sketched);
	if (!out->rows)
		out->first = id;
	else
		out->ascends = out->ascends && pd_page_id_cmp(out->last, id) < 0;
	out->last = id;
	if (p->ascending && !out->ascends)
		return false;
	if (row.has_fingerprint) {
		kind = PD_PLAIN_PRINT;
		pd_buf_add(&w->print, row.key.w, (size_t)row.bits / 8);
		out->fingerprints++;
	} else if (row.has_digest) {
		kind = PD_PLAIN_DIGEST;
		pd_buf_add(&w->digest, row.key.w, 16);
		out->digests++;
	}
	if (p->spooled) {
		pd_spooled_begin(w->out, row.sketch.w, (size_t)pd_sketch_words(&p->sketch), f[PD_FP_CONTENT_DIGEST],
				 row.sketch.present ? p->kind : 0);
		at = (uint32_t)(w->out->n - sizeof *out);
		pd_tsv_join(w->out, f, pd_row_kept, PD_ROW_FIELDS);
		pd_buf_add_c(w->out, '\n');
	}
	pd_buf_add(&w->at, &at, sizeof at);
	pd_buf_add_c(&w->kind, (char)kind);
	out->rows++;
	return true;
}

/* The parsed piece, in sequence: its header; rows in the form of the spool, padded to a multiple of eight; keys;
 * positions; kinds; two ids. */

static size_t padded(size_t n)
{
	return (n + 7) / 8 * 8;
}

void pd_plain_parse(void *worker, struct pd_buf *out)
{
	static const char zeros[8];
	struct pd_plain_worker *w = worker;
	struct pd_plain_piece piece = { .ascends = true };
	size_t skip;
	pd_buf_clear(&w->print);
	pd_buf_clear(&w->digest);
	pd_buf_clear(&w->at);
	pd_buf_clear(&w->kind);
	w->out = out;
	pd_buf_add(out, &piece, sizeof piece);
	piece.failed = !read_lines(w, &skip);
	struct pd_span text = pd_span(w->text.p + skip, w->text.n - skip);
	piece.from = w->from - (w->from > 0) + skip;
	piece.to = piece.from + text.n;
	piece.plain = !piece.failed && text.n && !memchr(text.p, 0, text.n);
	for (struct pd_span rest = text, line; piece.plain && rest.n; piece.lines++) {
		uint32_t at = (uint32_t)(rest.p - text.p);
		pd_span_split(&rest, '\n', &line);
		piece.plain = line.n && line.p[0] != '#' && line.p[line.n - 1] != '\r' && parse_row(w, line, at, &piece);
	}
	piece.spooled.n = out->n - sizeof piece;
	memcpy(out->p, &piece, sizeof piece);
	if (!piece.plain)
		return;
	pd_buf_add(out, zeros, padded(piece.spooled.n) - piece.spooled.n);
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
	piece.spooled.p = p;
	piece.print = (const uint64_t *)(p + padded(piece.spooled.n));
	size_t ids = piece.first.n + piece.last.n,
	       rest = piece.digests * 16 + piece.rows * (sizeof *piece.at + sizeof *piece.kind) + ids;
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
