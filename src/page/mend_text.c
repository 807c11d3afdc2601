/* SPDX-License-Identifier: MIT
 *
 * Text and attribute values, mended: references decoded, what XML forbids left out, white space around line breaks
 * collapsed (the indentation of a page's source is a good part of its bytes).
 */
#include "page/entity.h"
#include "page/mend.h"

/* Bytes that need a look: control characters, markup, and EF, which begins U+FFFE and U+FFFF. */
static const bool special[256] = {
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	['&'] = 1, ['<'] = 1, [0xEF] = 1,
};

static void put_code_point(struct pd_mender *m, uint32_t cp)
{
	if (cp == '<')
		pd_mend_put_z(m, "&lt;");
	else if (cp == '&')
		pd_mend_put_z(m, "&amp;");
	else if (cp == '"')
		pd_mend_put_z(m, "&quot;");
	else if (cp >= ' ')
		pd_buf_add_utf8(&m->out, cp);
	else if (pd_ascii_space((char)cp))
		pd_mend_put_z(m, " ");
}

static void reference(struct pd_mender *m, const char *stop, bool in_value)
{
	uint32_t cp;
	size_t n = pd_reference(pd_span(m->p, (size_t)(stop - m->p)), in_value, &cp);
	put_code_point(m, n ? cp : '&');
	m->p += n ? n : 1;
}

static bool noncharacter(const char *p, const char *stop)
{
	return stop - p >= 3 && (uint8_t)p[1] == 0xBF && (uint8_t)p[2] >= 0xBE;
}

static bool line_break(char c)
{
	return c == '\n' || c == '\r';
}

static void white_space(struct pd_mender *m, const char *stop)
{
	bool line = line_break(*m->p);
	if (m->all) {
		pd_mend_put_z(m, line ? "\n" : *m->p == '\t' ? "\t" : " ");
		m->p += stop - m->p >= 2 && m->p[0] == '\r' && m->p[1] == '\n' ? 2 : 1;
		return;
	}
	for (; m->p < stop && pd_ascii_space(*m->p); m->p++)
		line |= line_break(*m->p);
	pd_mend_put_z(m, line ? "\n" : " ");
}

static void special_byte(struct pd_mender *m, const char *stop, bool in_value)
{
	char c = *m->p;
	if (c == '&') {
		reference(m, stop, in_value);
	} else if (c == '<') {
		pd_mend_put_z(m, "&lt;");
		m->p++;
	} else if (pd_ascii_space(c)) {
		white_space(m, stop);
	} else if ((uint8_t)c != 0xEF) {
		m->p++;
	} else if (noncharacter(m->p, stop)) {
		m->p += 3;
	} else {
		pd_mend_put(m, m->p, 1);
		m->p++;
	}
}

void pd_mend_text(struct pd_mender *m, const char *stop, bool raw)
{
	while (m->p < stop) {
		const char *run = m->p;
		while (m->p < stop && !special[(uint8_t)*m->p])
			m->p++;
		pd_mend_put(m, run, (size_t)(m->p - run));
		if (m->p == stop || (*m->p == '<' && !raw))
			return;
		special_byte(m, stop, false);
	}
}

void pd_mend_value(struct pd_mender *m, struct pd_span value)
{
	const char *after = m->p, *stop = value.p + value.n;
	m->p = value.p;
	while (m->p < stop) {
		const char *run = m->p;
		while (m->p < stop && !special[(uint8_t)*m->p] && *m->p != '"')
			m->p++;
		pd_mend_put(m, run, (size_t)(m->p - run));
		if (m->p < stop && *m->p == '"') {
			pd_mend_put_z(m, "&quot;");
			m->p++;
		} else if (m->p < stop) {
			special_byte(m, stop, true);
		}
	}
	m->p = after;
}
