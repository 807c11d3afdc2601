/* SPDX-License-Identifier: MIT
 *
 * From a record to a page: undo HTTP, then decide whether it is one.  What can be decided from the header alone is
 * decided before anything is decoded.
 */
#include "read/page.h"

#include <stdlib.h>

#include "base/codec.h"
#include "read/http.h"
#include "read/sniff.h"

struct pd_page_opener {
	size_t max_page;
	struct pd_unpacker *unpacker;
	struct pd_buf chunks;		/* the body after transfer coding */
	struct pd_buf decoded[2];	/* after content codings, in turns */
	struct pd_buf reason;
};

/* Buffers over this are given back: one huge page must not stay with us. */
enum { KEEP = 1 << 23 };

struct pd_page_opener *pd_page_opener_new(size_t max_page)
{
	struct pd_page_opener *o = pd_zalloc(sizeof *o);
	o->max_page = max_page;
	o->unpacker = pd_unpacker_new();
	return o;
}

void pd_page_opener_free(struct pd_page_opener *o)
{
	if (!o)
		return;
	pd_unpacker_free(o->unpacker);
	pd_buf_release(&o->chunks);
	pd_buf_release(&o->decoded[0]);
	pd_buf_release(&o->decoded[1]);
	pd_buf_release(&o->reason);
	free(o);
}

const char *pd_skip_name(enum pd_skip s)
{
	static const char *const names[] = {
		[PD_SKIP_NONE] = "page",	     [PD_SKIP_KIND] = "other record",
		[PD_SKIP_STATUS] = "status not 200", [PD_SKIP_TYPE] = "neither HTML nor plain text",
		[PD_SKIP_EMPTY] = "empty",	     [PD_SKIP_DAMAGED] = "damaged",
	};
	return (unsigned)s < PD_SKIP_COUNT ? names[s] : "?";
}

enum type_said { SAID_HTML, SAID_TEXT, SAID_XML, SAID_NOTHING, SAID_OTHER };

static enum type_said said(struct pd_span media)
{
	static const struct {
		const char *name;
		enum type_said is;
	} types[] = {
		{ "text/html", SAID_HTML },	       { "application/xhtml+xml", SAID_HTML },
		{ "text/plain", SAID_TEXT },	       { "text/xml", SAID_XML },
		{ "application/xml", SAID_XML },       { "", SAID_NOTHING },
		{ "unknown/unknown", SAID_NOTHING },   { "application/unknown", SAID_NOTHING },
		{ "*/*", SAID_NOTHING },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (pd_span_ieq(media, types[i].name))
			return types[i].is;
	return SAID_OTHER;
}

static bool zlib_header(struct pd_span s)
{
	return s.n >= 2 && (s.p[0] & 15) == 8 && ((unsigned char)s.p[0] << 8 | (unsigned char)s.p[1]) % 31 == 0;
}

static int damaged(struct pd_page_opener *o, const char *what, struct pd_span coding)
{
	pd_buf_clear(&o->reason);
	pd_buf_printf(&o->reason, "%s: %.*s", what, coding.n < 40 ? (int)coding.n : 40, coding.p);
	return PD_ERR_INPUT;
}

/* One inflated layer; body becomes the decoded bytes. */
static int inflate_layer(struct pd_page_opener *o, struct pd_page *page, struct pd_buf *out, enum pd_codec codec)
{
	pd_buf_shrink(out, KEEP);
	int r = pd_unpack_all(o->unpacker, codec, page->body, o->max_page, out);
	if (!out->n && r < 0)
		return r;
	if (r == PD_ERR_LIMIT)
		page->flags |= PD_PAGE_CUT;
	else if (r < 0 && !(page->flags & PD_PAGE_CUT))
		page->flags |= PD_PAGE_TRUNCATED;
	page->body = pd_buf_span(out);
	return PD_OK;
}

static int undo_gzip(struct pd_page_opener *o, struct pd_page *page, struct pd_buf *out)
{
	if (pd_looks_gzip(page->body))
		return inflate_layer(o, page, out, PD_CODEC_GZIP);
	page->flags |= PD_PAGE_PLAIN_CODING;
	return PD_OK;
}

/* "deflate" should be zlib's format; some servers send the bare one. */
static int undo_deflate(struct pd_page_opener *o, struct pd_page *page, struct pd_buf *out)
{
	if (pd_looks_text(page->body)) {
		page->flags |= PD_PAGE_PLAIN_CODING;
		return PD_OK;
	}
	if (zlib_header(page->body) && inflate_layer(o, page, out, PD_CODEC_ZLIB) == PD_OK)
		return PD_OK;
	return inflate_layer(o, page, out, PD_CODEC_DEFLATE);
}

/* Codings that this version cannot undo; a body that is text already was stored decoded. */
static int undo_unknown(struct pd_page_opener *o, struct pd_page *page, struct pd_span coding)
{
	if (!pd_looks_text(page->body))
		return damaged(o, "content coding not supported by this version", coding);
	page->flags |= PD_PAGE_PLAIN_CODING;
	return PD_OK;
}

static int undo(struct pd_page_opener *o, struct pd_page *page, struct pd_span coding, struct pd_buf *out)
{
	int r = PD_OK;
	if (pd_span_ieq(coding, "gzip") || pd_span_ieq(coding, "x-gzip"))
		r = undo_gzip(o, page, out);
	else if (pd_span_ieq(coding, "deflate"))
		r = undo_deflate(o, page, out);
	else if (pd_span_ieq(coding, "br") || pd_span_ieq(coding, "zstd") || pd_span_ieq(coding, "compress") ||
		 pd_span_ieq(coding, "x-compress"))
		return undo_unknown(o, page, coding);
	/* Other names (identity, utf-8, none) are mistakes that change nothing. */
	return r < 0 ? damaged(o, "body cannot be decoded", coding) : r;
}

/* Codings are undone from the last to the first, a few at most. */
static int undo_codings(struct pd_page_opener *o, struct pd_page *page, struct pd_span list)
{
	for (int turn = 0; list.n && page->body.n && turn < 4; turn++) {
		const char *comma = memrchr(list.p, ',', list.n);
		size_t from = comma ? (size_t)(comma - list.p) + 1 : 0;
		struct pd_span coding = pd_span_trim(pd_span(list.p + from, list.n - from));
		int r = undo(o, page, coding, &o->decoded[turn & 1]);
		if (r < 0)
			return r;
		list.n = comma ? from - 1 : 0;
	}
	return PD_OK;
}

static void undo_chunks(struct pd_page_opener *o, const struct pd_record *in, struct pd_page *page,
			struct pd_span transfer)
{
	if (!pd_span_istarts(transfer, "chunked") || !page->body.n)
		return;
	pd_buf_shrink(&o->chunks, KEEP);
	enum pd_chunked r = pd_http_unchunk(page->body, SIZE_MAX, &o->chunks);
	if (r == PD_CHUNKED_NOT) {
		page->flags |= PD_PAGE_PLAIN_CODING;
		return;
	}
	if (r == PD_CHUNKED_SHORT && !in->cut)
		page->flags |= PD_PAGE_TRUNCATED;
	page->body = pd_buf_span(&o->chunks);
}

static void compare_length(const struct pd_record *in, const struct pd_http *h, struct pd_page *page)
{
	uint64_t n;
	if (!in->cut && !h->transfer_encoding.n && pd_span_u64(h->content_length, &n) && h->body.n < n)
		page->flags |= PD_PAGE_TRUNCATED;
}

/* Fills body and what the header says.  A response only. */
static enum pd_skip open_response(struct pd_page_opener *o, const struct pd_record *in, struct pd_http *h,
				  struct pd_page *page)
{
	if (!in->length)
		return PD_SKIP_EMPTY;
	if (!pd_http_parse(pd_buf_span(&in->block), h)) {
		pd_buf_clear(&o->reason);
		pd_buf_add_z(&o->reason, "no HTTP status line");
		return PD_SKIP_DAMAGED;
	}
	page->status = h->status;
	page->body = h->body;
	page->content_type = pd_media_type(h->content_type);
	page->charset = pd_media_charset(h->content_type);
	return h->status == 200 ? PD_SKIP_NONE : PD_SKIP_STATUS;
}

static enum pd_skip decide_type(struct pd_page *page, enum type_said s)
{
	enum pd_sniffed sniffed = s == SAID_NOTHING ? pd_sniff(page->body) : PD_SNIFF_OTHER;
	if (s == SAID_XML && pd_sniff_xhtml(page->body))
		sniffed = PD_SNIFF_HTML;
	if (s == SAID_HTML || sniffed == PD_SNIFF_HTML)
		page->type = PD_PAGE_HTML;
	else if (s == SAID_TEXT || sniffed == PD_SNIFF_TEXT)
		page->type = PD_PAGE_TEXT;
	else
		return PD_SKIP_TYPE;
	return PD_SKIP_NONE;
}

static void open_other(const struct pd_record *in, struct pd_page *page)
{
	struct pd_span type = pd_buf_span(&in->content_type);
	page->body = pd_buf_span(&in->block);
	page->content_type = pd_media_type(type);
	page->charset = pd_media_charset(type);
	/* WET text is UTF-8 by definition. */
	if (in->kind == PD_RECORD_TEXT && !page->charset.n)
		page->charset = pd_span_z("utf-8");
}

static void cut(struct pd_page_opener *o, struct pd_page *page)
{
	if (page->body.n <= o->max_page)
		return;
	page->body.n = o->max_page;
	page->flags |= PD_PAGE_CUT;
}

enum pd_skip pd_page_open(struct pd_page_opener *o, const struct pd_record *in, struct pd_page *out, const char **reason)
{
	struct pd_http h = { 0 };
	enum pd_skip skip = PD_SKIP_NONE;
	*out = (struct pd_page){ .id = pd_buf_span(&in->id), .url = pd_buf_span(&in->url),
				 .fetch_time = pd_buf_span(&in->fetch_time), .digest = pd_buf_span(&in->digest),
				 .flags = in->cut ? PD_PAGE_CUT : 0 };
	if (reason)
		*reason = "";
	if (in->kind == PD_RECORD_OTHER)
		return PD_SKIP_KIND;
	if (in->kind == PD_RECORD_RESPONSE)
		skip = open_response(o, in, &h, out);
	else
		open_other(in, out);
	enum type_said type = in->kind == PD_RECORD_TEXT && !out->content_type.n ? SAID_TEXT : said(out->content_type);
	if (skip == PD_SKIP_NONE && type == SAID_OTHER)
		skip = PD_SKIP_TYPE;
	if (skip == PD_SKIP_NONE && in->kind == PD_RECORD_RESPONSE) {
		compare_length(in, &h, out);
		undo_chunks(o, in, out, h.transfer_encoding);
	}
	out->payload = out->body;
	if (skip == PD_SKIP_NONE && undo_codings(o, out, h.content_encoding) < 0)
		skip = PD_SKIP_DAMAGED;
	if (reason && skip == PD_SKIP_DAMAGED)
		*reason = pd_buf_z(&o->reason);
	if (skip != PD_SKIP_NONE)
		return skip;
	cut(o, out);
	return out->body.n ? decide_type(out, type) : PD_SKIP_EMPTY;
}
