/* SPDX-License-Identifier: MIT
 *
 * Codings are undone from the last applied to the first.
 */
#include "read/coding.h"

#include <stdlib.h>

#include "base/codec.h"
#include "base/err.h"
#include "read/sniff.h"

/* KEEP: buffers over this are given back, one huge page must not stay with us.  TURNS: layers undone at most. */
enum { KEEP = 1 << 23, TURNS = 8 };

struct layers {
	struct pd_buf out[2];	/* in turns: one is read while the other is written */
	int turn;
};

struct pd_read_coder {
	size_t max_page;
	struct pd_unpacker *unpacker;
	struct pd_buf chunks;
	struct layers transfer, content;
	struct pd_buf reason;
};

/* What is being undone. */
struct work {
	struct pd_read_coder *c;
	struct pd_span *body;
	unsigned *flags;
};

struct pd_read_coder *pd_read_coder_new(size_t max_page)
{
	struct pd_read_coder *c = pd_zalloc(sizeof *c);
	c->max_page = max_page;
	c->unpacker = pd_unpacker_new();
	return c;
}

void pd_read_coder_free(struct pd_read_coder *c)
{
	if (!c)
		return;
	pd_unpacker_free(c->unpacker);
	pd_buf_release(&c->chunks);
	for (int i = 0; i < 2; i++) {
		pd_buf_release(&c->transfer.out[i]);
		pd_buf_release(&c->content.out[i]);
	}
	pd_buf_release(&c->reason);
	free(c);
}

const char *pd_read_coder_reason(const struct pd_read_coder *c)
{
	return pd_buf_z(&c->reason);
}

static int damaged(struct pd_read_coder *c, const char *what, struct pd_span coding)
{
	pd_buf_clear(&c->reason);
	pd_buf_printf(&c->reason, "%s: %.*s", what, coding.n < 40 ? (int)coding.n : 40, coding.p);
	return PD_ERR_INPUT;
}

/* The body stays as it is. */
static int as_it_is(struct work *w)
{
	*w->flags |= PD_PAGE_PLAIN_CODING;
	return PD_OK;
}

/* What unpacking gave becomes the body; `r` is how it ended. */
static int take(struct work *w, const struct pd_buf *out, int r)
{
	if (!out->n && r < 0)
		return r;
	if (r == PD_ERR_LIMIT)
		*w->flags |= PD_PAGE_CUT;
	else if (r < 0 && !(*w->flags & PD_PAGE_CUT))
		*w->flags |= PD_PAGE_TRUNCATED;
	*w->body = pd_buf_span(out);
	return PD_OK;
}

static int unpack(struct work *w, enum pd_codec codec, struct pd_buf *out)
{
	pd_buf_shrink(out, KEEP);
	return pd_unpack_all(w->c->unpacker, codec, *w->body, w->c->max_page, out);
}

/* Codings with magic bytes. */
static int undo_packed(struct work *w, enum pd_codec codec, struct pd_buf *out)
{
	return pd_looks_packed(codec, *w->body) ? take(w, out, unpack(w, codec, out)) : as_it_is(w);
}

static bool zlib_header(struct pd_span s)
{
	return s.n >= 2 && (s.p[0] & 15) == 8 && ((unsigned char)s.p[0] << 8 | (unsigned char)s.p[1]) % 31 == 0;
}

/* "deflate" should be zlib's format; some servers send the bare one. */
static int undo_deflate(struct work *w, struct pd_buf *out)
{
	if (pd_read_sniff_is_text(*w->body))
		return as_it_is(w);
	if (zlib_header(*w->body) && take(w, out, unpack(w, PD_CODEC_ZLIB, out)) == PD_OK)
		return PD_OK;
	return take(w, out, unpack(w, PD_CODEC_DEFLATE, out));
}

/* Nothing tells Brotli from text but that it can be read to its end, or to the limit. */
static int undo_brotli(struct work *w, struct pd_buf *out)
{
	int r = unpack(w, PD_CODEC_BROTLI, out);
	if (r != PD_OK && r != PD_ERR_LIMIT && pd_read_sniff_is_text(*w->body))
		return as_it_is(w);
	return take(w, out, r);
}

static int undo(struct work *w, struct pd_span coding, struct pd_buf *out)
{
	int r = PD_OK;
	if (pd_span_ieq(coding, "gzip") || pd_span_ieq(coding, "x-gzip"))
		r = undo_packed(w, PD_CODEC_GZIP, out);
	else if (pd_span_ieq(coding, "zstd"))
		r = undo_packed(w, PD_CODEC_ZSTD, out);
	else if (pd_span_ieq(coding, "deflate"))
		r = undo_deflate(w, out);
	else if (pd_span_ieq(coding, "br"))
		r = undo_brotli(w, out);
	else if (pd_span_ieq(coding, "compress") || pd_span_ieq(coding, "x-compress"))
		return pd_read_sniff_is_text(*w->body) ? as_it_is(w) :
						 damaged(w->c, "content coding not supported", coding);
	/* Other names (identity, utf-8, none) are mistakes that change nothing. */
	return r < 0 ? damaged(w->c, "body cannot be decoded", coding) : r;
}

static void undo_chunks(struct work *w)
{
	pd_buf_shrink(&w->c->chunks, KEEP);
	enum pd_read_http_chunked r = pd_read_http_unchunk(*w->body, SIZE_MAX, &w->c->chunks);
	if (r == PD_CHUNKED_NOT) {
		as_it_is(w);
		return;
	}
	if (r == PD_CHUNKED_SHORT && !(*w->flags & PD_PAGE_CUT))
		*w->flags |= PD_PAGE_TRUNCATED;
	*w->body = pd_buf_span(&w->c->chunks);
}

/* The buffers change turns only when the body now lies in one: a coding that left it as it was wrote nothing to keep. */
static int undo_layer(struct work *w, struct pd_span coding, struct layers *layers)
{
	struct pd_buf *out = &layers->out[layers->turn & 1];
	int r = undo(w, coding, out);
	layers->turn += w->body->p == out->p;
	return r;
}

static int undo_all(struct work *w, struct pd_read_http_codings list, struct layers *layers, bool transfer)
{
	struct pd_span coding;
	bool chunked = false;
	for (int turn = 0; turn < TURNS && w->body->n && pd_read_http_codings_pop(&list, &coding); turn++) {
		int r = PD_OK;
		if (!transfer || !pd_span_istarts(coding, "chunked"))
			r = undo_layer(w, coding, layers);
		else if (!chunked)
			undo_chunks(w);
		chunked |= transfer && pd_span_istarts(coding, "chunked");
		if (r < 0)
			return r;
	}
	return PD_OK;
}

int pd_read_coder_transfer(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags)
{
	struct work w = { c, body, flags };
	return undo_all(&w, list, &c->transfer, true);
}

int pd_read_coder_content(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags)
{
	struct work w = { c, body, flags };
	return undo_all(&w, list, &c->content, false);
}
