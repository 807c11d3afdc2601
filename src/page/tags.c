/* SPDX-License-Identifier: MIT
 *
 * Tag names -> enum pd_tag and back.  The lookup runs for every tag of every page, so a name is compared as sixteen
 * bytes at once, and only with the names that share its first letter.
 */
#include "page/tags.h"

#define NAME_SIZE 16	/* the longest name, blockquote, has ten letters */

struct tag {
	char name[NAME_SIZE];
	uint8_t klass;
};

static const struct tag table[PD_TAG_COUNT + 1] = {
	[PD_TAG_NONE] = { "", PD_CLASS_OTHER },
#define X(tag, class_) [PD_TAG_##tag] = { #tag, PD_CLASS_##class_ },
#include "page/tags.def"
#undef X
};

/* The first tag of each letter, or what would follow it: the table is alphabetical (the unit test looks up all). */
static const uint8_t first[27] = {
	PD_TAG_a, PD_TAG_b, PD_TAG_canvas, PD_TAG_data, PD_TAG_em, PD_TAG_fencedframe, PD_TAG_h1, PD_TAG_h1, PD_TAG_i,
	PD_TAG_kbd, PD_TAG_kbd, PD_TAG_label, PD_TAG_main, PD_TAG_nav, PD_TAG_object, PD_TAG_p, PD_TAG_q, PD_TAG_rb,
	PD_TAG_s, PD_TAG_table, PD_TAG_u, PD_TAG_var, PD_TAG_wbr, PD_TAG_xmp, PD_TAG_COUNT, PD_TAG_COUNT, PD_TAG_COUNT,
};

enum pd_tag pd_tag_by_span(struct pd_span name)
{
	char key[NAME_SIZE] = { 0 };
	if (name.n == 0 || name.n >= NAME_SIZE)
		return PD_TAG_NONE;
	for (size_t i = 0; i < name.n; i++)
		key[i] = pd_ascii_lower(name.p[i]);
	if (key[0] < 'a' || key[0] > 'z')
		return PD_TAG_NONE;
	for (unsigned t = first[key[0] - 'a']; t < first[key[0] - 'a' + 1]; t++)
		if (memcmp(table[t].name, key, NAME_SIZE) == 0)
			return (enum pd_tag)t;
	return PD_TAG_NONE;
}

enum pd_tag pd_tag_by_name(const char *name)
{
	return pd_tag_by_span(pd_span_z(name));
}

const char *pd_tag_name(enum pd_tag t)
{
	return table[t].name;
}

enum pd_tag_class pd_tag_class(enum pd_tag t)
{
	return (enum pd_tag_class)table[t].klass;
}

bool pd_tag_void(enum pd_tag t)
{
	switch (t) {
	case PD_TAG_area: case PD_TAG_base: case PD_TAG_basefont: case PD_TAG_bgsound: case PD_TAG_br: case PD_TAG_col:
	case PD_TAG_embed: case PD_TAG_frame: case PD_TAG_hr: case PD_TAG_img: case PD_TAG_input: case PD_TAG_isindex:
	case PD_TAG_keygen: case PD_TAG_link: case PD_TAG_meta: case PD_TAG_nextid: case PD_TAG_param: case PD_TAG_source:
	case PD_TAG_spacer: case PD_TAG_track: case PD_TAG_wbr:
		return true;
	default:
		return false;
	}
}

/* Attributes. */

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
	{ "alt", PD_ATTR_ALT },
	{ "src", PD_ATTR_SRC },
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

/* What is read only where all links are. */
static unsigned wanted_for_links(enum pd_tag tag)
{
	switch (tag) {
	case PD_TAG_a:
		return BIT(PD_ATTR_HIDDEN) | BIT(PD_ATTR_STYLE);
	case PD_TAG_area:
		return BIT(PD_ATTR_HREF) | BIT(PD_ATTR_REL) | BIT(PD_ATTR_ALT);
	case PD_TAG_base:
		return BIT(PD_ATTR_HREF);
	case PD_TAG_img:
		return BIT(PD_ATTR_ALT);
	case PD_TAG_frame: case PD_TAG_iframe:
		return BIT(PD_ATTR_SRC);
	default:
		return 0;
	}
}

bool pd_attr_wanted(enum pd_tag tag, enum pd_attr_id id, bool links)
{
	return id != PD_ATTR_OTHER && ((wanted(tag) | (links ? wanted_for_links(tag) : 0)) & BIT(id));
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

bool pd_attrs_hide_link(const struct pd_attr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (attrs[i].id == PD_ATTR_HIDDEN || (attrs[i].id == PD_ATTR_STYLE && displays_none(attrs[i].value)))
			return true;
	return false;
}

bool pd_attrs_hide(enum pd_tag tag, const struct pd_attr *attrs, size_t n)
{
	/* Where nobody wants them they are only there for the XHTML, and must change nothing. */
	return pd_attr_wanted(tag, PD_ATTR_HIDDEN, false) && pd_attrs_hide_link(attrs, n);
}
