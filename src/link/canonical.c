/* SPDX-License-Identifier: MIT */
#include "link/canonical.h"

#include <stdlib.h>

#include "link/host.h"

const char *const pd_url_forms[] = { "standard", "canonical", "loose", NULL };

/* --- escapes --- */

enum { UNRESERVED = 1, LETTER = 2, ESCAPED = 4 };

static const uint8_t class[256] = {
	[0 ... ' '] = ESCAPED,
	['"'] = ESCAPED,
	['%'] = ESCAPED,
	['-' ... '.'] = UNRESERVED,
	['0' ... '9'] = UNRESERVED,
	['<'] = ESCAPED, ['>'] = ESCAPED,
	['A' ... 'Z'] = UNRESERVED | LETTER,
	['['] = ESCAPED, [']' ... '^'] = ESCAPED,
	['_'] = UNRESERVED,
	['`'] = ESCAPED,
	['a' ... 'z'] = UNRESERVED,
	['{' ... '}'] = ESCAPED,
	['~'] = UNRESERVED,
	[0x7F ... 0xFF] = ESCAPED,
};

/* Appends `s` with as few escapes as mean the same.  `lower`: letters in lower case, but for those of escapes. */
static void add(struct pd_buf *out, struct pd_span s, bool lower)
{
	static const char digits[] = "0123456789ABCDEF";
	char *to = pd_buf_reserve(out, 3 * s.n);
	uint8_t look = ESCAPED | (lower ? LETTER : 0);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (!(class[c] & look)) {
			*to++ = (char)c;
			continue;
		}
		int byte = c == '%' && i + 2 < s.n ? pd_hex_byte(s.p[i + 1], s.p[i + 2]) : -1;
		if (byte >= 0) {
			c = (unsigned char)byte;
			i += 2;
		}
		if (byte >= 0 ? !(class[c] & UNRESERVED) : class[c] & ESCAPED) {
			*to++ = '%';
			*to++ = digits[c >> 4];
			*to++ = digits[c & 15];
		} else {
			*to++ = lower ? pd_ascii_lower((char)c) : (char)c;
		}
	}
	out->n = (size_t)(to - out->p);
	*to = 0;
}

/* --- host --- */

/* "www." and "www2." say nothing before a name with a dot. */
static struct pd_span without_www(struct pd_span host)
{
	size_t i = 3;
	if (host.n < 5 || memcmp(host.p, "www", 3) != 0)
		return host;
	while (i < host.n && host.p[i] >= '0' && host.p[i] <= '9')
		i++;
	if (i == host.n || host.p[i] != '.' || !memchr(host.p + i + 1, '.', host.n - i - 1))
		return host;
	return pd_span(host.p + i + 1, host.n - i - 1);
}

/* Without dots at the end, unless it would be none any more, or an address. */
static struct pd_span without_dots(struct pd_span host)
{
	struct pd_span out = host;
	while (out.n && out.p[out.n - 1] == '.')
		out.n--;
	return out.n < host.n && (!out.n || (pd_host_is_address(out) && !pd_host_is_address(host))) ? host : out;
}

static void add_site(const struct pd_canonical *c, const struct pd_url *u, struct pd_buf *out)
{
	struct pd_span host = without_dots(pd_url_host_of(u)), port = pd_url_port(u);
	if (c->form == PD_FORM_LOOSE && u->scheme == PD_URL_HTTPS && !port.n)
		pd_buf_add_z(out, "http");
	else
		pd_buf_add_span(out, pd_url_part(u, 0, u->colon));
	pd_buf_add_z(out, "://");
	pd_buf_add_span(out, c->form == PD_FORM_LOOSE ? without_www(host) : host);
	if (port.n) {
		pd_buf_add_c(out, ':');
		pd_buf_add_span(out, port);
	}
}

/* --- path --- */

static bool letters_and_digits(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') || ((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z')))
			return false;
	return true;
}

/* ASP.NET's session in a segment of its own: 24 letters and digits in brackets, (24), or one or more of x(24), (S(24)F(24)). */
static bool session_segment(struct pd_span s)
{
	enum { ID = 24 };
	if (s.n < ID + 2 || s.p[0] != '(' || s.p[s.n - 1] != ')')
		return false;
	s = pd_span(s.p + 1, s.n - 2);
	if (s.n == ID)
		return letters_and_digits(s);
	for (; s.n; s = pd_span(s.p + ID + 3, s.n - ID - 3))
		if (s.n < ID + 3 || s.p[1] != '(' || s.p[ID + 2] != ')' || !letters_and_digits(pd_span(s.p, 1)) ||
		    !letters_and_digits(pd_span(s.p + 2, ID)))
			return false;
	return true;
}

static struct pd_span without_jsessionid(struct pd_span s)
{
	const char *semicolon = s.n ? memchr(s.p, ';', s.n) : NULL;
	size_t n = semicolon ? (size_t)(semicolon - s.p) : s.n;
	return semicolon && pd_span_istarts(pd_span(semicolon + 1, s.n - n - 1), "jsessionid=") ? pd_span(s.p, n) : s;
}

/* Slashes side by side are one. */
static void add_path(const struct pd_canonical *c, struct pd_span path, struct pd_buf *out)
{
	bool loose = c->form == PD_FORM_LOOSE;
	size_t from = out->n;
	for (size_t i = 0; i < path.n;) {
		const char *next = memchr(path.p + i, '/', path.n - i);
		size_t end = next ? (size_t)(next - path.p) : path.n;
		struct pd_span s = pd_span(path.p + i, end - i);
		if (loose)
			s = session_segment(s) ? pd_span("", 0) : without_jsessionid(s);
		add(out, s, loose);
		if (next && (out->n == from || out->p[out->n - 1] != '/'))
			pd_buf_add_c(out, '/');
		i = end + 1;
	}
	if (loose && out->n > from + 1 && out->p[out->n - 1] == '/')
		out->p[--out->n] = 0;
}

/* Most paths have nothing that must be changed. */
static bool plain_path(const struct pd_canonical *c, struct pd_span path)
{
	char before = 0;
	if (c->form == PD_FORM_LOOSE)
		return false;
	for (size_t i = 0; i < path.n; i++) {
		if (class[(unsigned char)path.p[i]] & ESCAPED || (path.p[i] == '/' && before == '/'))
			return false;
		before = path.p[i];
	}
	return true;
}

/* --- query --- */

static void add_query(struct pd_canonical *c, const struct pd_url *u, struct pd_buf *out)
{
	struct pd_query *q = &c->query;
	char sign = '?';
	if (u->fragment - u->query < 2)
		return;
	pd_buf_clear(&q->text);
	add(&q->text, pd_url_part(u, u->query + 1, u->fragment), c->form == PD_FORM_LOOSE);
	pd_query_split(q, pd_buf_span(&q->text));
	pd_query_sort(q);
	for (size_t i = 0; i < q->n; i++) {
		struct pd_span item = q->items[i].item;
		if (c->params && pd_params_has(c->params, pd_url_host_of(u), &q->items[i]))
			continue;
		if (item.n == q->items[i].name.n + 1)
			item.n--;
		if (!item.n)
			continue;
		pd_buf_add_c(out, sign);
		pd_buf_add_span(out, item);
		sign = '&';
	}
}

/* --- all --- */

void pd_canonical_make(struct pd_canonical *c, const struct pd_url *u, struct pd_buf *out)
{
	pd_buf_clear(out);
	if (c->form == PD_FORM_STANDARD) {
		pd_buf_add_span(out, pd_buf_span(&u->href));
		return;
	}
	if (u->has_host) {
		add_site(c, u, out);
		struct pd_span path = pd_url_path(u);
		if (plain_path(c, path))
			pd_buf_add_span(out, path);
		else
			add_path(c, path, out);
	} else {
		pd_buf_add_span(out, pd_url_part(u, 0, u->path));
		add(out, pd_url_path(u), false);
	}
	add_query(c, u, out);
	if (c->keep_fragment && u->href.n - u->fragment > 1) {
		pd_buf_add_c(out, '#');
		add(out, pd_url_part(u, u->fragment + 1, (uint32_t)u->href.n), false);
	}
}

void pd_canonical_release(struct pd_canonical *c)
{
	pd_query_release(&c->query);
}

bool pd_canonical_split(struct pd_span canonical, struct pd_span *site, struct pd_span *path)
{
	const char *colon = canonical.n ? memchr(canonical.p, ':', canonical.n) : NULL;
	size_t from = colon ? (size_t)(colon - canonical.p) + 3 : canonical.n + 1, to = from;
	if (from > canonical.n || colon[1] != '/' || colon[2] != '/')
		return false;
	while (to < canonical.n && canonical.p[to] != '/' && canonical.p[to] != '?' && canonical.p[to] != '#')
		to++;
	*site = pd_span(canonical.p + from, to - from);
	*path = pd_span(canonical.p + to, canonical.n - to);
	return site->n > 0;
}
