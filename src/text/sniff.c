/* SPDX-License-Identifier: MIT
 *
 * Byte order mark, XML declaration and <meta>.  The declaration follows WHATWG HTML, "get an XML encoding".
 */
#include "text/sniff.h"

const struct pd_charset *pd_text_sniff_bom(struct pd_span body, size_t *length)
{
	const unsigned char *p = (const unsigned char *)body.p;
	*length = 2;
	if (body.n >= 2 && p[0] == 0xFF && p[1] == 0xFE)
		return pd_charset_by_id(PD_UTF_16LE);
	if (body.n >= 2 && p[0] == 0xFE && p[1] == 0xFF)
		return pd_charset_by_id(PD_UTF_16BE);
	*length = 3;
	if (body.n >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF)
		return pd_charset_by_id(PD_UTF_8);
	*length = 0;
	return NULL;
}

static void skip_blank(struct pd_span *s)
{
	while (s->n && (unsigned char)s->p[0] <= 0x20)
		s->p++, s->n--;
}

/* The value of `encoding` in a declaration, or nothing. */
static struct pd_span encoding_value(struct pd_span s)
{
	const struct pd_span none = { 0 }, name = pd_span_z("encoding");
	ptrdiff_t at = pd_span_find(s, name);
	if (at < 0)
		return none;
	s = pd_span(s.p + at + name.n, s.n - (size_t)at - name.n);
	skip_blank(&s);
	if (!s.n || s.p[0] != '=')
		return none;
	s.p++, s.n--;
	skip_blank(&s);
	if (!s.n || (s.p[0] != '"' && s.p[0] != '\''))
		return none;
	const char *end = memchr(s.p + 1, s.p[0], s.n - 1);
	return end ? pd_span(s.p + 1, (size_t)(end - s.p - 1)) : none;
}

const struct pd_charset *pd_text_sniff_xml(struct pd_span body)
{
	if (body.n > PD_TEXT_SNIFF_BYTES)
		body.n = PD_TEXT_SNIFF_BYTES;
	if (body.n >= 6 && !memcmp(body.p, "<\0?\0x", 6))
		return pd_charset_by_id(PD_UTF_16LE);
	if (body.n >= 6 && !memcmp(body.p, "\0<\0?\0x", 6))
		return pd_charset_by_id(PD_UTF_16BE);
	if (body.n < 5 || memcmp(body.p, "<?xml", 5))
		return NULL;
	const char *end = memchr(body.p, '>', body.n);
	if (!end)
		return NULL;
	const struct pd_charset *c = pd_charset_by_label(encoding_value(pd_span(body.p, (size_t)(end - body.p))));
	/* It could not have been read, were it true. */
	if (c && (c->id == PD_UTF_16LE || c->id == PD_UTF_16BE))
		return pd_charset_by_id(PD_UTF_8);
	return c;
}

/* --- <meta> --- */

/*
 * <meta> in the first 1,024 bytes: WHATWG HTML, "prescan a byte stream to determine its encoding", "get an attribute"
 * and "extracting a character encoding from a meta element".  In: a body; out: the first charset that a meta element
 * declares and a browser knows.  No parser: this must work before the bytes are characters.
 */

struct attribute {
	struct pd_span name, value;
};

/* What the attributes of one meta element said so far. */
struct meta {
	bool seen_http_equiv, seen_content, seen_charset;
	bool got_pragma;		/* http-equiv="content-type" */
	bool declared, need_pragma;	/* something was declared; by `content` */
	const struct pd_charset *charset;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void skip(struct pd_span *s, size_t n)
{
	n = n < s->n ? n : s->n;
	s->p += n;
	s->n -= n;
}

static void skip_white(struct pd_span *s)
{
	while (s->n && blank(s->p[0]))
		skip(s, 1);
}

/* Takes what stands before the first byte that ends it. */
static struct pd_span take(struct pd_span *s, bool (*ends)(char))
{
	size_t n = 0;
	while (n < s->n && !ends(s->p[n]))
		n++;
	struct pd_span part = pd_span(s->p, n);
	skip(s, n);
	return part;
}

static bool ends_tag_name(char c)
{
	return blank(c) || c == '>';
}

static bool ends_name(char c)
{
	return ends_tag_name(c) || c == '/' || c == '=';
}

static bool ends_label(char c)
{
	return blank(c) || c == ';';
}

/* What stands between two quotes, after the first; used up when the second is missing. */
static struct pd_span quoted(struct pd_span *s, bool *closed)
{
	const char *end = s->n ? memchr(s->p + 1, s->p[0], s->n - 1) : NULL;
	*closed = end != NULL;
	size_t n = end ? (size_t)(end - s->p) : s->n;
	struct pd_span part = n ? pd_span(s->p + 1, n - 1) : pd_span(s->p, 0);
	skip(s, n + 1);
	return part;
}

/* False: the element ended, or the bytes did. */
static bool next_attribute(struct pd_span *s, struct attribute *a)
{
	bool closed = true;
	while (s->n && (blank(s->p[0]) || s->p[0] == '/'))
		skip(s, 1);
	if (!s->n || s->p[0] == '>')
		return false;
	size_t first = s->p[0] == '=';	/* a name may begin with it */
	struct pd_span rest = pd_span(s->p + first, s->n - first);
	a->name = take(&rest, ends_name);
	a->name.p -= first;
	a->name.n += first;
	a->value = pd_span(rest.p, 0);
	*s = rest;
	skip_white(s);
	if (!s->n || s->p[0] != '=')
		return s->n != 0;
	skip(s, 1);
	skip_white(s);
	if (s->n && (s->p[0] == '"' || s->p[0] == '\''))
		a->value = quoted(s, &closed);
	else
		a->value = take(s, ends_tag_name);
	/* A value that the bytes cut is none. */
	return closed && s->n;
}

/* "text/html; charset=gb2312" -> gb2312 */
static const struct pd_charset *from_content(struct pd_span s)
{
	bool closed = true;
	for (; s.n; skip(&s, 1)) {
		if (!pd_span_istarts(s, "charset"))
			continue;
		struct pd_span v = pd_span(s.p + 7, s.n - 7);
		skip_white(&v);
		if (!v.n || v.p[0] != '=')
			continue;
		skip(&v, 1);
		skip_white(&v);
		if (v.n && (v.p[0] == '"' || v.p[0] == '\''))
			v = quoted(&v, &closed);
		else
			v = take(&v, ends_label);
		return closed ? pd_charset_by_label(v) : NULL;
	}
	return NULL;
}

/* True the first time. */
static bool first(bool *seen)
{
	bool before = *seen;
	*seen = true;
	return !before;
}

static void on_attribute(struct meta *m, const struct attribute *a)
{
	if (pd_span_ieq(a->name, "http-equiv") && first(&m->seen_http_equiv)) {
		m->got_pragma = pd_span_ieq(a->value, "content-type");
	} else if (pd_span_ieq(a->name, "content") && first(&m->seen_content)) {
		const struct pd_charset *c = from_content(a->value);
		if (c && !m->charset) {
			m->charset = c;
			m->declared = m->need_pragma = true;
		}
	} else if (pd_span_ieq(a->name, "charset") && first(&m->seen_charset)) {
		m->charset = pd_charset_by_label(a->value);
		m->declared = true;
		m->need_pragma = false;
	}
}

/* A browser that could read the declaration does not believe these two. */
static const struct pd_charset *believed(const struct pd_charset *c)
{
	if (c->id == PD_UTF_16LE || c->id == PD_UTF_16BE)
		return pd_charset_by_id(PD_UTF_8);
	return c->id == PD_USER_DEFINED ? pd_charset_by_id(PD_WINDOWS_1252) : c;
}

/* After "<meta" and the byte behind it. */
static const struct pd_charset *meta_element(struct pd_span *s)
{
	struct meta m = { 0 };
	struct attribute a;
	while (next_attribute(s, &a))
		on_attribute(&m, &a);
	if (!s->n || !m.declared || (m.need_pragma && !m.got_pragma) || !m.charset)
		return NULL;
	return believed(m.charset);
}

static void skip_past(struct pd_span *s, const char *what)
{
	ptrdiff_t at = pd_span_find(*s, pd_span_z(what));
	skip(s, at < 0 ? s->n : (size_t)at + strlen(what));
}

static bool letter(char c)
{
	return pd_ascii_lower(c) >= 'a' && pd_ascii_lower(c) <= 'z';
}

/* A "<" that begins neither a comment nor meta. */
static void skip_markup(struct pd_span *s)
{
	struct attribute a;
	size_t slash = s->n > 1 && s->p[1] == '/';
	if (s->n > 1 + slash && letter(s->p[1 + slash])) {
		take(s, ends_tag_name);
		while (next_attribute(s, &a))
			continue;
	} else if (s->n > 1 && (slash || s->p[1] == '!' || s->p[1] == '?')) {
		skip_past(s, ">");
	} else {
		skip(s, 1);
	}
}

const struct pd_charset *pd_text_sniff_meta(struct pd_span body)
{
	struct pd_span s = pd_span(body.p, body.n < PD_TEXT_SNIFF_BYTES ? body.n : PD_TEXT_SNIFF_BYTES);
	while (s.n) {
		if (s.p[0] != '<') {
			skip(&s, 1);
		} else if (pd_span_istarts(s, "<!--")) {
			skip(&s, 2);	/* the dashes may close it too: <!--> */
			skip_past(&s, "-->");
		} else if (pd_span_istarts(s, "<meta") && s.n > 5 && (blank(s.p[5]) || s.p[5] == '/')) {
			skip(&s, 5);
			const struct pd_charset *c = meta_element(&s);
			if (c)
				return c;
		} else {
			skip_markup(&s);
		}
	}
	return NULL;
}
