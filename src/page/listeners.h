/* SPDX-License-Identifier: MIT
 *
 * Two listeners to the events of a page (tree.h), in addition to the builder in blocks.c: the metadata (meta.c) and the
 * writer of XHTML (xhtml.c).
 */
#ifndef PD_PAGE_LISTENERS_H
#define PD_PAGE_LISTENERS_H

#include "base/alloc.h"
#include "page/tree.h"

/* Return the value of the first such attribute, or an empty span. */
static inline struct pd_span pd_attr_value(const struct pd_attr *attrs, size_t n, enum pd_attr_id id)
{
	for (size_t i = 0; i < n; i++)
		if (attrs[i].id == id)
			return attrs[i].value;
	return pd_span(NULL, 0);
}

/* Metadata in the page: <meta>, <link rel=canonical>, <time datetime>, <html lang> -> struct pd_meta.  If a field
 * has several sources, the best wins (the table below), then the first.  Sources: HTML's own names, the Open Graph
 * protocol (ogp.me), schema.org's properties, Dublin Core, and the names that content management systems use for a
 * page's date. */

struct pd_meta {
	struct pd_span title; /* <title> */
	struct pd_span keywords, description;
	struct pd_span canonical; /* <link rel=canonical> or og:url */
	struct pd_span timestamp; /* article:published_time, date, … or the first <time datetime> */
	struct pd_span lang;	  /* <html lang>, or content-language */
	struct pd_span site_name; /* og:site_name */
};

enum pd_meta_field {
	PD_META_KEYWORDS,
	PD_META_DESCRIPTION,
	PD_META_CANONICAL,
	PD_META_TIMESTAMP,
	PD_META_LANG,
	PD_META_SITE_NAME,
	PD_META_FIELDS
};

struct pd_meta_finder {
	bool redirects;		      /* a refresh redirects soon */
	uint8_t rank[PD_META_FIELDS]; /* rank of the source of each field, 1 is the best; 0: no source yet */
};

/* Handle the start of a tag with attributes; the finder is zeroes at the start of a page. */
void pd_meta_open(struct pd_meta_finder *f, enum pd_tag t, const struct pd_attr *attrs, size_t n, struct pd_arena *arena,
		  struct pd_meta *out);

/* Events (tree.h) -> XHTML that any XML parser can read (`explain --stage=html`).  The events have one root, and only
 * names of the table; characters that XML forbids are removed.  XML 1.0 (fifth edition): section 2.2 for characters,
 * 2.3 for names.  Attributes with a colon or named xmlns are removed, because their namespace would have to be
 * declared. */
void pd_xhtml_open(struct pd_buf *out, enum pd_tag t, const struct pd_attr *attrs, size_t n);
void pd_xhtml_close(struct pd_buf *out, enum pd_tag t);
void pd_xhtml_text(struct pd_buf *out, struct pd_span s);

#endif
