/* SPDX-License-Identifier: MIT
 *
 * Pages from records: status lines and headers found in practice, chunked transfer, content codings, the definition
 * of a page, and bodies without any declaration.
 */
#include "read_pack.h"

#include "read/page.h"

enum { MAX_PAGE = 4096 };

static enum pd_skip open_page(struct pd_page_opener *o, enum pd_record_kind kind, const char *type, struct pd_span block,
			      struct pd_page *page, const char **reason)
{
	static struct pd_record r;
	pd_record_clear(&r);
	r.kind = kind;
	pd_buf_add_z(&r.content_type, type);
	pd_buf_set(&r.block, block);
	r.length = block.n;
	return pd_page_open(o, &r, page, reason);
}

#define OK "HTTP/1.1 200 OK\r\n"
#define HTML "Content-Type: text/html\r\n"
#define CHUNKED OK HTML "Transfer-Encoding: chunked\r\n\r\n"
#define BLOCK(text) \
	{ \
		text, sizeof text - 1 \
	}

static const struct {
	const char *name;
	struct pd_span block;
	enum pd_skip skip;
	int status;
	const char *type, *charset, *body;
	unsigned flags;
} rows[] = {
	{ "plain", BLOCK(OK HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "no reason phrase", BLOCK("HTTP/1.1 200\r\n" HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "HTTP/2", BLOCK("HTTP/2 200\r\n" HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "spaces before the status", BLOCK("HTTP/1.0   200 \r\n" HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "line feeds alone", BLOCK("HTTP/1.1 200 OK\ncontent-type: text/html\n\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body",
	  0 },
	{ "empty lines first", BLOCK("\r\n\r\n" OK HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "folded", BLOCK(OK "Content-Type: text/html;\r\n\tcharset=gbk\r\n\r\nbody"), PD_SKIP_NONE, 200, "text/html", "gbk",
	  "body", 0 },
	{ "junk line", BLOCK(OK "junk\r\n" HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "blank line missing", BLOCK(OK HTML "<html>\nx"), PD_SKIP_NONE, 200, "text/html", "", "<html>\nx", 0 },
	{ "charset in quotes", BLOCK(OK "Content-Type: TEXT/HTML; a=b; Charset = \"GB2312\"\r\n\r\nx"), PD_SKIP_NONE, 200,
	  "TEXT/HTML", "GB2312", "x", 0 },
	{ "charset, quote left open", BLOCK(OK "Content-Type: text/html;charset='big5\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html",
	  "big5", "x", 0 },
	{ "charset after a space", BLOCK(OK "Content-Type: text/html charset=gbk\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html", "gbk",
	  "x", 0 },
	{ "a type twice", BLOCK(OK "Content-Type: text/html, text/html; charset=gbk\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html",
	  "gbk", "x", 0 },
	{ "charset after a colon", BLOCK(OK "Content-Type: text/html: charset=gbk\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html", "gbk",
	  "x", 0 },
	{ "charset, spaces", BLOCK(OK "Content-Type: text/html ;; charset = \"gbk\" ; x\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html",
	  "gbk", "x", 0 },
	{ "no charset", BLOCK(OK "Content-Type: text/html: xcharset=gbk\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html", "", "x", 0 },
	{ "the first type counts", BLOCK(OK HTML "Content-Type: image/png\r\n\r\nx"), PD_SKIP_NONE, 200, "text/html", "", "x", 0 },
	{ "XHTML", BLOCK(OK "Content-Type: application/xhtml+xml\r\n\r\nx"), PD_SKIP_NONE, 200, "application/xhtml+xml", "", "x",
	  0 },
	{ "XML that is XHTML", BLOCK(OK "Content-Type: text/xml\r\n\r\n<?xml version='1.0'?><!DOCTYPE html><html>x"), PD_SKIP_NONE,
	  200, "text/xml", "", "<?xml version='1.0'?><!DOCTYPE html><html>x", 0 },
	{ "XML that is RSS", BLOCK(OK "Content-Type: text/xml\r\n\r\n<?xml version='1.0'?><rss><html>"), PD_SKIP_TYPE, 200,
	  "text/xml", "", NULL, 0 },
	{ "shorter than it says", BLOCK(OK HTML "Content-Length: 9\r\n\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body",
	  PD_PAGE_TRUNCATED },
	{ "not found", BLOCK("HTTP/1.1 404 Not Found\r\n" HTML "\r\nbody"), PD_SKIP_STATUS, 404, "text/html", "", NULL, 0 },
	{ "partial", BLOCK("HTTP/1.1 206 Partial\r\n" HTML "\r\nbody"), PD_SKIP_STATUS, 206, "text/html", "", NULL, 0 },
	{ "an image", BLOCK(OK "Content-Type: image/png\r\n\r\nbody"), PD_SKIP_TYPE, 200, "image/png", "", NULL, 0 },
	{ "no body", BLOCK(OK HTML "\r\n"), PD_SKIP_EMPTY, 200, "text/html", "", NULL, 0 },
	{ "header cut", BLOCK(OK "Content-Type: text/html"), PD_SKIP_EMPTY, 200, "text/html", "", NULL, 0 },
	{ "empty record", BLOCK(""), PD_SKIP_EMPTY, 0, "", "", NULL, 0 },
	{ "another protocol", BLOCK("HTTPX/1.1 200 OK\r\n" HTML "\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
	{ "HTTP/0.9", BLOCK("<html>"), PD_SKIP_NONE, 0, "", "", "<html>", 0 },
	{ "HTTP/0.9, no page", BLOCK("GIF89a...."), PD_SKIP_TYPE, 0, "", "", NULL, 0 },
	{ "status line cut", BLOCK("\r\nHTTP/1."), PD_SKIP_DAMAGED, 0, "", "", NULL, 0 },
	{ "status of four digits", BLOCK("HTTP/1.1 2000\r\n\r\n"), PD_SKIP_DAMAGED, 0, "", "", NULL, 0 },
	{ "no type, a tag", BLOCK(OK "\r\n  <p class=x>body"), PD_SKIP_NONE, 200, "", "", "  <p class=x>body", 0 },

	{ "chunked", BLOCK(CHUNKED "4\r\nbody\r\n5;ext=\"1\"\r\n, two\r\n0\r\nTrailer: x\r\n\r\n"), PD_SKIP_NONE, 200, "text/html",
	  "", "body, two", 0 },
	{ "chunked, line feeds", BLOCK(CHUNKED "4\nbody\n0004  \nmore\n0\n\n"), PD_SKIP_NONE, 200, "text/html", "", "bodymore", 0 },
	{ "chunked, no last chunk", BLOCK(CHUNKED "4\r\nbody\r\n"), PD_SKIP_NONE, 200, "text/html", "", "body", PD_PAGE_TRUNCATED },
	{ "chunk cut", BLOCK(CHUNKED "4\r\nbody\r\nA\r\nmo"), PD_SKIP_NONE, 200, "text/html", "", "bodymo", PD_PAGE_TRUNCATED },
	{ "chunk size too small", BLOCK(CHUNKED "4\r\nbody\r\n2\r\nmore\r\n0\r\n\r\n"), PD_SKIP_NONE, 200, "text/html", "",
	  "bodymo", PD_PAGE_TRUNCATED },
	{ "huge chunk size", BLOCK(CHUNKED "4\r\nbody\r\nffffffffffffffffff\r\nmore"), PD_SKIP_NONE, 200, "text/html", "", "body",
	  PD_PAGE_TRUNCATED },
	{ "not chunked at all", BLOCK(CHUNKED "<html>body"), PD_SKIP_NONE, 200, "text/html", "", "<html>body",
	  PD_PAGE_PLAIN_CODING },
	{ "not chunked, letters of a number", BLOCK(CHUNKED "added"), PD_SKIP_NONE, 200, "text/html", "", "added",
	  PD_PAGE_PLAIN_CODING },
	{ "chunked, empty", BLOCK(CHUNKED "0\r\n\r\n"), PD_SKIP_EMPTY, 200, "text/html", "", NULL, 0 },

	{ "gzip that is none", BLOCK(OK HTML "Content-Encoding: gzip\r\n\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body",
	  PD_PAGE_PLAIN_CODING },
	{ "deflate that is none", BLOCK(OK HTML "Content-Encoding: deflate\r\n\r\nbody"), PD_SKIP_NONE, 200, "text/html", "",
	  "body", PD_PAGE_PLAIN_CODING },
	{ "br that is none", BLOCK(OK HTML "Content-Encoding: br\r\n\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body",
	  PD_PAGE_PLAIN_CODING },
	{ "br, broken at once", BLOCK(OK HTML "Content-Encoding: br\r\n\r\n\xff\xff\1\2"), PD_SKIP_DAMAGED, 200, "text/html", "",
	  NULL, 0 },
	{ "compress", BLOCK(OK HTML "Content-Encoding: compress\r\n\r\n\x1f\x9d\x90\1\2"), PD_SKIP_DAMAGED, 200, "text/html", "",
	  NULL, 0 },
	{ "zstd", BLOCK(OK HTML "Content-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd\4\0"), PD_SKIP_DAMAGED, 200, "text/html", "", NULL,
	  0 },
	{ "gzip, broken at once", BLOCK(OK HTML "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff"),
	  PD_SKIP_DAMAGED, 200, "text/html", "", NULL, 0 },
	{ "identity", BLOCK(OK HTML "Content-Encoding: identity\r\n\r\nbody"), PD_SKIP_NONE, 200, "text/html", "", "body", 0 },
};

START_TEST(test_response)
{
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	struct pd_page p;
	const char *name = rows[_i].name, *reason, *want = rows[_i].body ? rows[_i].body : "";
	enum pd_skip skip = open_page(o, PD_RECORD_RESPONSE, "", rows[_i].block, &p, &reason);
	ck_assert_msg(skip == rows[_i].skip, "%s: %s (%s)", name, pd_skip_name(skip), reason);
	ck_assert_msg(p.status == rows[_i].status, "%s: status %d", name, p.status);
	ck_assert_msg(pd_span_is(p.content_type, rows[_i].type), "%s: type", name);
	ck_assert_msg(pd_span_is(p.charset, rows[_i].charset), "%s: charset %.*s", name, (int)p.charset.n, p.charset.p);
	ck_assert_msg((skip == PD_SKIP_DAMAGED) == (*reason != 0), "%s: reason '%s'", name, reason);
	if (skip == PD_SKIP_NONE) {
		ck_assert_msg(pd_span_is(p.body, want), "%s: body '%.*s'", name, (int)p.body.n, p.body.p);
		ck_assert_msg(p.flags == rows[_i].flags, "%s: flags %x", name, p.flags);
	}
	pd_page_opener_free(o);
}
END_TEST

START_TEST(test_reason_names_coding)
{
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	struct pd_page p;
	const char *reason;
	open_page(o, PD_RECORD_RESPONSE, "", pd_span_z(OK HTML "Content-Encoding: br\r\n\r\n\xff\xff\1\2"), &p, &reason);
	ck_assert_str_eq(reason, "body cannot be decoded: br");
	pd_page_opener_free(o);
}
END_TEST

/* --- codings --- */

enum { GZ = PD_CODEC_GZIP, ZL = PD_CODEC_ZLIB, RAW = PD_CODEC_DEFLATE, ZS = PD_CODEC_ZSTD, BR = PD_CODEC_BROTLI };

static const struct {
	const char *name, *coding;
	int codecs[4];	  /* in the order applied, 0 ends */
	size_t size, cut; /* of the page; bytes cut off the coded body */
	bool chunked;
	unsigned flags;
} codings[] = {
	{ "gzip", "gzip", { GZ }, 900, 0, false, 0 },
	{ "x-gzip", "X-GZIP", { GZ }, 900, 0, false, 0 },
	{ "gzip in chunks", "gzip", { GZ }, 900, 0, true, 0 },
	{ "deflate", "deflate", { ZL }, 900, 0, false, 0 },
	{ "deflate, bare", "deflate", { RAW }, 900, 0, false, 0 },
	{ "br", "br", { BR }, 900, 0, false, 0 },
	{ "br in chunks", "BR", { BR }, 900, 0, true, 0 },
	{ "br cut", "br", { BR }, 4000, 9, false, PD_PAGE_TRUNCATED },
	{ "br over the limit", "br", { BR }, 3 * MAX_PAGE, 0, false, PD_PAGE_CUT },
	{ "zstd", "zstd", { ZS }, 900, 0, false, 0 },
	{ "zstd cut", "zstd", { ZS }, 4000, 3, false, PD_PAGE_TRUNCATED },
	{ "zstd over the limit", "zstd", { ZS }, 3 * MAX_PAGE, 0, false, PD_PAGE_CUT },
	{ "br, then gzip", "br, gzip", { BR, GZ }, 900, 0, false, 0 },
	{ "gzip, br and zstd", "gzip,br , zstd", { GZ, BR, ZS }, 900, 0, true, 0 },
	{ "in separate lines", "deflate\r\nContent-Encoding: br\r\nContent-Encoding: ,zstd", { ZL, BR, ZS }, 900, 0, true, 0 },
	{ "said twice in two lines", "gzip\r\nContent-Encoding: gzip", { GZ }, 900, 0, false, PD_PAGE_PLAIN_CODING },
	{ "a bomb of br", "br, br", { BR, BR }, 1 << 22, 0, false, PD_PAGE_CUT },
	{ "a bomb of zstd", "zstd, zstd, zstd", { ZS, ZS, ZS }, 1 << 22, 0, false, PD_PAGE_CUT },
	{ "gzip twice", "gzip, gzip", { GZ, GZ }, 900, 0, false, 0 },
	{ "a name that changes nothing, between two", "gzip, identity, gzip", { GZ, GZ }, 900, 0, false, 0 },
	{ "deflate, then gzip", "deflate,gzip", { ZL, GZ }, 900, 0, false, 0 },
	{ "said twice, done once", "gzip, gzip", { GZ }, 900, 0, false, PD_PAGE_PLAIN_CODING },
	{ "gzip cut", "gzip", { GZ }, 900, 12, false, PD_PAGE_TRUNCATED },
	{ "gzip over the limit", "gzip", { GZ }, 3 * MAX_PAGE, 0, false, PD_PAGE_CUT },
	{ "a bomb", "gzip, gzip", { GZ, GZ }, 1 << 22, 0, false, PD_PAGE_CUT },
	{ "no coding, over the limit", "", { 0 }, MAX_PAGE + 1, 0, false, PD_PAGE_CUT },
	{ "no coding, at the limit", "", { 0 }, MAX_PAGE, 0, false, 0 },
};

static void chunk(struct pd_buf *body)
{
	struct pd_buf out = { 0 };
	for (size_t i = 0; i < body->n; i += 50) {
		size_t n = body->n - i < 50 ? body->n - i : 50;
		pd_buf_printf(&out, "%zx\r\n", n);
		pd_buf_add(&out, body->p + i, n);
		pd_buf_add_z(&out, "\r\n");
	}
	pd_buf_add_z(&out, "0\r\n\r\n");
	pd_buf_set(body, pd_buf_span(&out));
	pd_buf_release(&out);
}

START_TEST(test_coding)
{
	struct pd_buf page = { 0 }, body = { 0 }, next = { 0 }, coded = { 0 }, block = { 0 };
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	struct pd_page p;
	const char *name = codings[_i].name, *reason;
	for (unsigned i = 0; page.n < codings[_i].size; i++)
		pd_buf_printf(&page, "<p>%u", strncmp(name, "a bomb of", 9) ? i * i : 0);
	page.n = codings[_i].size;
	pd_buf_set(&body, pd_buf_span(&page));
	for (int i = 0; codings[_i].codecs[i]; i++) {
		pd_buf_clear(&next);
		pack(&next, (enum pd_codec)codings[_i].codecs[i], pd_buf_span(&body));
		pd_buf_set(&body, pd_buf_span(&next));
	}
	body.n -= codings[_i].cut;
	pd_buf_set(&coded, pd_buf_span(&body));
	if (codings[_i].chunked)
		chunk(&body);
	pd_buf_printf(&block, OK HTML "%sContent-Encoding: %s\r\n\r\n", codings[_i].chunked ? "Transfer-Encoding: chunked\r\n" : "",
		      codings[_i].coding);
	pd_buf_add_span(&block, pd_buf_span(&body));
	enum pd_skip skip = open_page(o, PD_RECORD_RESPONSE, "", pd_buf_span(&block), &p, &reason);
	ck_assert_msg(skip == PD_SKIP_NONE, "%s: %s (%s)", name, pd_skip_name(skip), reason);
	ck_assert_msg(p.flags == codings[_i].flags, "%s: flags %x", name, p.flags);
	size_t want = page.n < MAX_PAGE ? page.n : MAX_PAGE;
	if (p.flags & PD_PAGE_TRUNCATED)
		ck_assert_msg(p.body.n > 0 && p.body.n <= page.n, "%s: %zu bytes", name, p.body.n);
	else if (strncmp(name, "a bomb", 6) != 0)
		ck_assert_msg(p.body.n == want, "%s: %zu bytes", name, p.body.n);
	ck_assert_msg(p.body.n <= MAX_PAGE, "%s: %zu bytes", name, p.body.n);
	ck_assert_msg(memcmp(p.body.p, page.p, p.body.n) == 0, "%s: body", name);
	ck_assert_msg(pd_span_eq(p.payload, pd_buf_span(&coded)), "%s: payload", name);
	pd_page_opener_free(o);
	pd_buf_release(&page);
	pd_buf_release(&body);
	pd_buf_release(&next);
	pd_buf_release(&coded);
	pd_buf_release(&block);
}
END_TEST

/* Transfer codings other than chunked; the payload is the body without them, with the content coding. */
START_TEST(test_transfer)
{
	static const struct {
		const char *name, *transfer;
		int codecs[3];
		bool chunked;
		unsigned flags;
	} rows_of[] = {
		{ "gzip, chunked", "gzip, chunked", { GZ }, true, 0 },
		{ "gzip, then chunked, in two lines", "gzip\r\nTransfer-Encoding: chunked", { GZ }, true, 0 },
		{ "br, gzip, chunked", "br, gzip,chunked", { BR, GZ }, true, 0 },
		{ "deflate", "deflate", { ZL }, false, 0 },
		{ "gzip, said alone", "gzip", { 0 }, false, PD_PAGE_PLAIN_CODING },
		{ "chunked twice, done once", "chunked, chunked", { 0 }, true, 0 },
	};
	struct pd_buf page = { 0 }, body = { 0 }, coded = { 0 }, next = { 0 }, block = { 0 };
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	struct pd_page p;
	const char *name = rows_of[_i % 6].name, *reason;
	bool content = _i >= 6;
	for (unsigned i = 0; page.n < 900; i++)
		pd_buf_printf(&page, "<p>%u", i * i);
	pd_buf_set(&coded, pd_buf_span(&page));
	for (int i = 0; content && i < 2; i++) {
		pd_buf_clear(&next);
		pack(&next, i ? PD_CODEC_ZSTD : PD_CODEC_GZIP, pd_buf_span(&coded));
		pd_buf_set(&coded, pd_buf_span(&next));
	}
	pd_buf_set(&body, pd_buf_span(&coded));
	for (int i = 0; rows_of[_i % 6].codecs[i]; i++) {
		pd_buf_clear(&next);
		pack(&next, (enum pd_codec)rows_of[_i % 6].codecs[i], pd_buf_span(&body));
		pd_buf_set(&body, pd_buf_span(&next));
	}
	if (rows_of[_i % 6].chunked)
		chunk(&body);
	pd_buf_printf(&block, OK HTML "Transfer-Encoding: %s\r\n%s\r\n", rows_of[_i % 6].transfer,
		      content ? "Content-Encoding: gzip, zstd\r\n" : "");
	pd_buf_add_span(&block, pd_buf_span(&body));
	enum pd_skip skip = open_page(o, PD_RECORD_RESPONSE, "", pd_buf_span(&block), &p, &reason);
	ck_assert_msg(skip == PD_SKIP_NONE, "%s: %s (%s)", name, pd_skip_name(skip), reason);
	ck_assert_msg(p.flags == rows_of[_i % 6].flags, "%s: flags %x", name, p.flags);
	ck_assert_msg(pd_span_eq(p.body, pd_buf_span(&page)), "%s: body", name);
	ck_assert_msg(pd_span_eq(p.payload, pd_buf_span(&coded)), "%s: payload", name);
	pd_page_opener_free(o);
	pd_buf_release(&page);
	pd_buf_release(&body);
	pd_buf_release(&coded);
	pd_buf_release(&next);
	pd_buf_release(&block);
}
END_TEST

static const struct {
	const char *name, *status, *types, *response;
	enum pd_skip skip;
	enum pd_page_type is;
} asked[] = {
	{ "404 asked for", "200,404", NULL, "HTTP/1.1 404 x\r\n" HTML "\r\nx", PD_SKIP_NONE, PD_PAGE_HTML },
	{ "200 not asked for", "404", NULL, OK HTML "\r\nx", PD_SKIP_STATUS, 0 },
	{ "a class", "2xx, 404", NULL, "HTTP/1.1 206 x\r\n" HTML "\r\nx", PD_SKIP_NONE, PD_PAGE_HTML },
	{ "another class", "2xx", NULL, "HTTP/1.1 302 x\r\n" HTML "\r\nx", PD_SKIP_STATUS, 0 },
	{ "HTTP/0.9 has no status", "404", NULL, "<html>", PD_SKIP_NONE, PD_PAGE_HTML },
	{ "text not asked for", NULL, "text/html", OK "Content-Type: text/plain\r\n\r\nx", PD_SKIP_TYPE, 0 },
	{ "sniffed text not asked for", NULL, "text/html", OK "\r\nx", PD_SKIP_TYPE, 0 },
	{ "sniffed HTML not asked for", NULL, "text/plain", OK "\r\n<p>x", PD_SKIP_TYPE, 0 },
	{ "sniffed HTML", NULL, "text/html", OK "\r\n<p>x", PD_SKIP_NONE, PD_PAGE_HTML },
	{ "another type, HTML", NULL, "Application/Vnd.Wap.xhtml+xml", OK "Content-Type: application/vnd.wap.xhtml+xml\r\n\r\n<p>x",
	  PD_SKIP_NONE, PD_PAGE_HTML },
	{ "another type, text", NULL, "text/html, text/markdown", OK "Content-Type: text/markdown; a=b\r\n\r\n# x", PD_SKIP_NONE,
	  PD_PAGE_TEXT },
	{ "another type, neither", NULL, "image/gif", OK "Content-Type: image/gif\r\n\r\nGIF89a\1\2", PD_SKIP_TYPE, 0 },
	{ "XML asked for", NULL, "text/xml", OK "Content-Type: text/xml\r\n\r\n<?xml version='1.0'?><rss>x", PD_SKIP_NONE,
	  PD_PAGE_HTML },
	{ "XHTML not asked for", NULL, "text/html", OK "Content-Type: text/xml\r\n\r\n<?xml version='1.0'?><html>x", PD_SKIP_TYPE,
	  0 },
};

START_TEST(test_asked)
{
	struct pd_page_options options = { .max_page = MAX_PAGE, .status = asked[_i].status, .content_types = asked[_i].types };
	struct pd_page_opener *o = pd_page_opener_new(&options);
	struct pd_page p;
	struct pd_err e;
	const char *reason;
	ck_assert_msg(pd_page_options_check(&options, &e) == PD_OK, "%s: %s", asked[_i].name, e.text);
	enum pd_skip skip = open_page(o, PD_RECORD_RESPONSE, "", pd_span_z(asked[_i].response), &p, &reason);
	ck_assert_msg(skip == asked[_i].skip, "%s: %s", asked[_i].name, pd_skip_name(skip));
	ck_assert_msg(skip || p.type == asked[_i].is, "%s: type", asked[_i].name);
	pd_page_opener_free(o);
}
END_TEST

START_TEST(test_asked_wrongly)
{
	static const struct pd_page_options wrong[] = {
		{ .status = "" },
		{ .status = "20" },
		{ .status = "2000" },
		{ .status = "200,," },
		{ .status = "abc" },
		{ .status = "0xx" },
		{ .status = "200-299" },
		{ .content_types = "" },
		{ .content_types = "html" },
		{ .content_types = "text/html,,text/plain" },
		{ .content_types = "text/html text/plain" },
		{ .content_types = "text/html; charset=x" },
	};
	struct pd_err e = { 0 };
	ck_assert_msg(pd_page_options_check(&wrong[_i], &e) == PD_ERR_USAGE, "row %d", _i);
	ck_assert_msg(strstr(e.text, " takes a list such as "), "%s", e.text);
}
END_TEST

/* --- records that are not responses, and sniffing --- */

static const struct {
	const char *name;
	enum pd_record_kind kind;
	const char *type;
	struct pd_span block;
	enum pd_skip skip;
	enum pd_page_type is;
	const char *charset;
} payloads[] = {
	{ "warcinfo", PD_RECORD_OTHER, "", BLOCK("x"), PD_SKIP_KIND, 0, "" },
	{ "WET", PD_RECORD_TEXT, "text/plain", BLOCK("text <p>"), PD_SKIP_NONE, PD_PAGE_TEXT, "utf-8" },
	{ "WET, no type", PD_RECORD_TEXT, "", BLOCK("<p>text"), PD_SKIP_NONE, PD_PAGE_TEXT, "utf-8" },
	{ "WET, empty", PD_RECORD_TEXT, "text/plain", BLOCK(""), PD_SKIP_EMPTY, 0, "utf-8" },
	{ "converted image", PD_RECORD_TEXT, "image/png", BLOCK("x"), PD_SKIP_TYPE, 0, "utf-8" },
	{ "resource", PD_RECORD_PAYLOAD, "text/html; charset=gbk", BLOCK("x"), PD_SKIP_NONE, PD_PAGE_HTML, "gbk" },
	{ "resource, image", PD_RECORD_PAYLOAD, "image/gif", BLOCK("<html>"), PD_SKIP_TYPE, 0, "" },
	{ "html", PD_RECORD_PAYLOAD, "", BLOCK("\n <!DOCTYPE HTML>"), PD_SKIP_NONE, PD_PAGE_HTML, "" },
	{ "comment", PD_RECORD_PAYLOAD, "", BLOCK("<!-- x"), PD_SKIP_NONE, PD_PAGE_HTML, "" },
	{ "tag after text", PD_RECORD_PAYLOAD, "", BLOCK("some text<BR/>"), PD_SKIP_NONE, PD_PAGE_HTML, "" },
	{ "closing tag", PD_RECORD_PAYLOAD, "", BLOCK("x</div>"), PD_SKIP_NONE, PD_PAGE_HTML, "" },
	{ "no tag of HTML", PD_RECORD_PAYLOAD, "", BLOCK("From: <a@b.c> if a <c and d"), PD_SKIP_NONE, PD_PAGE_TEXT, "" },
	{ "text", PD_RECORD_PAYLOAD, "", BLOCK("caf\xc3\xa9\x1b$B\n\f"), PD_SKIP_NONE, PD_PAGE_TEXT, "" },
	{ "UTF-16 text", PD_RECORD_PAYLOAD, "", BLOCK("\xff\xfex\0y\0"), PD_SKIP_NONE, PD_PAGE_TEXT, "" },
	{ "UTF-16 html", PD_RECORD_PAYLOAD, "", BLOCK("\xfe\xff\0<\0p\0>"), PD_SKIP_NONE, PD_PAGE_HTML, "" },
	{ "UTF-8 mark", PD_RECORD_PAYLOAD, "", BLOCK("\xef\xbb\xbf<?xml version='1.0'?><html>"), PD_SKIP_NONE, PD_PAGE_HTML, "" },
	{ "RSS", PD_RECORD_PAYLOAD, "", BLOCK("<?xml version='1.0'?><rss><p>"), PD_SKIP_TYPE, 0, "" },
	{ "PNG", PD_RECORD_PAYLOAD, "", BLOCK("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), PD_SKIP_TYPE, 0, "" },
	{ "PDF", PD_RECORD_PAYLOAD, "", BLOCK("%PDF-1.4\n1 0 obj\n<p>"), PD_SKIP_TYPE, 0, "" },
	{ "zip", PD_RECORD_PAYLOAD, "", BLOCK("PK\3\4\24\0"), PD_SKIP_TYPE, 0, "" },
	{ "control bytes", PD_RECORD_PAYLOAD, "", BLOCK("text\1\2"), PD_SKIP_TYPE, 0, "" },
	{ "empty file", PD_RECORD_PAYLOAD, "", BLOCK(""), PD_SKIP_EMPTY, 0, "" },
};

START_TEST(test_payload)
{
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	struct pd_page p;
	const char *name = payloads[_i].name;
	enum pd_skip skip = open_page(o, payloads[_i].kind, payloads[_i].type, payloads[_i].block, &p, NULL);
	ck_assert_msg(skip == payloads[_i].skip, "%s: %s", name, pd_skip_name(skip));
	ck_assert_msg(skip || p.type == payloads[_i].is, "%s: type %d", name, p.type);
	ck_assert_msg(pd_span_is(p.charset, payloads[_i].charset), "%s: charset", name);
	ck_assert_msg(skip || pd_span_eq(p.body, payloads[_i].block), "%s: body", name);
	pd_page_opener_free(o);
}
END_TEST

/* Headers that fill all that is kept of a record: the page after them was not empty, it was not seen. */
START_TEST(test_headers_over_the_limit)
{
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = 100 });
	struct pd_record r = { .kind = PD_RECORD_RESPONSE };
	struct pd_page page;
	const char *reason;
	pd_buf_add_z(&r.block, OK HTML);
	for (int i = 0; i < 100; i++)
		pd_buf_add_z(&r.block, "Set-Cookie: crumbs\r\n");
	r.length = r.block.n + 1000;
	r.cut = true;
	ck_assert_int_eq(pd_page_open(o, &r, &page, &reason), PD_SKIP_DAMAGED);
	ck_assert_msg(strstr(reason, "HTTP headers") != NULL, "%s", reason);
	r.length = r.block.n;
	r.cut = false;
	ck_assert_int_eq(pd_page_open(o, &r, &page, &reason), PD_SKIP_EMPTY);
	pd_record_release(&r);
	pd_page_opener_free(o);
}
END_TEST

/* A response cut anywhere, in a separate buffer so that a sanitizer notices a read past its end. */
START_TEST(test_cut_anywhere)
{
	static const char whole[] = "\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=\"utf-8\"\r\nTransfer-Encoding: "
				    "chunked\r\nContent-Encoding: deflate\r\n\r\n5;x\r\n<html\r\n1\r\n>\r\n0\r\nT: x\r\n\r\n";
	struct pd_page_opener *o = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	int pages = 0;
	for (size_t n = 0; n < sizeof whole; n++) {
		struct pd_record r = { .kind = PD_RECORD_RESPONSE, .length = n };
		struct pd_page p;
		char *exact = malloc(n ? n : 1);
		memcpy(exact, whole, n);
		r.block = (struct pd_buf){ exact, n, n };
		pages += pd_page_open(o, &r, &p, NULL) == PD_SKIP_NONE;
		free(exact);
	}
	ck_assert_int_gt(pages, 10);
	pd_page_opener_free(o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http");
	TCase *t = tcase_create("http");
	tcase_add_loop_test(t, test_response, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, test_reason_names_coding);
	tcase_add_loop_test(t, test_coding, 0, sizeof codings / sizeof *codings);
	tcase_add_loop_test(t, test_transfer, 0, 12);
	tcase_add_loop_test(t, test_asked, 0, sizeof asked / sizeof *asked);
	tcase_add_loop_test(t, test_asked_wrongly, 0, 12);
	tcase_add_loop_test(t, test_payload, 0, sizeof payloads / sizeof *payloads);
	tcase_add_test(t, test_headers_over_the_limit);
	tcase_add_test(t, test_cut_anywhere);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
