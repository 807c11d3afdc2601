/* SPDX-License-Identifier: MIT
 *
 * Legacy charsets as tables of ready-made UTF-8, filled from iconv at first use; decoding is then a loop of ours.
 * That is faster than iconv on markup, lets errors be WHATWG's (a bad lead byte never swallows ASCII) and keeps the
 * time linear when every byte is bad.
 *
 * An entry holds the UTF-8 of what its bytes mean, first byte lowest; 0: nothing.  Four bytes hold any character, and
 * the four pairs of characters that Big5 has single codes for.
 *
 *	bits   31..24   23..16   15..8    7..0
 *	       byte 3   byte 2   byte 1   byte 0     中 E4 B8 AD: 0x00ADB8E4
 */
#ifndef PD_TEXT_TABLE_H
#define PD_TEXT_TABLE_H

#include "base/buf.h"
#include "text/charset.h"

struct pd_text_table {
	uint32_t one[128];	/* bytes 80–FF alone */
	uint32_t *two;		/* [lead - 80][second]: 128 × 256; NULL in single-byte charsets */
	uint32_t *three;	/* EUC-JP: what follows 8F, as `two`; else NULL */
	void *four;		/* GB18030: an open iconv handle for its rare four-byte codes; else NULL */
};

/* NULL when iconv cannot open the charset, whatever the reason. */
struct pd_text_table *pd_text_table_new(const struct pd_charset *c, struct pd_err *e);
void pd_text_table_free(struct pd_text_table *t);
/* The entry for four bytes of GB18030. */
uint32_t pd_text_table_four(struct pd_text_table *t, const unsigned char *p);
/* PD_ERR_CHARSET, or that of a failed system call, when iconv cannot open what it calls `name`. */
int pd_text_table_probe(const char *name, struct pd_err *e);

/* The other way: UTF-8 as the bytes of another charset. */
struct pd_text_encoder;
/* `name` as iconv calls it. */
int pd_text_encoder_new(struct pd_text_encoder **out, const char *name, struct pd_err *e);
void pd_text_encoder_free(struct pd_text_encoder *t);
/* As many whole characters of valid UTF-8, from the first, as `most` bytes hold; a character that the charset lacks becomes a
 * question mark.  Replaces what `out` held. */
void pd_text_encode(struct pd_text_encoder *t, struct pd_span utf8, size_t most, struct pd_buf *out);

static inline uint32_t pd_text_table_two(const uint32_t *two, unsigned char lead, unsigned char second)
{
	return two[(lead & 0x7Fu) << 8 | second];
}

#endif
