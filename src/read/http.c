/* SPDX-License-Identifier: MIT
 *
 * Message parsing and chunked transfer coding.
 */
#include "read/http.h"

#include "base/buf.h"

/* The next line without its line end (CRs and LF); false at the end. */
static bool next_line(struct pd_span *rest, struct pd_span *line)
{
	if (!rest->n || !pd_span_split(rest, '\n', line))
		return false;
	if (!rest->p)
		*rest = pd_span(line->p + line->n, 0);
	while (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "HTTP/", also of servers that speak "HTTPX/1.1": letters, a slash, a version. */
static bool protocol(struct pd_span line)
{
	size_t i = 0;
	while (i < line.n && pd_ascii_lower(line.p[i]) >= 'a' && pd_ascii_lower(line.p[i]) <= 'z')
		i++;
	return i && i + 1 < line.n && line.p[i] == '/' && digit(line.p[i + 1]);
}

/* "HTTP/1.1 200 OK", "HTTP/2 200": three digits after the version. */
static bool status_line(struct pd_span line, int *status)
{
	if (!protocol(line))
		return false;
	const char *p = memchr(line.p, ' ', line.n), *end = line.p + line.n;
	while (p && p < end && *p == ' ')
		p++;
	if (!p || end - p < 3 || !digit(p[0]) || !digit(p[1]) || !digit(p[2]) || (end - p > 3 && digit(p[3])))
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

/* Takes one header line; *at is the value that a folded line would go on with. */
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
		if (!next_line(&rest, &line))
			return false;
	} while (!line.n);
	if (!status_line(line, &out->status))
		return false;
	for (;;) {
		struct pd_span before = rest;
		out->endless = !next_line(&rest, &line);
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

bool pd_read_http_simple(struct pd_span message)
{
	return !pd_span_istarts(pd_span_trim(message), "HTTP/");
}

bool pd_read_http_codings_pop(struct pd_read_http_codings *list, struct pd_span *coding)
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

enum pd_read_http_chunked pd_read_http_unchunk(struct pd_span body, size_t limit, struct pd_buf *out)
{
	struct pd_span line, rest = body;
	enum pd_read_http_chunked at_end = PD_CHUNKED_NOT;
	for (;;) {
		uint64_t size;
		/* A chunk header is a line of its own, and a size alone at the very end is none. */
		if (!rest.n || !memchr(rest.p, '\n', rest.n) || !next_line(&rest, &line) || !chunk_size(line, &size))
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
		/* What must follow the data is a line end; else the size was wrong. */
		if (!next_line(&rest, &line) || line.n)
			return PD_CHUNKED_SHORT;
	}
}

/* TYPE/SUBTYPE, whatever follows: "text/html; charset=x", "text/html charset=x", "text/html, text/html", "text/html: x". */
struct pd_span pd_read_http_media_type(struct pd_span content_type)
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

/* Parameters are parted by semicolons; some servers send a space, a comma or a colon. */
static bool next_part(struct pd_span *rest, struct pd_span *part)
{
	size_t n = 0;
	if (!rest->n)
		return false;
	while (rest->n && (pd_ascii_space(rest->p[0]) || memchr(";,:", rest->p[0], 3)))
		*rest = pd_span(rest->p + 1, rest->n - 1);
	while (n < rest->n && !memchr(";,:", rest->p[n], 3)) {
		/* A space parts them, too, but for those around the sign of equality. */
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
		return unquote(pd_span(part.p + 1, part.n - 1));
	}
	return pd_span(NULL, 0);
}
