/* SPDX-License-Identifier: MIT
 *
 * Attribute names -> the few that someone reads, and which tag they are read on.  Pages are full of attributes; those
 * that nobody reads are left out before the parser sees them.
 */
#ifndef PD_PAGE_ATTRS_H
#define PD_PAGE_ATTRS_H

#include "page/tags.h"

#define PD_ATTRS_MAX 64			/* of one element: more are left out */
#define PD_ATTR_SIZE_MAX 65536		/* bytes of one value: the rest is cut */

/* The attributes that someone reads; PD_ATTR_OTHER only comes with `all_attributes`. */
enum pd_attr_id {
	PD_ATTR_OTHER, PD_ATTR_CLASS, PD_ATTR_CONTENT, PD_ATTR_DATETIME, PD_ATTR_HIDDEN, PD_ATTR_HREF, PD_ATTR_HTTP_EQUIV, PD_ATTR_ID,
	PD_ATTR_ITEMPROP, PD_ATTR_ITEMTYPE, PD_ATTR_LANG, PD_ATTR_NAME, PD_ATTR_PROPERTY, PD_ATTR_REL, PD_ATTR_ROLE, PD_ATTR_STYLE,
	PD_ATTR_XML_LANG,
};

struct pd_attr {
	enum pd_attr_id id;
	struct pd_span name, value;	/* the name in lower case */
};

enum pd_attr_id pd_attr_by_name(struct pd_span name);
/* Does anyone read this attribute on this tag? */
bool pd_attr_wanted(enum pd_tag tag, enum pd_attr_id id);
/* The value of the first such attribute, or an empty span. */
struct pd_span pd_attr_value(const struct pd_attr *attrs, size_t n, enum pd_attr_id id);
/* Do these attributes say that the element is not shown? */
bool pd_attrs_hide(enum pd_tag tag, const struct pd_attr *attrs, size_t n);

#endif
