/* SPDX-License-Identifier: MIT
 *
 * The type of a body without a declared type, by its first bytes, as in the WHATWG's MIME Sniffing Standard (chapter 7),
 * except that the HTML tag may be anywhere in the first 512 bytes.
 */
#ifndef PD_READ_SNIFF_H
#define PD_READ_SNIFF_H

#include "base/span.h"

enum pd_sniffed { PD_SNIFF_OTHER, PD_SNIFF_HTML, PD_SNIFF_TEXT };

enum pd_sniffed pd_sniff(struct pd_span body);
/* Return whether an XML document is XHTML, with the root element `html`. */
bool pd_sniff_xhtml(struct pd_span body);
/* Return whether the bytes may be text or HTML, and are not compressed. */
bool pd_sniff_is_text(struct pd_span body);

#endif
