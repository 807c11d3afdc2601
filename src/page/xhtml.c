/* SPDX-License-Identifier: MIT
 *
 * See the header.  XML 1.0 (fifth edition): section 2.2 for the characters, 2.3 for names; attributes with a colon or
 * named xmlns are left out, since their namespace would have to be declared.
 */
#include "page/xhtml.h"

#include "base/utf8.h"

static bool name_byte(char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
		return true;
	return !first && ((c >= '0' && c <= '9') || c == '-' || c == '.');
}

static bool xml_name(struct pd_span name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!name_byte(name.p[i], i == 0))
			return false;
	return name.n > 0 && !pd_span_ieq(name, "xmlns");
}

static bool seen_before(const struct pd_attr *attrs, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (pd_span_eq(attrs[j].name, attrs[i].name))
			return true;
	return false;
}

static const char *escape(char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	default: return NULL;
	}
}

/* Bytes of the character at p, 0 when XML forbids it (a control, a noncharacter, no UTF-8). */
static size_t xml_char(const char *p, size_t n)
{
	if ((uint8_t)p[0] < ' ')
		return *p == '\t' || *p == '\n' || *p == '\r';
	if (n >= 3 && memcmp(p, "\xEF\xBF", 2) == 0 && (uint8_t)p[2] >= 0xBE)
		return 0;
	return pd_utf8_sequence(p, n);
}

static void escaped(struct pd_buf *out, struct pd_span s)
{
	size_t from = 0, i = 0;
	while (i < s.n) {
		const char *esc = escape(s.p[i]);
		size_t k = xml_char(s.p + i, s.n - i);
		if (k && !esc) {
			i += k;
			continue;
		}
		pd_buf_add(out, s.p + from, i - from);
		if (esc)
			pd_buf_add_z(out, esc);
		from = ++i;
	}
	pd_buf_add(out, s.p + from, i - from);
}

void pd_xhtml_open(struct pd_buf *out, enum pd_tag t, const struct pd_attr *attrs, size_t n)
{
	pd_buf_add_c(out, '<');
	pd_buf_add_z(out, pd_tag_name(t));
	for (size_t i = 0; i < n; i++) {
		if (!xml_name(attrs[i].name) || seen_before(attrs, i))
			continue;
		pd_buf_add_c(out, ' ');
		pd_buf_add_span(out, attrs[i].name);
		pd_buf_add_z(out, "=\"");
		escaped(out, attrs[i].value);
		pd_buf_add_c(out, '"');
	}
	pd_buf_add_z(out, pd_tag_void(t) ? " />" : ">");
}

void pd_xhtml_close(struct pd_buf *out, enum pd_tag t)
{
	if (pd_tag_void(t))
		return;
	pd_buf_add_z(out, "</");
	pd_buf_add_z(out, pd_tag_name(t));
	pd_buf_add_c(out, '>');
}

void pd_xhtml_text(struct pd_buf *out, struct pd_span s)
{
	escaped(out, s);
}
