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

void pd_spooled_columns(struct pd_buf *out, const struct pd_span fields[PD_FP_COLUMNS])
{
	static const int kept[PD_ROW_FIELDS] = { PD_FP_ID,	   PD_FP_URL,	     PD_FP_FETCH_TIME,
						 PD_FP_TEXT_BYTES, PD_FP_QUALITY,    PD_FP_CONTENT_DIGEST,
						 PD_FP_TERMS,	   PD_FP_CONFIDENCE, PD_FP_LANGUAGES,
						 PD_FP_SUBJECT };
	size_t n = 0;
	for (int i = 0; i < PD_ROW_FIELDS; i++)
		n += fields[kept[i]].n + 2;
	char *to = pd_buf_reserve(out, n);
	for (int i = 0; i < PD_ROW_FIELDS; i++) {
		struct pd_span f = fields[kept[i]].n ? fields[kept[i]] : pd_span("-", 1);
		if (i)
			*to++ = '\t';
		memcpy(to, f.p, f.n);
		to += f.n;
	}
	*to = 0;
	out->n = (size_t)(to - out->p);
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
	struct pd_span of_file[PD_TABLE_COLUMNS_MAX], f[PD_FP_COLUMNS];
	size_t n = pd_tsv_fields(line, of_file, PD_TABLE_COLUMNS_MAX);
	struct pd_sketch sketch = { .present = false };
	struct pd_key key;
	int bits;
	uint8_t kind = PD_PLAIN_NONE;
	for (int c = 0; c < PD_FP_COLUMNS; c++)
		f[c] = p->column[c] >= 0 && (size_t)p->column[c] < n ? of_file[p->column[c]] : pd_span(NULL, 0);
	struct pd_span hex = f[PD_FP_FINGERPRINT], params = f[PD_FP_PARAMS], id = f[PD_FP_ID];
	if (n < p->least || !hex.n || !pd_tsv_has(id) ||
	    (pd_tsv_has(params) && params.n < sizeof p->params && !pd_span_is(params, p->params)))
		return false;
	/* Sketches of another kind are only counted. */
	if (pd_tsv_has(f[PD_FP_SKETCH])) {
		bool ours = p->sketch.minima && f[PD_FP_SKETCH].n == (size_t)pd_sketch_words(&p->sketch) * 16;
		if (p->prints_alone || (ours && !pd_sketch_parse(&p->sketch, f[PD_FP_SKETCH], &sketch)))
			return false;
		++*(ours ? &out->sketched : &out->others);
	}
	if (!out->rows)
		out->first = id;
	else
		out->ascends = out->ascends && pd_page_id_cmp(out->last, id) < 0;
	out->last = id;
	if (p->ascending && !out->ascends)
		return false;
	if (pd_tsv_has(hex)) {
		if (!pd_key_parse(hex, &bits, &key) || bits != p->bits)
			return false;
		kind = PD_PLAIN_PRINT;
		pd_buf_add(&w->print, key.w, (size_t)bits / 8);
		out->fingerprints++;
	} else if (pd_key_parse(f[PD_FP_TEXT_DIGEST], &bits, &key) && bits == 128) {
		if (p->prints_alone)
			return false;
		kind = PD_PLAIN_DIGEST;
		pd_buf_add(&w->digest, key.w, 16);
		out->digests++;
	}
	if (p->spooled) {
		pd_spooled_begin(w->out, sketch.w, (size_t)pd_sketch_words(&p->sketch), f[PD_FP_CONTENT_DIGEST],
				 sketch.present ? p->kind : 0);
		at = (uint32_t)(w->out->n - sizeof *out);
		pd_spooled_columns(w->out, f);
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
