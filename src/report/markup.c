/* SPDX-License-Identifier: MIT */
#include "report/markup.h"

#include "base/utf8.h"

static const char *entity(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

static uint32_t code_point(const char *p, size_t n)
{
	const uint8_t *b = (const uint8_t *)p;
	switch (n) {
	case 1: return b[0];
	case 2: return (b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu);
	case 3: return (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
	default: return (b[0] & 0x07u) << 18 | (b[1] & 0x3Fu) << 12 | (b[2] & 0x3Fu) << 6 | (b[3] & 0x3Fu);
	}
}

/* Bidirectional marks, embeddings, overrides and isolates (UAX 9); what takes no room but joins nothing; controls. */
static bool is_hidden(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C || c == 0x180E ||
	       c == 0x200B || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
	       c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

static void add_escaped(struct pd_buf *out, struct pd_span s, bool show_hidden)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		size_t valid = n = pd_utf8_sequence(s.p + i, s.n - i);
		const char *e = entity(s.p[i]);
		if (!valid)
			n = 1;
		if (!valid)
			pd_buf_add_utf8(out, 0xFFFD);
		else if (e)
			pd_buf_add_z(out, e);
		else if (show_hidden && is_hidden(code_point(s.p + i, n)))
			pd_buf_printf(out, "<span class=\"mark\">U+%04X</span>", code_point(s.p + i, n));
		else
			pd_buf_add(out, s.p + i, n);
	}
}

void pd_markup_text(struct pd_buf *out, struct pd_span s)
{
	add_escaped(out, s, true);
}

void pd_markup_attribute(struct pd_buf *out, struct pd_span s)
{
	add_escaped(out, s, false);
}
