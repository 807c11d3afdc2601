/* SPDX-License-Identifier: MIT
 *
 * What a page says about itself: <meta>, <link rel=canonical>, <time datetime>, <html lang> -> struct pd_meta.  Of
 * several sources of one field the best wins (the table in meta.c), of equally good ones the first.
 */
#ifndef PD_PAGE_META_H
#define PD_PAGE_META_H

#include "page/blocks.h"
#include "page/html.h"

enum pd_meta_field {
	PD_META_KEYWORDS, PD_META_DESCRIPTION, PD_META_CANONICAL, PD_META_TIMESTAMP, PD_META_LANG, PD_META_SITE_NAME,
	PD_META_FIELDS
};

struct pd_meta_finder {
	uint8_t rank[PD_META_FIELDS];	/* of the source that the field has, 1 the best; 0: none yet */
};

void pd_meta_start(struct pd_meta_finder *f);
/* An open event of any tag. */
void pd_meta_open(struct pd_meta_finder *f, enum pd_tag t, const struct pd_attr *attrs, size_t n,
		  struct pd_blocks *out);
/* The title, when the page has been read. */
void pd_meta_end(struct pd_blocks *out);

#endif
