/* SPDX-License-Identifier: MIT */
#include "page/listeners.h"

#include "base/utf8.h"

static bool is_xml_name(struct pd_span name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool first = pd_ascii_letter(c) || c == '_';
		if (!first && (i == 0 || (!pd_ascii_digit(c) && c != '-' && c != '.')))
			return false;
	}
	return name.n > 0 && !pd_span_ieq(name, "xmlns");
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

/* Return the length of the character at p, or 0 if XML forbids it (a control, a noncharacter, invalid UTF-8). */
static size_t xml_char(const char *p, size_t n)
{
	if ((uint8_t)p[0] < ' ')
		return *p == '\t' || *p == '\n' || *p == '\r';
	if (n >= 3 && memcmp(p, "\xEF\xBF", 2) == 0 && (uint8_t)p[2] >= 0xBE)
		return 0;
	return pd_utf8_sequence(p, n);
}

void pd_xhtml_text(struct pd_buf *out, struct pd_span s)
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
		bool skip = !is_xml_name(attrs[i].name);
		for (size_t j = 0; j < i && !skip; j++)
			skip = pd_span_eq(attrs[j].name, attrs[i].name);
		if (skip)
			continue;
		pd_buf_add_c(out, ' ');
		pd_buf_add_span(out, attrs[i].name);
		pd_buf_add_z(out, "=\"");
		pd_xhtml_text(out, attrs[i].value);
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
