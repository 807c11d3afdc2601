/* SPDX-License-Identifier: MIT
 *
 * The attributes of one tag, by the HTML standard's states (13.2.5.32 to 13.2.5.39), but for a quote that is never
 * closed: there a browser loses the rest of the page, and we only that quote.
 */
#include "page/html.h"
#include "page/mend.h"

static bool name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == ':' || c == '.';
}

/* libxml2 reads names of up to 100 such bytes. */
static bool plain_name(struct pd_span name)
{
	if (name.n == 0 || name.n > 100 || !((name.p[0] | 0x20) >= 'a' && (name.p[0] | 0x20) <= 'z'))
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!name_byte(name.p[i]))
			return false;
	return true;
}

static struct pd_span attr_name(struct pd_mender *m)
{
	const char *at = m->p++;	/* whatever it is, '=' too, the first byte belongs to the name */
	while (m->p < m->end && !pd_ascii_space(*m->p) && *m->p != '/' && *m->p != '>' && *m->p != '=')
		m->p++;
	return pd_span(at, (size_t)(m->p - at));
}

static void skip_space(struct pd_mender *m)
{
	while (m->p < m->end && pd_ascii_space(*m->p))
		m->p++;
}

static bool quoted(struct pd_mender *m, struct pd_span *value)
{
	char q = *m->p;
	bool *none = &m->unquoted[q == '"'];
	const char *close = *none ? NULL : memchr(m->p + 1, q, (size_t)(m->end - m->p - 1));
	if (!close) {
		*none = true;
		m->p++;
		return false;
	}
	*value = pd_span(m->p + 1, (size_t)(close - m->p - 1));
	m->p = close + 1;
	return true;
}

static struct pd_span attr_value(struct pd_mender *m)
{
	struct pd_span value = { m->p, 0 };
	skip_space(m);
	if (m->p == m->end || *m->p != '=')
		return value;
	m->p++;
	skip_space(m);
	if (m->p < m->end && (*m->p == '"' || *m->p == '\'') && quoted(m, &value))
		return value;
	value.p = m->p;
	while (m->p < m->end && !pd_ascii_space(*m->p) && *m->p != '>')
		m->p++;
	value.n = (size_t)(m->p - value.p);
	return value;
}

/* Cut to what a value may have, at a whole character. */
static struct pd_span bounded(struct pd_span value)
{
	if (value.n <= PD_ATTR_SIZE_MAX)
		return value;
	value.n = PD_ATTR_SIZE_MAX;
	while (value.n && ((uint8_t)value.p[value.n] & 0xC0) == 0x80)
		value.n--;
	return value;
}

static bool attribute(struct pd_mender *m, enum pd_tag tag)
{
	struct pd_span name = attr_name(m), value = attr_value(m);
	if (tag == PD_TAG_NONE || !(m->all ? plain_name(name) : pd_attr_wanted(tag, pd_attr_by_name(name))))
		return false;
	pd_mend_put_z(m, " ");
	pd_mend_put(m, name.p, name.n);
	pd_mend_put_z(m, "=\"");
	pd_mend_value(m, bounded(value));
	pd_mend_put_z(m, "\"");
	return true;
}

bool pd_mend_attrs(struct pd_mender *m, enum pd_tag tag, bool *self_closing)
{
	int written = 0;
	*self_closing = false;
	while (m->p < m->end) {
		char c = *m->p;
		if (c == '>') {
			m->p++;
			return true;
		}
		if (c == '/' || pd_ascii_space(c)) {
			m->p++;
			*self_closing = c == '/';
			continue;
		}
		*self_closing = false;
		if (attribute(m, tag) && ++written == PD_ATTRS_MAX)
			tag = PD_TAG_NONE;
	}
	return false;
}
