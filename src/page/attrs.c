/* SPDX-License-Identifier: MIT */
#include "page/attrs.h"

#define BIT(id) (1u << (id))

static const struct {
	const char *name;
	enum pd_attr_id id;
} known[] = {
	{ "class", PD_ATTR_CLASS },
	{ "id", PD_ATTR_ID },
	{ "href", PD_ATTR_HREF },
	{ "rel", PD_ATTR_REL },
	{ "role", PD_ATTR_ROLE },
	{ "itemprop", PD_ATTR_ITEMPROP },
	{ "itemtype", PD_ATTR_ITEMTYPE },
	{ "style", PD_ATTR_STYLE },
	{ "hidden", PD_ATTR_HIDDEN },
	{ "content", PD_ATTR_CONTENT },
	{ "name", PD_ATTR_NAME },
	{ "property", PD_ATTR_PROPERTY },
	{ "datetime", PD_ATTR_DATETIME },
	{ "http-equiv", PD_ATTR_HTTP_EQUIV },
	{ "lang", PD_ATTR_LANG },
	{ "xml:lang", PD_ATTR_XML_LANG },
};

enum pd_attr_id pd_attr_by_name(struct pd_span name)
{
	if (name.n == 0)
		return PD_ATTR_OTHER;
	char c = pd_ascii_lower(name.p[0]);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].name[0] == c && pd_span_ieq(name, known[i].name))
			return known[i].id;
	return PD_ATTR_OTHER;
}

static unsigned wanted(enum pd_tag tag)
{
	switch (tag) {
	case PD_TAG_a:
		return BIT(PD_ATTR_HREF) | BIT(PD_ATTR_REL);
	case PD_TAG_html:
		return BIT(PD_ATTR_LANG) | BIT(PD_ATTR_XML_LANG);
	case PD_TAG_link:
		return BIT(PD_ATTR_HREF) | BIT(PD_ATTR_REL);
	case PD_TAG_meta:
		return BIT(PD_ATTR_NAME) | BIT(PD_ATTR_PROPERTY) | BIT(PD_ATTR_ITEMPROP) | BIT(PD_ATTR_HTTP_EQUIV) |
		       BIT(PD_ATTR_CONTENT);
	case PD_TAG_time:
		return BIT(PD_ATTR_DATETIME) | BIT(PD_ATTR_ITEMPROP);
	case PD_TAG_br:
		return 0;
	default:
		break;
	}
	enum pd_tag_class c = pd_tag_class(tag);
	if (c != PD_CLASS_TITLE && c != PD_CLASS_BLOCK && c != PD_CLASS_LEVEL)
		return 0;
	return BIT(PD_ATTR_CLASS) | BIT(PD_ATTR_ID) | BIT(PD_ATTR_ROLE) | BIT(PD_ATTR_ITEMPROP) | BIT(PD_ATTR_ITEMTYPE) |
	       BIT(PD_ATTR_HIDDEN) | BIT(PD_ATTR_STYLE);
}

bool pd_attr_wanted(enum pd_tag tag, enum pd_attr_id id)
{
	return id != PD_ATTR_OTHER && (wanted(tag) & BIT(id));
}

struct pd_span pd_attr_value(const struct pd_attr *attrs, size_t n, enum pd_attr_id id)
{
	for (size_t i = 0; i < n; i++)
		if (attrs[i].id == id)
			return attrs[i].value;
	return pd_span(NULL, 0);
}

/* "display : none" among other declarations; what a style sheet says is beyond us. */
static bool displays_none(struct pd_span style)
{
	struct pd_span part, name;
	while (style.n && pd_span_split(&style, ';', &part)) {
		pd_span_split(&part, ':', &name);
		if (pd_span_ieq(pd_span_trim(name), "display") && part.p && pd_span_istarts(pd_span_trim(part), "none"))
			return true;
	}
	return false;
}

bool pd_attrs_hide(enum pd_tag tag, const struct pd_attr *attrs, size_t n)
{
	/* Where nobody wants them they are only there for the XHTML, and must change nothing. */
	if (!pd_attr_wanted(tag, PD_ATTR_HIDDEN))
		return false;
	for (size_t i = 0; i < n; i++)
		if (attrs[i].id == PD_ATTR_HIDDEN || (attrs[i].id == PD_ATTR_STYLE && displays_none(attrs[i].value)))
			return true;
	return false;
}
