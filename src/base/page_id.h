/* SPDX-License-Identifier: MIT
 *
 * The address of a page (docs/format-rows.md, Identity): `file:OFFSET`, `file:+OFFSET` (of the decompressed stream), or a
 * path.  Order: file bytewise, then offset as a number.
 */
#ifndef PD_BASE_PAGE_ID_H
#define PD_BASE_PAGE_ID_H

#include "base/span.h"

struct pd_page_id {
	struct pd_span file;
	bool has_offset, stream;
	uint64_t offset;
};

struct pd_page_id pd_page_id_parse(struct pd_span id);
int pd_page_id_cmp(struct pd_span a, struct pd_span b);
/* The same for ids that were parsed: x from a, y from b. */
int pd_page_id_order(const struct pd_page_id *x, struct pd_span a, const struct pd_page_id *y, struct pd_span b);

#endif
