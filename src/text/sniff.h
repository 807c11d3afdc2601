/* SPDX-License-Identifier: MIT
 *
 * What the first bytes of a body say about its charset.
 */
#ifndef PD_TEXT_SNIFF_H
#define PD_TEXT_SNIFF_H

#include "text/charset.h"

#define PD_TEXT_SNIFF_BYTES 1024	/* WHATWG HTML: how far a browser looks */

/* The charset of the byte order mark and the mark's length, or NULL. */
const struct pd_charset *pd_text_sniff_bom(struct pd_span body, size_t *length);
/* <meta charset> or <meta http-equiv="content-type" content="…">, or NULL. */
const struct pd_charset *pd_text_sniff_meta(struct pd_span body);
/* <?xml … encoding="…">, or NULL. */
const struct pd_charset *pd_text_sniff_xml(struct pd_span body);

#endif
