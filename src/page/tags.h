/* SPDX-License-Identifier: MIT
 *
 * The tags of the HTML standard (and those that it calls obsolete) with their class: the one table that says what a
 * tag is to us (M3).  A tag that is not here is not HTML: it is left out, its content stays.
 *
 * And attribute names -> the few that someone reads, and which tag they are read on.  Pages are full of attributes; those
 * that nobody reads are left out before the parser sees them.
 */
#ifndef PD_PAGE_TAGS_H
#define PD_PAGE_TAGS_H

#include "base/span.h"

enum pd_tag_class {
	PD_CLASS_IGNORE,	/* with everything inside: script, style, noscript, iframe, template, svg, … */
	PD_CLASS_TITLE,		/* title, h1 … h6 */
	PD_CLASS_BLOCK,		/* div, td, table, ul, section, … */
	PD_CLASS_LEVEL,		/* p, br, li, dd, tr, …: inner structure of a block */
	PD_CLASS_OTHER,		/* inline and the rest */
};

/* X(name, class) in alphabetical order: enum pd_tag is PD_TAG_a, … ; the table itself is in tags.def. */
enum pd_tag {
	PD_TAG_NONE,		/* box 0: the page */
#define X(name, klass) PD_TAG_##name,
#include "page/tags.def"
#undef X
	PD_TAG_COUNT
};

/* PD_TAG_NONE when it is no HTML tag; ASCII case is ignored. */
enum pd_tag pd_tag_by_name(const char *name);
enum pd_tag pd_tag_by_span(struct pd_span name);
/* "" for PD_TAG_NONE. */
const char *pd_tag_name(enum pd_tag t);
enum pd_tag_class pd_tag_class(enum pd_tag t);
/* Has it neither content nor an end tag (br, img, …)? */
bool pd_tag_void(enum pd_tag t);

#define PD_ATTRS_MAX 64			/* of one element: more are left out */
#define PD_ATTR_SIZE_MAX 65536		/* bytes of one value: the rest is cut */

/* The attributes that someone reads; PD_ATTR_OTHER only comes with `all_attributes`. */
enum pd_attr_id {
	PD_ATTR_OTHER, PD_ATTR_ALT, PD_ATTR_CLASS, PD_ATTR_CONTENT, PD_ATTR_DATETIME, PD_ATTR_HIDDEN, PD_ATTR_HREF, PD_ATTR_HTTP_EQUIV,
	PD_ATTR_ID, PD_ATTR_ITEMPROP, PD_ATTR_ITEMTYPE, PD_ATTR_LANG, PD_ATTR_NAME, PD_ATTR_PROPERTY, PD_ATTR_REL, PD_ATTR_ROLE,
	PD_ATTR_SRC, PD_ATTR_STYLE, PD_ATTR_XML_LANG,
};

struct pd_attr {
	enum pd_attr_id id;
	struct pd_span name, value;	/* the name in lower case */
};

enum pd_attr_id pd_attr_by_name(struct pd_span name);
/* Does anyone read this attribute on this tag?  `links`: also who wants all links of a page. */
bool pd_attr_wanted(enum pd_tag tag, enum pd_attr_id id, bool links);
/* The value of the first such attribute, or an empty span. */
struct pd_span pd_attr_value(const struct pd_attr *attrs, size_t n, enum pd_attr_id id);
/* Do these attributes say that the element is not shown? */
bool pd_attrs_hide(enum pd_tag tag, const struct pd_attr *attrs, size_t n);
/* The same of a link itself, whose text is text of the page all the same. */
bool pd_attrs_hide_link(const struct pd_attr *attrs, size_t n);

#endif
