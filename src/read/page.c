/* SPDX-License-Identifier: MIT
 *
 * From a record to a page: undo HTTP, then decide whether it is one.  What can be decided from the header alone is
 * decided before anything is decoded.
 */
#include "read/page.h"

#include <stdlib.h>

#include "read/coding.h"
#include "read/sniff.h"

/* --- which statuses and types are asked for --- */

struct accept {
	uint64_t status[1000 / 64 + 1];		/* a bit for each */
	struct pd_buf types;			/* lower case, each between commas */
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

static int parse_statuses(struct accept *a, const char *list, struct pd_err *e)
{
	struct pd_span item, rest = pd_span_z(list);
	while (pd_span_split(&rest, ',', &item))
		if (!parse_status(a, pd_span_trim(item)))
			return pd_fail(e, PD_ERR_USAGE, "--status takes a list such as 200,206 or 2xx, not '%s'", list);
	return PD_OK;
}

/* A type is one word with a slash in it. */
static bool parse_type(struct accept *a, struct pd_span item)
{
	if (!item.n || !memchr(item.p, '/', item.n))
		return false;
	for (size_t i = 0; i < item.n; i++) {
		if (pd_ascii_space(item.p[i]) || item.p[i] == ';')
			return false;
		pd_buf_add_c(&a->types, pd_ascii_lower(item.p[i]));
	}
	pd_buf_add_c(&a->types, ',');
	return true;
}

static int parse_types(struct accept *a, const char *list, struct pd_err *e)
{
	struct pd_span item, rest = pd_span_z(list);
	while (pd_span_split(&rest, ',', &item))
		if (!parse_type(a, pd_span_trim(item)))
			return pd_fail(e, PD_ERR_USAGE, "--content-types takes a list such as text/html,text/plain, not '%s'", list);
	return PD_OK;
}

static void accept_release(struct accept *a)
{
	pd_buf_release(&a->types);
}

static int accept_init(struct accept *a, const struct pd_page_options *o, struct pd_err *e)
{
	*a = (struct accept){ 0 };
	int r = parse_statuses(a, o->status ? o->status : "200", e);
	if (!r)
		r = parse_types(a, o->content_types ? o->content_types : "text/html,application/xhtml+xml,text/plain", e);
	if (r)
		accept_release(a);
	return r;
}

static bool accepts_status(const struct accept *a, int status)
{
	return status >= 0 && status < 1000 && (a->status[status / 64] >> (status % 64) & 1);
}

static bool same(struct pd_span lower, struct pd_span any)
{
	size_t i = 0;
	while (i < lower.n && i < any.n && lower.p[i] == pd_ascii_lower(any.p[i]))
		i++;
	return i == lower.n && i == any.n;
}

static bool accepts_type(const struct accept *a, struct pd_span media)
{
	struct pd_span item, rest = pd_buf_span(&a->types);
	while (media.n && pd_span_split(&rest, ',', &item))
		if (same(item, media))
			return true;
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
		[PD_SKIP_NONE] = "page",	   [PD_SKIP_KIND] = "other record", [PD_SKIP_STATUS] = "other status",
		[PD_SKIP_TYPE] = "other type", [PD_SKIP_EMPTY] = "empty",	    [PD_SKIP_DAMAGED] = "damaged",
	};
	return (unsigned)s < PD_SKIP_COUNT ? names[s] : "?";
}

/* --- type --- */

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

/* Can it become a page at all?  XML may turn out to be XHTML, and what says nothing anything. */
static bool welcome(const struct pd_page_opener *o, struct pd_span media, enum type_said s)
{
	return s == SAID_XML || s == SAID_NOTHING || accepts_type(&o->accept, media);
}

/* No type was said, or one that was asked for without its being HTML or text by definition: the bytes decide. */
static enum pd_sniffed look(const struct pd_page_opener *o, const struct pd_page *page, enum type_said s)
{
	static const char *const named[] = { [PD_SNIFF_HTML] = "text/html", [PD_SNIFF_TEXT] = "text/plain" };
	enum pd_sniffed is = pd_read_sniff(page->body);
	if (s == SAID_NOTHING)
		return is && accepts_type(&o->accept, pd_span_z(named[is])) ? is : PD_SNIFF_OTHER;
	if (s == SAID_OTHER)
		return is;
	if (accepts_type(&o->accept, page->content_type))
		return PD_SNIFF_HTML;
	bool xhtml = accepts_type(&o->accept, pd_span_z("application/xhtml+xml"));
	return xhtml && pd_read_sniff_xhtml(page->body) ? PD_SNIFF_HTML : PD_SNIFF_OTHER;
}

/* Files that lie beside pages and may have tags in them: a folder's page is not called so. */
static bool named_otherwise(struct pd_span name)
{
	static const char *const ends[] = { ".js", ".mjs", ".css", ".json", ".map", ".txt", ".rst", ".md", ".csv", ".tsv", ".svg", ".po",
					    ".pot", ".py", ".c", ".h", ".sh", NULL };
	for (int i = 0; ends[i]; i++) {
		size_t n = strlen(ends[i]);
		if (name.n > n && pd_span_ieq(pd_span(name.p + name.n - n, n), ends[i]))
			return true;
	}
	return false;
}

static enum pd_skip decide_type(const struct pd_page_opener *o, const struct pd_record *in, struct pd_page *page, enum type_said s,
				const char **reason)
{
	enum pd_sniffed is = s == SAID_HTML ? PD_SNIFF_HTML : s == SAID_TEXT ? PD_SNIFF_TEXT : look(o, page, s);
	if (in->html_only && is != PD_SNIFF_OTHER && (is == PD_SNIFF_TEXT || named_otherwise(page->id))) {
		*reason = "text in a folder is a page with --all-text alone";
		return PD_SKIP_TYPE;
	}
	page->type = is == PD_SNIFF_HTML ? PD_PAGE_HTML : PD_PAGE_TEXT;
	return is == PD_SNIFF_OTHER ? PD_SKIP_TYPE : PD_SKIP_NONE;
}

/* --- body --- */

static void set_type(struct pd_page *page, struct pd_span content_type)
{
	page->content_type = pd_read_http_media_type(content_type);
	page->charset = pd_read_http_charset(content_type);
}

/* HTTP/0.9 has a body alone; what the crawler took it for (ARC) is better than nothing. */
static enum pd_skip open_simple(const struct pd_record *in, struct pd_read_http *h, struct pd_page *page, const char **reason)
{
	struct pd_span block = pd_buf_span(&in->block), type = pd_buf_span(&in->content_type);
	if (!pd_read_http_simple(block)) {
		*reason = "HTTP status line that cannot be read";
		return PD_SKIP_DAMAGED;
	}
	*h = (struct pd_read_http){ .body = block };
	page->body = block;
	if (!pd_span_istarts(type, "application/http"))
		set_type(page, type);
	return PD_SKIP_NONE;
}

/* Fills body and what the header says.  A response only. */
static enum pd_skip open_response(struct pd_page_opener *o, const struct pd_record *in, struct pd_read_http *h,
				  struct pd_page *page, const char **reason)
{
	if (!in->length)
		return PD_SKIP_EMPTY;
	if (!pd_read_http_parse(pd_buf_span(&in->block), h))
		return open_simple(in, h, page, reason);
	if (h->endless && in->cut) {
		*reason = "HTTP headers that are longer than --max-page and 256 KiB more";
		return PD_SKIP_DAMAGED;
	}
	page->status = h->status;
	page->body = h->body;
	set_type(page, h->content_type);
	return accepts_status(&o->accept, h->status) ? PD_SKIP_NONE : PD_SKIP_STATUS;
}

static void open_other(const struct pd_record *in, struct pd_page *page)
{
	page->body = pd_buf_span(&in->block);
	set_type(page, pd_buf_span(&in->content_type));
	/* WET and JSONL text is UTF-8 by definition. */
	if (in->kind == PD_RECORD_TEXT && !page->charset.n)
		page->charset = pd_span_z("utf-8");
}

static void compare_length(const struct pd_record *in, const struct pd_read_http *h, struct pd_page *page)
{
	uint64_t n;
	if (!in->cut && !h->transfer.n && pd_span_u64(h->content_length, &n) && h->body.n < n)
		page->flags |= PD_PAGE_TRUNCATED;
}

/* Undoes transfer and content codings. */
static enum pd_skip decode(struct pd_page_opener *o, const struct pd_read_http *h, struct pd_page *page, const char **reason)
{
	int r = pd_read_coder_transfer(o->coder, h->transfer, &page->body, &page->flags);
	page->payload = page->body;
	if (r == PD_OK)
		r = pd_read_coder_content(o->coder, h->content, &page->body, &page->flags);
	if (r == PD_OK)
		return PD_SKIP_NONE;
	*reason = pd_read_coder_reason(o->coder);
	return PD_SKIP_DAMAGED;
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
	struct pd_read_http h = { 0 };
	enum pd_skip skip = PD_SKIP_NONE;
	const char *why = "";
	*out = (struct pd_page){ .id = pd_buf_span(&in->id), .url = pd_buf_span(&in->url),
				 .fetch_time = pd_buf_span(&in->fetch_time), .digest = pd_buf_span(&in->digest),
				 .user_id = pd_buf_span(&in->user_id), .flags = in->cut ? PD_PAGE_CUT : 0 };
	if (!reason)
		reason = &why;
	*reason = "";
	if (in->kind == PD_RECORD_OTHER)
		return PD_SKIP_KIND;
	if (in->kind == PD_RECORD_RESPONSE)
		skip = open_response(o, in, &h, out, reason);
	else
		open_other(in, out);
	bool text = in->kind == PD_RECORD_TEXT && !out->content_type.n;
	struct pd_span media = text ? pd_span_z("text/plain") : out->content_type;
	enum type_said type = said(media);
	if (skip == PD_SKIP_NONE && !welcome(o, media, type))
		skip = PD_SKIP_TYPE;
	if (skip == PD_SKIP_NONE) {
		compare_length(in, &h, out);
		skip = decode(o, &h, out, reason);
	}
	if (skip != PD_SKIP_NONE)
		return skip;
	cut(o, out);
	return out->body.n ? decide_type(o, in, out, type, reason) : PD_SKIP_EMPTY;
}
