/* SPDX-License-Identifier: MIT
 *
 * A record -> a page: decode HTTP, then decide whether it is a page.  Decisions that depend only on the header are made
 * before anything is decoded.
 */
#include "read/page.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/codec.h"
#include "base/span.h"

/* The type of a body without a declared type is decided by its first bytes, as in the WHATWG's MIME Sniffing Standard
 * (chapter 7), except that the HTML tag may be anywhere in the first 512 bytes. */

enum sniffed { PD_SNIFF_OTHER, PD_SNIFF_HTML, PD_SNIFF_TEXT };

enum { SNIFF = 512, XML_SNIFF = 2048 };

/* In UTF-16 every second byte of a tag is 0; remove these bytes. */
static struct pd_span without_nuls(struct pd_span s, char *room, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n && n < size; i++)
		if (s.p[i])
			room[n++] = s.p[i];
	return pd_span(room, n);
}

static bool begins(struct pd_span s, const char *p, size_t n)
{
	return s.n >= n && memcmp(s.p, p, n) == 0;
}

static bool byte_order_mark(struct pd_span s)
{
	return begins(s, "\xef\xbb\xbf", 3) || begins(s, "\xff\xfe", 2) || begins(s, "\xfe\xff", 2) || begins(s, "\0\0\xfe\xff", 4);
}

/* Formats whose first bytes could be mistaken for text. */
static bool other_magic(struct pd_span s)
{
	static const char *const magic[] = { "%PDF-", "%!PS",	  "PK\3\4", "\x89PNG", "GIF8", "\xff\xd8\xff",
					     "RIFF",  "\x1f\x8b", "BZh",    "{\\rtf",  NULL };
	for (int i = 0; magic[i]; i++)
		if (begins(s, magic[i], strlen(magic[i])))
			return true;
	return false;
}

/* Bytes that do not occur in text (tab, LF, FF, CR and ESC are allowed). */
static bool is_binary(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1b)
			return true;
	}
	return false;
}

static bool letter_or_digit(char c)
{
	c = pd_ascii_lower(c);
	return (c >= 'a' && c <= 'z') || pd_ascii_digit(c);
}

/* Return whether s, which begins after a '<', is a common HTML tag, a comment or HTML's doctype. */
static bool html_tag(struct pd_span s)
{
	static const char *const tags[] = { "a",       "article", "b",	  "base",     "body",  "br",	 "center", "dd",
					    "div",     "dl",	  "dt",	  "em",	      "font",  "footer", "form",   "frameset",
					    "h1",      "h2",	  "h3",	  "h4",	      "h5",    "h6",	 "head",   "header",
					    "hr",      "html",	  "i",	  "iframe",   "img",   "input",	 "li",	   "link",
					    "main",    "meta",	  "nav",  "noscript", "ol",    "p",	 "pre",	   "script",
					    "section", "small",	  "span", "strong",   "style", "table",	 "tbody",  "td",
					    "th",      "title",	  "tr",	  "u",	      "ul",    NULL };
	size_t n = 0;
	if (begins(s, "!--", 3))
		return true;
	if (s.n && s.p[0] == '!')
		return pd_span_istarts(s, "!doctype html");
	if (s.n && s.p[0] == '/')
		s = pd_span(s.p + 1, s.n - 1);
	while (n < s.n && letter_or_digit(s.p[n]))
		n++;
	if (n == s.n || (s.p[n] != '>' && s.p[n] != '/' && !pd_ascii_space(s.p[n])))
		return false;
	for (int i = 0; tags[i]; i++)
		if (pd_span_ieq(pd_span(s.p, n), tags[i]))
			return true;
	return false;
}

static bool has_tag(struct pd_span s)
{
	for (const char *at; s.n && (at = memchr(s.p, '<', s.n));) {
		s = pd_span(at + 1, s.n - (size_t)(at + 1 - s.p));
		if (html_tag(s))
			return true;
	}
	return false;
}

static bool is_xml(struct pd_span s)
{
	if (begins(s, "\xef\xbb\xbf", 3))
		s = pd_span(s.p + 3, s.n - 3);
	return pd_span_istarts(pd_span_trim(s), "<?xml");
}

/* Return whether an XML document is XHTML, with the root element `html`. */
static bool sniff_xhtml(struct pd_span body)
{
	char room[XML_SNIFF];
	struct pd_span s = without_nuls(body, room, sizeof room);
	for (const char *at; s.n && (at = memchr(s.p, '<', s.n));) {
		s = pd_span(at + 1, s.n - (size_t)(at + 1 - s.p));
		if (pd_span_istarts(s, "html") && s.n > 4 && !letter_or_digit(s.p[4]))
			return true;
		/* The first element after declarations and comments is the root. */
		if (s.n && letter_or_digit(s.p[0]))
			return false;
	}
	return false;
}

static enum sniffed sniff(struct pd_span body)
{
	char room[SNIFF];
	struct pd_span head = pd_span(body.p, body.n < SNIFF ? body.n : SNIFF);
	if (other_magic(head))
		return PD_SNIFF_OTHER;
	struct pd_span bare = without_nuls(head, room, sizeof room);
	if (is_xml(bare))
		return sniff_xhtml(body) ? PD_SNIFF_HTML : PD_SNIFF_OTHER;
	if (has_tag(bare))
		return PD_SNIFF_HTML;
	return byte_order_mark(head) || !is_binary(head) ? PD_SNIFF_TEXT : PD_SNIFF_OTHER;
}

/* Return whether the bytes may be text or HTML, and are not compressed. */
static bool sniff_is_text(struct pd_span body)
{
	struct pd_span head = pd_span(body.p, body.n < SNIFF ? body.n : SNIFF);
	return !other_magic(head) && (byte_order_mark(head) || !is_binary(head));
}

/* Message parsing and chunked transfer coding. */

enum http_chunked {
	PD_CHUNKED_OK,
	PD_CHUNKED_SHORT, /* incomplete: `out` has the bytes before the end */
	PD_CHUNKED_NOT,	  /* the body is not chunked */
};

/* Return the next line without its line end (CRs and LF); false at the end. */
static bool next_http_line(struct pd_span *rest, struct pd_span *line)
{
	if (!rest->n || !pd_span_split(rest, '\n', line))
		return false;
	if (!rest->p)
		*rest = pd_span(line->p + line->n, 0);
	while (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

/* "HTTP/", and also "HTTPX/1.1" of some servers: letters, a slash, a version. */
static bool protocol(struct pd_span line)
{
	size_t i = 0;
	while (i < line.n && pd_ascii_lower(line.p[i]) >= 'a' && pd_ascii_lower(line.p[i]) <= 'z')
		i++;
	return i && i + 1 < line.n && line.p[i] == '/' && pd_ascii_digit(line.p[i + 1]);
}

/* "HTTP/1.1 200 OK", "HTTP/2 200": three digits after the version. */
static bool status_line(struct pd_span line, int *status)
{
	if (!protocol(line))
		return false;
	const char *p = memchr(line.p, ' ', line.n), *end = line.p + line.n;
	while (p && p < end && *p == ' ')
		p++;
	if (!p || end - p < 3 || !pd_ascii_digit(p[0]) || !pd_ascii_digit(p[1]) || !pd_ascii_digit(p[2]) ||
	    (end - p > 3 && pd_ascii_digit(p[3])))
		return false;
	*status = (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
	return true;
}

static struct pd_span *further(struct pd_read_http_codings *list)
{
	return list->n < PD_HTTP_CODING_LINES ? &list->line[list->n++] : NULL;
}

static struct pd_span *slot(struct pd_read_http *h, struct pd_span name)
{
	if (pd_span_ieq(name, "Content-Type"))
		return &h->content_type;
	if (pd_span_ieq(name, "Content-Encoding"))
		return further(&h->content);
	if (pd_span_ieq(name, "Transfer-Encoding"))
		return further(&h->transfer);
	return pd_span_ieq(name, "Content-Length") ? &h->content_length : NULL;
}

/* Parse a header line; *at is the value that a folded line would continue. */
static void header_line(struct pd_read_http *h, struct pd_span line, struct pd_span **at)
{
	if (line.p[0] == ' ' || line.p[0] == '\t') {
		if (*at)
			(*at)->n = (size_t)(line.p + line.n - (*at)->p);
		return;
	}
	*at = NULL;
	const char *colon = memchr(line.p, ':', line.n);
	if (!colon)
		return;
	size_t name = (size_t)(colon - line.p);
	struct pd_span *value = slot(h, pd_span_trim(pd_span(line.p, name)));
	if (value && !value->p)
		*(*at = value) = pd_span(colon + 1, line.n - name - 1);
}

bool pd_read_http_parse(struct pd_span message, struct pd_read_http *out)
{
	struct pd_span line, rest = message, *at = NULL;
	*out = (struct pd_read_http){ 0 };
	do {
		if (!next_http_line(&rest, &line))
			return false;
	} while (!line.n);
	if (!status_line(line, &out->status))
		return false;
	for (;;) {
		struct pd_span before = rest;
		out->endless = !next_http_line(&rest, &line);
		if (out->endless || !line.n)
			break;
		/* No header begins with it: the blank line is missing. */
		if (line.p[0] == '<') {
			rest = before;
			break;
		}
		header_line(out, line, &at);
	}
	out->content_type = pd_span_trim(out->content_type);
	out->content_length = pd_span_trim(out->content_length);
	out->body = rest;
	return true;
}

/* Return whether it is HTTP/0.9 (RFC 1945, 4.1), which has neither status line nor header: the whole message is the
 * body. */
static bool http_simple(struct pd_span message)
{
	return !pd_span_istarts(pd_span_trim(message), "HTTP/");
}

/* Remove the coding that was applied last from the list; false if there is none left. */
static bool http_codings_pop(struct pd_read_http_codings *list, struct pd_span *coding)
{
	while (list->n) {
		struct pd_span *line = &list->line[list->n - 1];
		const char *comma = line->n ? memrchr(line->p, ',', line->n) : NULL;
		size_t from = comma ? (size_t)(comma - line->p) + 1 : 0;
		*coding = pd_span_trim(pd_span(line->p + from, line->n - from));
		if (comma)
			line->n = from - 1;
		else
			list->n--;
		if (coding->n)
			return true;
	}
	return false;
}

/* "1a2b", padding, an extension after ';'. */
static bool chunk_size(struct pd_span line, uint64_t *size)
{
	size_t i = 0;
	*size = 0;
	for (; i < line.n && pd_hex_digit(line.p[i]) >= 0; i++) {
		if (*size >> 56)
			return false;
		*size = *size << 4 | (uint64_t)pd_hex_digit(line.p[i]);
	}
	if (!i)
		return false;
	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	return i == line.n || line.p[i] == ';';
}

/* Append the body without chunk headers to `out`, at most `limit` bytes. */
static enum http_chunked http_unchunk(struct pd_span body, size_t limit, struct pd_buf *out)
{
	struct pd_span line, rest = body;
	enum http_chunked at_end = PD_CHUNKED_NOT;
	for (;;) {
		uint64_t size;
		/* A chunk header is a complete line; a size without line end at the end of the body is not one. */
		if (!rest.n || !memchr(rest.p, '\n', rest.n) || !next_http_line(&rest, &line) || !chunk_size(line, &size))
			return at_end;
		if (!size)
			return PD_CHUNKED_OK;
		at_end = PD_CHUNKED_SHORT;
		size_t take = size < rest.n ? (size_t)size : rest.n;
		size_t room = limit - out->n;
		pd_buf_add(out, rest.p, take < room ? take : room);
		if (out->n == limit)
			return PD_CHUNKED_OK;
		rest.p += take;
		rest.n -= take;
		/* A line end must follow the data; otherwise the size was wrong. */
		if (!next_http_line(&rest, &line) || line.n)
			return PD_CHUNKED_SHORT;
	}
}

/* Return TYPE/SUBTYPE without the rest: "text/html; charset=x", "text/html charset=x", "text/html, text/html",
 * "text/html: x". */
static struct pd_span http_media_type(struct pd_span content_type)
{
	struct pd_span type = pd_span_trim(content_type);
	size_t n = 0;
	while (n < type.n && !pd_ascii_space(type.p[n]) && !memchr(";,:", type.p[n], 3))
		n++;
	return pd_span(type.p, n);
}

static struct pd_span unquote(struct pd_span v)
{
	v = pd_span_trim(v);
	if (v.n && (v.p[0] == '"' || v.p[0] == '\'')) {
		const char *end = memchr(v.p + 1, v.p[0], v.n - 1);
		v = pd_span(v.p + 1, end ? (size_t)(end - v.p - 1) : v.n - 1);
	}
	return pd_span_trim(v);
}

/* Return the next parameter.  They are separated by semicolons; some servers send a space, a comma or a colon. */
static bool next_part(struct pd_span *rest, struct pd_span *part)
{
	size_t n = 0;
	if (!rest->n)
		return false;
	while (rest->n && (pd_ascii_space(rest->p[0]) || memchr(";,:", rest->p[0], 3)))
		*rest = pd_span(rest->p + 1, rest->n - 1);
	while (n < rest->n && !memchr(";,:", rest->p[n], 3)) {
		/* A space is a separator too, except around the equals sign. */
		size_t k = n;
		while (k < rest->n && pd_ascii_space(rest->p[k]))
			k++;
		if (k > n && k < rest->n && rest->p[k] != '=' && rest->p[n - 1] != '=')
			break;
		n = k > n ? k : n + 1;
	}
	*part = pd_span_trim(pd_span(rest->p, n));
	*rest = pd_span(rest->p + n, rest->n - n);
	return n > 0;
}

/* Return the charset parameter without quotes; may be empty. */
static struct pd_span http_charset(struct pd_span content_type)
{
	struct pd_span part, rest = content_type;
	while (next_part(&rest, &part)) {
		if (!pd_span_istarts(part, "charset"))
			continue;
		part = pd_span_trim(pd_span(part.p + 7, part.n - 7));
		if (!part.n || part.p[0] != '=')
			continue;
		return unquote(pd_span(part.p + 1, part.n - 1));
	}
	return pd_span(NULL, 0);
}

/* Codings are decoded from the last applied to the first. */

/* KEEP: larger buffers are freed, so that a huge page does not keep its memory.  TURNS: maximum number of decoded
 * layers. */
enum { KEEP = 1 << 23, TURNS = 8 };

struct layers {
	struct pd_buf out[2]; /* used alternately: one is read while the other is written */
	int turn;
};

struct pd_read_coder {
	size_t max_page;
	struct pd_unpacker *unpacker;
	struct pd_buf chunks;
	struct layers transfer, content;
	struct pd_buf reason;
};

/* State of decoding. */
struct work {
	struct pd_read_coder *c;
	struct pd_span *body;
	unsigned *flags;
};

static struct pd_read_coder *read_coder_new(size_t max_page)
{
	struct pd_read_coder *c = pd_zalloc(sizeof *c);
	c->max_page = max_page;
	c->unpacker = pd_unpacker_new();
	return c;
}

static void read_coder_free(struct pd_read_coder *c)
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

static const char *coder_reason(const struct pd_read_coder *c)
{
	return pd_buf_z(&c->reason);
}

static int fail_coding(struct pd_read_coder *c, const char *what, struct pd_span coding)
{
	pd_buf_clear(&c->reason);
	pd_buf_printf(&c->reason, "%s: %.*s", what, coding.n < 40 ? (int)coding.n : 40, coding.p);
	return PD_ERR_INPUT;
}

/* Leave the body unchanged. */
static int keep_body(struct work *w)
{
	*w->flags |= PD_PAGE_PLAIN_CODING;
	return PD_OK;
}

/* Use the decompressed data as the body; `r` is the result of decompression. */
static int take_unpacked(struct work *w, const struct pd_buf *out, int r)
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

/* Decode a coding with magic bytes. */
static int undo_packed(struct work *w, enum pd_codec codec, struct pd_buf *out)
{
	return pd_looks_packed(codec, *w->body) ? take_unpacked(w, out, unpack(w, codec, out)) : keep_body(w);
}

static bool zlib_header(struct pd_span s)
{
	return s.n >= 2 && (s.p[0] & 15) == 8 && ((unsigned char)s.p[0] << 8 | (unsigned char)s.p[1]) % 31 == 0;
}

/* "deflate" means zlib's format, but some servers send raw deflate data. */
static int undo_deflate(struct work *w, struct pd_buf *out)
{
	if (sniff_is_text(*w->body))
		return keep_body(w);
	if (zlib_header(*w->body) && take_unpacked(w, out, unpack(w, PD_CODEC_ZLIB, out)) == PD_OK)
		return PD_OK;
	return take_unpacked(w, out, unpack(w, PD_CODEC_DEFLATE, out));
}

/* Brotli can be recognised only by decoding it to its end, or to the limit. */
static int undo_brotli(struct work *w, struct pd_buf *out)
{
	int r = unpack(w, PD_CODEC_BROTLI, out);
	if (r != PD_OK && r != PD_ERR_LIMIT && sniff_is_text(*w->body))
		return keep_body(w);
	return take_unpacked(w, out, r);
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
		return sniff_is_text(*w->body) ? keep_body(w) : fail_coding(w->c, "content coding not supported", coding);
#ifdef PD_WITHOUT_brotli
	if (r < 0 && pd_span_ieq(coding, "br"))
		return fail_coding(w->c, "this program was built without brotli: body cannot be decoded", coding);
#endif
	/* Other names (identity, utf-8, none) are mistakes and are ignored. */
	return r < 0 ? fail_coding(w->c, "body cannot be decoded", coding) : r;
}

static void undo_chunks(struct work *w)
{
	pd_buf_shrink(&w->c->chunks, KEEP);
	enum http_chunked r = http_unchunk(*w->body, SIZE_MAX, &w->c->chunks);
	if (r == PD_CHUNKED_NOT) {
		keep_body(w);
		return;
	}
	if (r == PD_CHUNKED_SHORT && !(*w->flags & PD_PAGE_CUT))
		*w->flags |= PD_PAGE_TRUNCATED;
	*w->body = pd_buf_span(&w->c->chunks);
}

/* Decode a layer.  The buffers are exchanged only if one of them now has the body; a coding that left the body
 * unchanged wrote nothing. */
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
	for (int turn = 0; turn < TURNS && w->body->n && http_codings_pop(&list, &coding); turn++) {
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

/* Decode transfer codings, then content codings.  *body becomes a view into the coder's buffers, valid until the next
 * call of the same function; PD_PAGE_… flags are added to *flags, and PD_PAGE_CUT in it means that the body was already
 * cut.  PD_ERR_INPUT: the body cannot be decoded. */
static int read_coder_transfer(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags)
{
	struct work w = { c, body, flags };
	return undo_all(&w, list, &c->transfer, true);
}

static int read_coder_content(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags)
{
	struct work w = { c, body, flags };
	return undo_all(&w, list, &c->content, false);
}

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
			return pd_fail(e, PD_ERR_USAGE, "--content-types takes a list such as text/html,text/plain, not '%s'",
				       list);
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
	p->coder = read_coder_new(o->max_page);
	return p;
}

void pd_page_opener_free(struct pd_page_opener *o)
{
	if (!o)
		return;
	accept_release(&o->accept);
	read_coder_free(o->coder);
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

enum type_said { SAID_HTML, SAID_TEXT, SAID_XML, SAID_NOTHING, SAID_OTHER };

static enum type_said said(struct pd_span media)
{
	static const struct {
		const char *name;
		enum type_said is;
	} types[] = {
		{ "text/html", SAID_HTML },
		{ "application/xhtml+xml", SAID_HTML },
		{ "text/plain", SAID_TEXT },
		{ "text/xml", SAID_XML },
		{ "application/xml", SAID_XML },
		{ "", SAID_NOTHING },
		{ "unknown/unknown", SAID_NOTHING },
		{ "application/unknown", SAID_NOTHING },
		{ "*/*", SAID_NOTHING },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (pd_span_ieq(media, types[i].name))
			return types[i].is;
	return SAID_OTHER;
}

/* Return whether it can become a page: XML may be XHTML, and an undeclared type may be anything. */
static bool may_become_page(const struct pd_page_opener *o, struct pd_span media, enum type_said s)
{
	return s == SAID_XML || s == SAID_NOTHING || accepts_type(&o->accept, media);
}

/* Decide by the bytes if no type was declared, or an accepted one that is not HTML or text by definition. */
static enum sniffed look(const struct pd_page_opener *o, const struct pd_page *page, enum type_said s)
{
	static const char *const named[] = { [PD_SNIFF_HTML] = "text/html", [PD_SNIFF_TEXT] = "text/plain" };
	enum sniffed is = sniff(page->body);
	if (s == SAID_NOTHING)
		return is && accepts_type(&o->accept, pd_span_z(named[is])) ? is : PD_SNIFF_OTHER;
	if (s == SAID_OTHER)
		return is;
	if (accepts_type(&o->accept, page->content_type))
		return PD_SNIFF_HTML;
	bool xhtml = accepts_type(&o->accept, pd_span_z("application/xhtml+xml"));
	return xhtml && sniff_xhtml(page->body) ? PD_SNIFF_HTML : PD_SNIFF_OTHER;
}

/* Names of files that accompany pages and may contain tags, but are not pages. */
static bool has_other_suffix(struct pd_span name)
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

static enum pd_skip decide_type(const struct pd_page_opener *o, const struct pd_record *in, struct pd_page *page, enum type_said s,
				const char **reason)
{
	enum sniffed is = s == SAID_HTML ? PD_SNIFF_HTML : s == SAID_TEXT ? PD_SNIFF_TEXT : look(o, page, s);
	if (in->html_only && is != PD_SNIFF_OTHER && (is == PD_SNIFF_TEXT || has_other_suffix(page->id))) {
		*reason = "text in a folder is read only with --all-text";
		return PD_SKIP_TYPE;
	}
	page->type = is == PD_SNIFF_HTML ? PD_PAGE_HTML : PD_PAGE_TEXT;
	return is == PD_SNIFF_OTHER ? PD_SKIP_TYPE : PD_SKIP_NONE;
}

/* --- body --- */

static void set_type(struct pd_page *page, struct pd_span content_type)
{
	page->content_type = http_media_type(content_type);
	page->charset = http_charset(content_type);
}

/* HTTP/0.9 only has a body; the type that the crawler recorded (ARC) is used. */
static enum pd_skip open_simple(const struct pd_record *in, struct pd_read_http *h, struct pd_page *page, const char **reason)
{
	struct pd_span block = pd_buf_span(&in->block), type = pd_buf_span(&in->content_type);
	if (!http_simple(block)) {
		*reason = "invalid HTTP status line";
		return PD_SKIP_DAMAGED;
	}
	*h = (struct pd_read_http){ .body = block };
	page->body = block;
	if (!pd_span_istarts(type, "application/http"))
		set_type(page, type);
	return PD_SKIP_NONE;
}

/* Fill in the body and the data of the header.  Only for responses. */
static enum pd_skip open_response(struct pd_page_opener *o, const struct pd_record *in, struct pd_read_http *h,
				  struct pd_page *page, const char **reason)
{
	if (!in->length)
		return PD_SKIP_EMPTY;
	if (!pd_read_http_parse(pd_buf_span(&in->block), h))
		return open_simple(in, h, page, reason);
	if (h->endless && in->cut) {
		*reason = "HTTP headers longer than --max-page plus 256 KiB";
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
	/* The text of WET and JSONL is UTF-8 by definition. */
	if (in->kind == PD_RECORD_TEXT && !page->charset.n)
		page->charset = pd_span_z("utf-8");
}

static void compare_length(const struct pd_record *in, const struct pd_read_http *h, struct pd_page *page)
{
	uint64_t n;
	if (!in->cut && !h->transfer.n && pd_span_u64(h->content_length, &n) && h->body.n < n)
		page->flags |= PD_PAGE_TRUNCATED;
}

/* Decode transfer and content codings. */
static enum pd_skip decode(struct pd_page_opener *o, const struct pd_read_http *h, struct pd_page *page, const char **reason)
{
	int r = read_coder_transfer(o->coder, h->transfer, &page->body, &page->flags);
	page->payload = page->body;
	if (r == PD_OK)
		r = read_coder_content(o->coder, h->content, &page->body, &page->flags);
	if (r == PD_OK)
		return PD_SKIP_NONE;
	*reason = coder_reason(o->coder);
	return PD_SKIP_DAMAGED;
}

static void cut_page(struct pd_page_opener *o, struct pd_page *page)
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
	bool text = in->kind == PD_RECORD_TEXT && !out->content_type.n;
	struct pd_span media = text ? pd_span_z("text/plain") : out->content_type;
	enum type_said type = said(media);
	if (skip == PD_SKIP_NONE && !may_become_page(o, media, type))
		skip = PD_SKIP_TYPE;
	if (skip == PD_SKIP_NONE) {
		compare_length(in, &h, out);
		skip = decode(o, &h, out, reason);
	}
	if (skip != PD_SKIP_NONE)
		return skip;
	cut_page(o, out);
	return out->body.n ? decide_type(o, in, out, type, reason) : PD_SKIP_EMPTY;
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
	    (!page.digest.n && read_coder_transfer(o->coder, h.transfer, &page.body, &page.flags) != PD_OK))
		return false;
	page.payload = page.body;
	pd_page_digest(&page, out);
	return true;
}
