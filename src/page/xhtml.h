/* SPDX-License-Identifier: MIT
 *
 * Events (html.h) -> XHTML that any XML parser reads (M2's output, `show --stage=html`).  One root because the events
 * have one; names are those of the table; what XML forbids is left out.
 */
#ifndef PD_PAGE_XHTML_H
#define PD_PAGE_XHTML_H

#include "base/buf.h"
#include "page/html.h"

void pd_xhtml_open(struct pd_buf *out, enum pd_tag t, const struct pd_attr *attrs, size_t n);
void pd_xhtml_close(struct pd_buf *out, enum pd_tag t);
void pd_xhtml_text(struct pd_buf *out, struct pd_span s);

#endif
