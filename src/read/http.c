/* SPDX-License-Identifier: MIT
 *
 * In this order: the header of a message, chunked transfer coding, the parameters of a media type, codings.
 */
#include "read/http.h"

#include <stdlib.h>

#include "base/codec.h"
#include "read/sniff.h"

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

/* "HTTP/1.1 200 OK", "HTTP/2 200", and also "HTTPX/1.1" of some servers: letters, a slash, a version, three digits. */
static bool status_line(struct pd_span line, int *status)
{
	size_t i = 0;
	while (i < line.n && pd_ascii_lower(line.p[i]) >= 'a' && pd_ascii_lower(line.p[i]) <= 'z')
		i++;
	if (!i || i + 1 >= line.n || line.p[i] != '/' || !pd_ascii_digit(line.p[i + 1]))
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

static struct pd_span *add_coding_line(struct pd_read_http_codings *list)
{
	return list->n < PD_HTTP_CODING_LINES ? &list->line[list->n++] : NULL;
}

static struct pd_span *slot(struct pd_read_http *h, struct pd_span name)
{
	if (pd_span_ieq(name, "Content-Type"))
		return &h->content_type;
	if (pd_span_ieq(name, "Content-Encoding"))
		return add_coding_line(&h->content);
	if (pd_span_ieq(name, "Transfer-Encoding"))
		return add_coding_line(&h->transfer);
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

struct pd_span pd_read_http_media_type(struct pd_span content_type)
{
	struct pd_span type = pd_span_trim(content_type);
	size_t n = 0;
	while (n < type.n && !pd_ascii_space(type.p[n]) && !memchr(";,:", type.p[n], 3))
		n++;
	return pd_span(type.p, n);
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

struct pd_span pd_read_http_charset(struct pd_span content_type)
{
	struct pd_span part, rest = content_type;
	while (next_part(&rest, &part)) {
		if (!pd_span_istarts(part, "charset"))
			continue;
		part = pd_span_trim(pd_span(part.p + 7, part.n - 7));
		if (!part.n || part.p[0] != '=')
			continue;
		part = pd_span_trim(pd_span(part.p + 1, part.n - 1));
		if (part.n && (part.p[0] == '"' || part.p[0] == '\'')) {
			const char *end = memchr(part.p + 1, part.p[0], part.n - 1);
			part = pd_span(part.p + 1, end ? (size_t)(end - part.p - 1) : part.n - 1);
		}
		return pd_span_trim(part);
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

static int remove_coding(struct work *w, struct pd_span coding, struct pd_buf *out)
{
	int r = PD_OK;
	if (pd_span_ieq(coding, "gzip") || pd_span_ieq(coding, "x-gzip")) {
		r = undo_packed(w, PD_CODEC_GZIP, out);
	} else if (pd_span_ieq(coding, "zstd")) {
		r = undo_packed(w, PD_CODEC_ZSTD, out);
	} else if (pd_span_ieq(coding, "deflate")) {
		/* It means zlib's format, but some servers send raw deflate data. */
		const unsigned char *b = (const unsigned char *)w->body->p;
		bool zlib = w->body->n >= 2 && (b[0] & 15) == 8 && (b[0] << 8 | b[1]) % 31 == 0;
		if (pd_sniff_is_text(*w->body))
			return keep_body(w);
		if (!zlib || take_unpacked(w, out, unpack(w, PD_CODEC_ZLIB, out)) != PD_OK)
			r = take_unpacked(w, out, unpack(w, PD_CODEC_DEFLATE, out));
	} else if (pd_span_ieq(coding, "br")) {
		/* Brotli can be recognised only by decoding it to its end, or to the limit. */
		r = unpack(w, PD_CODEC_BROTLI, out);
		if (r != PD_OK && r != PD_ERR_LIMIT && pd_sniff_is_text(*w->body))
			return keep_body(w);
		r = take_unpacked(w, out, r);
#ifdef PD_WITHOUT_brotli
		if (r < 0)
			return fail_coding(w->c, "this program was built without brotli: body cannot be decoded", coding);
#endif
	} else if (pd_span_ieq(coding, "compress") || pd_span_ieq(coding, "x-compress")) {
		return pd_sniff_is_text(*w->body) ? keep_body(w) : fail_coding(w->c, "content coding not supported", coding);
	}
	/* Other names (identity, utf-8, none) are mistakes and are ignored. */
	return r < 0 ? fail_coding(w->c, "body cannot be decoded", coding) : r;
}

static int undo_all(struct work *w, struct pd_read_http_codings list, struct layers *layers, bool transfer)
{
	struct pd_span coding;
	bool chunked = false;
	for (int turn = 0; turn < TURNS && w->body->n && http_codings_pop(&list, &coding); turn++) {
		if (!transfer || !pd_span_istarts(coding, "chunked")) {
			/* The buffers are exchanged only if one of them now has the body; a coding that left the body
			 * unchanged wrote nothing. */
			struct pd_buf *out = &layers->out[layers->turn & 1];
			int r = remove_coding(w, coding, out);
			layers->turn += w->body->p == out->p;
			if (r < 0)
				return r;
			continue;
		}
		if (chunked)
			continue;
		chunked = true;
		pd_buf_shrink(&w->c->chunks, KEEP);
		enum http_chunked r = http_unchunk(*w->body, SIZE_MAX, &w->c->chunks);
		if (r == PD_CHUNKED_NOT) {
			keep_body(w);
			continue;
		}
		if (r == PD_CHUNKED_SHORT && !(*w->flags & PD_PAGE_CUT))
			*w->flags |= PD_PAGE_TRUNCATED;
		*w->body = pd_buf_span(&w->c->chunks);
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
