/* SPDX-License-Identifier: MIT
 *
 * Legacy charsets -> UTF-8, by table.  Errors are the WHATWG Encoding Standard's: a bad byte, or a lead byte and what
 * follows it, becomes one U+FFFD; an ASCII byte that follows a lead byte is never swallowed.  NUL becomes U+FFFD too
 * and is not counted.
 */
#ifndef PD_TEXT_BYTES_H
#define PD_TEXT_BYTES_H

#include "text/table.h"
#include "text/utf8.h"

/* All of these append to `out` and add to `tally`. */
void pd_text_bytes_decode(struct pd_text_table *t, enum pd_charset_kind kind, struct pd_span in, struct pd_buf *out,
		     struct pd_text_tally *tally);
/* `two` is EUC-JP's table. */
void pd_text_iso2022jp_decode(const uint32_t *two, struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally);

#endif
