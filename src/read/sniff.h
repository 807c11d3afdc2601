/* SPDX-License-Identifier: MIT
 *
 * What a body is when nothing says so: the first bytes decide, after the WHATWG's MIME Sniffing Standard (chapter 7),
 * but the HTML tag may stand anywhere in the first 512 bytes.
 */
#ifndef PD_READ_SNIFF_H
#define PD_READ_SNIFF_H

#include "base/span.h"

enum pd_sniffed { PD_SNIFF_OTHER, PD_SNIFF_HTML, PD_SNIFF_TEXT };

enum pd_sniffed pd_read_sniff(struct pd_span body);
/* Is an XML document XHTML: a root element `html`? */
bool pd_read_sniff_xhtml(struct pd_span body);
/* Could the bytes be text or HTML, and not something compressed? */
bool pd_read_sniff_is_text(struct pd_span body);

#endif
