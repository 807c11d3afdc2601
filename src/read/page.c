/* SPDX-License-Identifier: MIT
 *
 * A record -> a page: decode HTTP, then decide whether it is a page.  Decisions that depend only on the header are made
 * before anything is decoded.
 */
#include "read/page.h"

#include <stdlib.h>

#include "base/hash.h"
#include "read/sniff.h"

/* --- accepted statuses and types --- */

struct accept {
	uint64_t status[1000 / 64 + 1]; /* one bit for each */
	struct pd_buf types;		/* lower case, separated by commas */
};

static void add_status(struct accept *a, unsigned status)
{
	a->status[status / 64] |= UINT64_C(1) << (status % 64);
}

/* 206, or 2xx. */
static bool parse_status(struct accept *a, struct pd_span item)
{
	uint64_t n;
	if (item.n != 3 || item.p[0] < '1' || item.p[0] > '9')
		return false;
	if (pd_span_ieq(pd_span(item.p + 1, 2), "xx")) {
		for (unsigned i = 0; i < 100; i++)
			add_status(a, (unsigned)(item.p[0] - '0') * 100 + i);
		return true;
	}
	if (!pd_span_u64(item, &n))
		return false;
	add_status(a, (unsigned)n);
	return true;
}

static void accept_release(struct accept *a)
{
	pd_buf_release(&a->types);
}

static int accept_init(struct accept *a, const struct pd_page_options *o, struct pd_err *e)
{
	struct pd_span item, rest = pd_span_z(o->status ? o->status : "200");
	int r = PD_OK;
	*a = (struct accept){ 0 };
	while (!r && pd_span_split(&rest, ',', &item))
		if (!parse_status(a, pd_span_trim(item)))
			r = pd_fail(e, PD_ERR_USAGE, "--status takes a list such as 200,206 or 2xx, not '%s'", o->status);
	rest = pd_span_z(o->content_types ? o->content_types : "text/html,application/xhtml+xml,text/plain");
	while (!r && pd_span_split(&rest, ',', &item)) {
		item = pd_span_trim(item);
		bool good = item.n && memchr(item.p, '/', item.n); /* a type is one word with a slash in it */
		for (size_t i = 0; i < item.n && good; i++) {
			good = !pd_ascii_space(item.p[i]) && item.p[i] != ';';
			pd_buf_add_c(&a->types, pd_ascii_lower(item.p[i]));
		}
		pd_buf_add_c(&a->types, ',');
		if (!good)
			r = pd_fail(e, PD_ERR_USAGE, "--content-types takes a list such as text/html,text/plain, not '%s'",
				    o->content_types);
	}
	if (r)
		accept_release(a);
	return r;
}

static bool accepts_type(const struct accept *a, struct pd_span media)
{
	struct pd_span item, rest = pd_buf_span(&a->types);
	while (media.n && pd_span_split(&rest, ',', &item)) {
		size_t i = 0;
		while (i < item.n && i < media.n && item.p[i] == pd_ascii_lower(media.p[i]))
			i++;
		if (i == item.n && i == media.n)
			return true;
	}
	return false;
}

/* --- the opener --- */

struct pd_page_opener {
	size_t max_page;
	struct accept accept;
	struct pd_read_coder *coder;
};

struct pd_page_opener *pd_page_opener_new(const struct pd_page_options *o)
{
	struct pd_page_opener *p = pd_zalloc(sizeof *p);
	p->max_page = o->max_page;
	if (accept_init(&p->accept, o, NULL) < 0)
		accept_init(&p->accept, &(struct pd_page_options){ 0 }, NULL);
	p->coder = pd_read_coder_new(o->max_page);
	return p;
}

void pd_page_opener_free(struct pd_page_opener *o)
{
	if (!o)
		return;
	accept_release(&o->accept);
	pd_read_coder_free(o->coder);
	free(o);
}

int pd_page_options_check(const struct pd_page_options *o, struct pd_err *e)
{
	struct accept a;
	int r = accept_init(&a, o, e);
	accept_release(&a);
	return r;
}

const char *pd_skip_name(enum pd_skip s)
{
	static const char *const names[] = {
		[PD_SKIP_NONE] = "page",       [PD_SKIP_KIND] = "other record", [PD_SKIP_STATUS] = "other status",
		[PD_SKIP_TYPE] = "other type", [PD_SKIP_EMPTY] = "empty",	[PD_SKIP_DAMAGED] = "damaged",
	};
	return (unsigned)s < PD_SKIP_COUNT ? names[s] : "?";
}

/* --- type --- */

enum declared_type { DECLARED_HTML, DECLARED_TEXT, DECLARED_XML, DECLARED_NOTHING, DECLARED_OTHER };

static enum declared_type find_declared_type(struct pd_span media)
{
	static const struct {
		const char *name;
		enum declared_type is;
	} types[] = {
		{ "text/html", DECLARED_HTML },
		{ "application/xhtml+xml", DECLARED_HTML },
		{ "text/plain", DECLARED_TEXT },
		{ "text/xml", DECLARED_XML },
		{ "application/xml", DECLARED_XML },
		{ "", DECLARED_NOTHING },
		{ "unknown/unknown", DECLARED_NOTHING },
		{ "application/unknown", DECLARED_NOTHING },
		{ "*/*", DECLARED_NOTHING },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (pd_span_ieq(media, types[i].name))
			return types[i].is;
	return DECLARED_OTHER;
}

/* Decide by the bytes if no type was declared, or an accepted one that is not HTML or text by definition. */
static enum pd_sniffed sniff_type(const struct pd_page_opener *o, const struct pd_page *page, enum declared_type s)
{
	static const char *const named[] = { [PD_SNIFF_HTML] = "text/html", [PD_SNIFF_TEXT] = "text/plain" };
	enum pd_sniffed is = pd_sniff(page->body);
	if (s == DECLARED_NOTHING)
		return is && accepts_type(&o->accept, pd_span_z(named[is])) ? is : PD_SNIFF_OTHER;
	if (s == DECLARED_OTHER)
		return is;
	if (accepts_type(&o->accept, page->content_type))
		return PD_SNIFF_HTML;
	bool xhtml = accepts_type(&o->accept, pd_span_z("application/xhtml+xml"));
	return xhtml && pd_sniff_xhtml(page->body) ? PD_SNIFF_HTML : PD_SNIFF_OTHER;
}

/* Names of files that accompany pages and may contain tags, but are not pages. */
static bool has_companion_suffix(struct pd_span name)
{
	static const char *const ends[] = { ".js",  ".mjs", ".css", ".json", ".map", ".txt", ".rst", ".md", ".csv",
					    ".tsv", ".svg", ".po",  ".pot",  ".py",  ".c",   ".h",   ".sh", NULL };
	for (int i = 0; ends[i]; i++) {
		size_t n = strlen(ends[i]);
		if (name.n > n && pd_span_ieq(pd_span(name.p + name.n - n, n), ends[i]))
			return true;
	}
	return false;
}

/* --- body --- */

static void set_type(struct pd_page *page, struct pd_span content_type)
{
	page->content_type = pd_read_http_media_type(content_type);
	page->charset = pd_read_http_charset(content_type);
}

/* Fill in the body and the data of the header.  Only for responses. */
static enum pd_skip open_response(struct pd_page_opener *o, const struct pd_record *in, struct pd_read_http *h,
				  struct pd_page *page, const char **reason)
{
	struct pd_span block = pd_buf_span(&in->block), type = pd_buf_span(&in->content_type);
	if (!in->length)
		return PD_SKIP_EMPTY;
	if (!pd_read_http_parse(block, h)) {
		if (pd_span_istarts(pd_span_trim(block), "HTTP/")) {
			*reason = "invalid HTTP status line";
			return PD_SKIP_DAMAGED;
		}
		/* HTTP/0.9 (RFC 1945, 4.1) only has a body; the type that the crawler recorded (ARC) is used. */
		*h = (struct pd_read_http){ .body = block };
		page->body = block;
		if (!pd_span_istarts(type, "application/http"))
			set_type(page, type);
		return PD_SKIP_NONE;
	}
	if (h->endless && in->cut) {
		*reason = "HTTP headers longer than --max-page plus 256 KiB";
		return PD_SKIP_DAMAGED;
	}
	page->status = h->status;
	page->body = h->body;
	set_type(page, h->content_type);
	bool accepted = h->status >= 0 && h->status < 1000 && o->accept.status[h->status / 64] >> (h->status % 64) & 1;
	return accepted ? PD_SKIP_NONE : PD_SKIP_STATUS;
}

static void open_other(const struct pd_record *in, struct pd_page *page)
{
	page->body = pd_buf_span(&in->block);
	set_type(page, pd_buf_span(&in->content_type));
	/* The text of WET and JSONL is UTF-8 by definition. */
	if (in->kind == PD_RECORD_TEXT && !page->charset.n)
		page->charset = pd_span_z("utf-8");
}

enum pd_skip pd_page_open(struct pd_page_opener *o, const struct pd_record *in, struct pd_page *out, const char **reason)
{
	struct pd_read_http h = { 0 };
	enum pd_skip skip = PD_SKIP_NONE;
	const char *why = "";
	*out = (struct pd_page){ .id = pd_buf_span(&in->id),
				 .url = pd_buf_span(&in->url),
				 .fetch_time = pd_buf_span(&in->fetch_time),
				 .digest = pd_buf_span(&in->digest),
				 .user_id = pd_buf_span(&in->user_id),
				 .flags = in->cut ? PD_PAGE_CUT : 0 };
	if (!reason)
		reason = &why;
	*reason = "";
	if (in->kind == PD_RECORD_OTHER)
		return PD_SKIP_KIND;
	if (in->kind == PD_RECORD_RESPONSE)
		skip = open_response(o, in, &h, out, reason);
	else
		open_other(in, out);
	if (skip != PD_SKIP_NONE)
		return skip;

	/* The declared type.  XML may be XHTML, and an undeclared type may be anything. */
	bool text = in->kind == PD_RECORD_TEXT && !out->content_type.n;
	struct pd_span media = text ? pd_span_z("text/plain") : out->content_type;
	enum declared_type type = find_declared_type(media);
	if (type != DECLARED_XML && type != DECLARED_NOTHING && !accepts_type(&o->accept, media))
		return PD_SKIP_TYPE;

	/* Undo transfer and content codings. */
	uint64_t n;
	if (!in->cut && !h.transfer.n && pd_span_u64(h.content_length, &n) && h.body.n < n)
		out->flags |= PD_PAGE_TRUNCATED;
	int r = pd_read_coder_transfer(o->coder, h.transfer, &out->body, &out->flags);
	out->payload = out->body;
	if (r == PD_OK)
		r = pd_read_coder_content(o->coder, h.content, &out->body, &out->flags);
	if (r != PD_OK) {
		*reason = pd_read_coder_reason(o->coder);
		return PD_SKIP_DAMAGED;
	}
	if (out->body.n > o->max_page) {
		out->body.n = o->max_page;
		out->flags |= PD_PAGE_CUT;
	}
	if (!out->body.n)
		return PD_SKIP_EMPTY;

	/* The type by the bytes. */
	enum pd_sniffed is = type == DECLARED_HTML   ? PD_SNIFF_HTML
			     : type == DECLARED_TEXT ? PD_SNIFF_TEXT
						     : sniff_type(o, out, type);
	if (in->html_only && is != PD_SNIFF_OTHER && (is == PD_SNIFF_TEXT || has_companion_suffix(out->id))) {
		*reason = "text in a folder is read only with --all-text";
		return PD_SKIP_TYPE;
	}
	out->type = is == PD_SNIFF_HTML ? PD_PAGE_HTML : PD_PAGE_TEXT;
	return is == PD_SNIFF_OTHER ? PD_SKIP_TYPE : PD_SKIP_NONE;
}

void pd_page_digest(const struct pd_page *page, struct pd_buf *out)
{
	pd_buf_clear(out);
	if (page->digest.n)
		pd_buf_add_span(out, page->digest);
	else
		pd_sha1_base32(page->payload, out);
}

bool pd_page_record_digest(struct pd_page_opener *o, const struct pd_record *in, struct pd_buf *out)
{
	struct pd_read_http h = { 0 };
	enum pd_skip skip = PD_SKIP_NONE;
	const char *reason;
	struct pd_page page = { .digest = pd_buf_span(&in->digest), .flags = in->cut ? PD_PAGE_CUT : 0 };
	pd_buf_clear(out);
	if (in->kind == PD_RECORD_OTHER)
		return false;
	if (!page.digest.n && in->kind == PD_RECORD_RESPONSE)
		skip = open_response(o, in, &h, &page, &reason);
	else if (!page.digest.n)
		open_other(in, &page);
	if ((skip != PD_SKIP_NONE && skip != PD_SKIP_STATUS) ||
	    (!page.digest.n && pd_read_coder_transfer(o->coder, h.transfer, &page.body, &page.flags) != PD_OK))
		return false;
	page.payload = page.body;
	pd_page_digest(&page, out);
	return true;
}
