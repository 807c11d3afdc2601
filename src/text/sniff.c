/* SPDX-License-Identifier: MIT
 *
 * Byte order mark and XML declaration.  The declaration follows WHATWG HTML, "get an XML encoding".
 */
#include "text/sniff.h"

const struct pd_charset *pd_sniff_bom(struct pd_span body, size_t *length)
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

const struct pd_charset *pd_sniff_xml(struct pd_span body)
{
	if (body.n > PD_SNIFF_BYTES)
		body.n = PD_SNIFF_BYTES;
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
