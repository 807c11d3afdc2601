/* SPDX-License-Identifier: MIT
 *
 * Legacy charsets -> UTF-8, by tables of ready-made UTF-8 that are filled from iconv at first use; decoding is then a loop
 * of ours.  That is faster than iconv on markup, keeps the time linear when every byte is bad, and lets errors be the WHATWG
 * Encoding Standard's: a bad byte, or a lead byte and what follows it, becomes one U+FFFD; an ASCII byte that follows a
 * lead byte is never swallowed.  NUL becomes U+FFFD too and is not counted.
 */
#ifndef PD_TEXT_TABLE_H
#define PD_TEXT_TABLE_H

#include "text/text.h"
#include "text/utf8.h"

struct pd_text_table;		/* of one charset */

/* NULL when iconv cannot open the charset, whatever the reason. */
struct pd_text_table *pd_text_table_new(const struct pd_charset *c, struct pd_err *e);
void pd_text_table_free(struct pd_text_table *t);
/* PD_ERR_CHARSET, or that of a failed system call, when iconv cannot open what it calls `name`. */
int pd_text_table_probe(const char *name, struct pd_err *e);
/* Appends to `out` and adds to `tally`.  ISO-2022-JP is decoded by EUC-JP's table. */
void pd_text_table_decode(struct pd_text_table *t, enum pd_charset_kind kind, struct pd_span in, struct pd_buf *out,
			  struct pd_text_tally *tally);

/* The other way: UTF-8 as the bytes of another charset. */
struct pd_text_encoder;
/* `name` as iconv calls it. */
int pd_text_encoder_new(struct pd_text_encoder **out, const char *name, struct pd_err *e);
void pd_text_encoder_free(struct pd_text_encoder *t);
/* As many whole characters of valid UTF-8, from the first, as `most` bytes hold; a character that the charset lacks becomes a
 * question mark.  Replaces what `out` held. */
void pd_text_encode(struct pd_text_encoder *t, struct pd_span utf8, size_t most, struct pd_buf *out);

#endif
