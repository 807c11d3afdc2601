/* SPDX-License-Identifier: MIT
 *
 * See the header.  This file cuts the page into text and tags (HTML standard, 13.2.5) and says what becomes of each.
 */
#include "page/mend.h"

static bool letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool name_end(char c)
{
	return c == '>' || c == '/' || pd_ascii_space(c);
}

/* Left out here with what is in it.  The first kind holds no markup and ends at its first end tag; the second nests. */
static bool raw(enum pd_tag t)
{
	return t == PD_TAG_script || t == PD_TAG_style || t == PD_TAG_noscript || t == PD_TAG_iframe ||
	       t == PD_TAG_noembed || t == PD_TAG_noframes;
}

static bool island(enum pd_tag t)
{
	return t == PD_TAG_svg || t == PD_TAG_template || t == PD_TAG_math || t == PD_TAG_video || t == PD_TAG_audio ||
	       t == PD_TAG_canvas || t == PD_TAG_object;
}

static bool holds_text(enum pd_tag t)
{
	return t == PD_TAG_title || t == PD_TAG_textarea || t == PD_TAG_xmp;
}

/* Does a tag's name, from p on, read `name`? */
static bool named(const struct pd_mender *m, const char *p, struct pd_span name)
{
	return (size_t)(m->end - p) > name.n && name_end(p[name.n]) && pd_span_ieq(pd_span(p, name.n), name.p);
}

/* Where the next end tag `t` begins, or NULL. */
static const char *end_tag_of(struct pd_mender *m, enum pd_tag t)
{
	struct pd_span name = pd_span_z(pd_tag_name(t));
	const char *q = m->unclosed[t] ? NULL : m->p;
	for (; q && (q = memchr(q, '<', (size_t)(m->end - q))); q++)
		if (m->end - q > 2 && q[1] == '/' && named(m, q + 2, name))
			return q;
	m->unclosed[t] = true;
	return NULL;
}

/* The same for an element that may hold others of its kind. */
static const char *own_end_tag_of(struct pd_mender *m, enum pd_tag t)
{
	struct pd_span name = pd_span_z(pd_tag_name(t));
	const char *q = m->unclosed[t] ? NULL : m->p;
	for (int depth = 1; q && (q = memchr(q, '<', (size_t)(m->end - q))); q++) {
		if (m->end - q > 2 && q[1] == '/' && named(m, q + 2, name) && --depth == 0)
			return q;
		if (!named(m, q + 1, name))
			continue;
		q = memchr(q, '>', (size_t)(m->end - q));
		if (!q)
			break;
		depth += q[-1] != '/';
	}
	m->unclosed[t] = true;
	return NULL;
}

static void skip_past(struct pd_mender *m, char c)
{
	const char *q = memchr(m->p, c, (size_t)(m->end - m->p));
	m->p = q ? q + 1 : m->end;
}

/* m->p is behind "<!--". */
static void comment(struct pd_mender *m)
{
	struct pd_span s = pd_span(m->p, (size_t)(m->end - m->p));
	if (s.n >= 1 && s.p[0] == '>') {
		m->p += 1;
		return;
	}
	if (s.n >= 2 && memcmp(s.p, "->", 2) == 0) {
		m->p += 2;
		return;
	}
	const char *q = s.p;
	for (; (q = memchr(q, '>', (size_t)(m->end - q))); q++) {
		bool plain = q - s.p >= 2 && memcmp(q - 2, "--", 2) == 0;
		if (plain || (q - s.p >= 3 && memcmp(q - 3, "--!", 3) == 0))
			break;
	}
	m->p = q ? q + 1 : m->end;
}

static void declaration(struct pd_mender *m)
{
	if (m->end - m->p >= 4 && memcmp(m->p, "<!--", 4) == 0) {
		m->p += 4;
		comment(m);
	} else {
		skip_past(m, '>');
	}
}

static enum pd_tag tag_name(struct pd_mender *m)
{
	const char *at = m->p;
	while (m->p < m->end && !name_end(*m->p))
		m->p++;
	return pd_tag_by_span(pd_span(at, (size_t)(m->p - at)));
}

static void put_end_tag(struct pd_mender *m, enum pd_tag t)
{
	pd_mend_put_z(m, "</");
	pd_mend_put_z(m, pd_tag_name(t));
	pd_mend_put_z(m, ">");
}

static void end_tag(struct pd_mender *m)
{
	bool self_closing;
	m->p += 2;
	enum pd_tag t = tag_name(m);
	if (!pd_mend_attrs(m, PD_TAG_NONE, &self_closing) || t == PD_TAG_NONE)
		return;
	if (t == PD_TAG_br)
		pd_mend_put_z(m, "<br/>");
	if (t == PD_TAG_noscript && m->unfolded) {
		m->unfolded = false;
		t = PD_TAG_div;
	}
	if (pd_tag_void(t))
		return;
	put_end_tag(m, t);
}

/* Skips what is in an element that is left out.  False when it never ends and so must stand: a script takes the rest of
 * the page with it, of other raw text only the start tag goes, and where an island ends the parser must say. */
static bool drop_content(struct pd_mender *m, enum pd_tag t)
{
	const char *end = raw(t) ? end_tag_of(m, t) : own_end_tag_of(m, t);
	if (end) {
		m->p = end;
		skip_past(m, '>');
	} else if (t == PD_TAG_script || t == PD_TAG_style) {
		m->p = m->end;
	}
	return end || raw(t);
}

/* Up to the end tag all is text; where there is none, up to the next tag. */
static void plain_content(struct pd_mender *m, enum pd_tag t)
{
	const char *end = end_tag_of(m, t);
	if (end)
		pd_mend_text(m, end, true);
	else
		pd_mend_text(m, m->end, false);
	put_end_tag(m, t);
}

/* A start tag of `t` has just been read.  False: what stands in `out` of it must go. */
static bool content(struct pd_mender *m, enum pd_tag t, bool self_closing)
{
	if (t == PD_TAG_noscript && m->unfolded)
		return false;
	if (self_closing)
		return !raw(t) && !island(t);
	if ((raw(t) || island(t)) && drop_content(m, t))
		return false;
	pd_mend_put_z(m, ">");
	if (holds_text(t))
		plain_content(m, t);
	return true;
}

/* A noscript's start tag, written from `mark` on, has just been read.  True when a div was opened in its place. */
static bool unfold_noscript(struct pd_mender *m, size_t mark)
{
	const char *end = end_tag_of(m, PD_TAG_noscript);
	if (!end || end - m->p < PD_NOSCRIPT_MIN)
		return false;
	m->noscript += (size_t)(end - m->p);
	if (!m->unfold)
		return false;
	m->out.n = mark;
	pd_mend_put_z(m, "<div>");
	m->unfolded = true;
	return true;
}

static void start_tag(struct pd_mender *m)
{
	size_t mark = m->out.n;
	bool self_closing;
	m->p++;
	enum pd_tag t = tag_name(m);
	if (t != PD_TAG_NONE) {
		pd_mend_put_z(m, "<");
		pd_mend_put_z(m, pd_tag_name(t));
	}
	if (!pd_mend_attrs(m, t, &self_closing) || t == PD_TAG_NONE) {
		m->out.n = mark;
		return;
	}
	self_closing |= pd_tag_void(t);
	if (t == PD_TAG_noscript && !self_closing && !m->unfolded && unfold_noscript(m, mark))
		return;
	if (!content(m, t, self_closing))
		m->out.n = mark;
	else if (self_closing)
		pd_mend_put_z(m, "/>");
}

/* m->p is at a '<'. */
static void markup(struct pd_mender *m)
{
	char next = m->end - m->p > 1 ? m->p[1] : 0;
	if (letter(next)) {
		start_tag(m);
	} else if (next == '!' || next == '?') {
		declaration(m);
	} else if (next == '/' && m->end - m->p > 2) {
		if (letter(m->p[2]))
			end_tag(m);
		else
			skip_past(m, '>');
	} else {
		pd_mend_put_z(m, "&lt;");
		m->p++;
	}
}

struct pd_span pd_mend(struct pd_mender *m, struct pd_span html)
{
	if (html.n >= 3 && memcmp(html.p, "\xEF\xBB\xBF", 3) == 0)
		html = pd_span(html.p + 3, html.n - 3);
	if (html.n == 0)
		html = pd_span("", 0);
	pd_buf_clear(&m->out);
	memset(m->unclosed, 0, sizeof(m->unclosed));
	memset(m->unquoted, 0, sizeof(m->unquoted));
	m->noscript = 0;
	m->unfolded = false;
	m->p = html.p;
	m->end = html.p + html.n;
	while (m->p < m->end) {
		pd_mend_text(m, m->end, false);
		if (m->p < m->end)
			markup(m);
	}
	pd_buf_add(&m->out, "", 0);	/* the NUL behind it */
	return pd_buf_span(&m->out);
}

void pd_mender_release(struct pd_mender *m)
{
	pd_buf_release(&m->out);
}
