/* SPDX-License-Identifier: MIT
 *
 * A body in any charset -> valid UTF-8 (patent CN101645082, module 110).
 * Who decides: byte order mark, HTTP, <meta> in the first 1,024 bytes (or an XML declaration), a detector, windows-1252.
 * When the declared charset yields errors and the detector's does not, the detector wins.
 * Labels mean what browsers mean: WHATWG Encoding Standard, "Names and labels".  What cannot be decoded becomes U+FFFD,
 * is counted, and never ends the page.
 */
#ifndef PD_TEXT_TEXT_H
#define PD_TEXT_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "read/page.h"

/* An id for tables, and which loop decodes it. */
enum pd_charset_id {
#define CHARSET(id, name, iconv, kind, digest) PD_##id,
#include "text/charsets.def"
#undef CHARSET
	PD_CHARSETS
};

enum pd_charset_kind {
	PD_CHARSET_KIND_NONE,		/* "replacement": no browser decodes it */
	PD_CHARSET_KIND_UTF_8,
	PD_CHARSET_KIND_UTF_16LE,
	PD_CHARSET_KIND_UTF_16BE,
	PD_CHARSET_KIND_SINGLE,		/* one byte, one character */
	PD_CHARSET_KIND_GB18030,	/* from here on one character may take several bytes */
	PD_CHARSET_KIND_BIG5,
	PD_CHARSET_KIND_EUC_KR,
	PD_CHARSET_KIND_SHIFT_JIS,
	PD_CHARSET_KIND_EUC_JP,
	PD_CHARSET_KIND_ISO_2022_JP,
};

struct pd_charset {
	const char *name;	/* WHATWG name in lower case, as Common Crawl's content_charset is compared: "gb18030", "windows-1252" */
	unsigned char id;	/* enum pd_charset_id */
	unsigned char kind;	/* enum pd_charset_kind: which loop decodes it */
};

const struct pd_charset *pd_charset_by_id(enum pd_charset_id id);
/* The charset that a label names (white space trimmed, case ignored); NULL when no browser knows it. */
const struct pd_charset *pd_charset_by_label(struct pd_span label);

enum pd_charset_how {
	PD_CHARSET_BOM,
	PD_CHARSET_HTTP,
	PD_CHARSET_META,
	PD_CHARSET_XML,		/* XML declaration */
	PD_CHARSET_DETECTED,	/* nothing declared, or what was declared yields errors and this does not */
	PD_CHARSET_DEFAULT,	/* windows-1252 (or UTF-8 when that is what it is) */
};

const char *pd_charset_how_name(enum pd_charset_how how);	/* "bom", "http", … */

struct pd_text {
	struct pd_span utf8;		/* valid UTF-8, without BOM; points into the page when nothing had to change */
	const struct pd_charset *charset;
	enum pd_charset_how how;
	uint64_t replaced;		/* U+FFFD written for undecodable bytes */
	struct pd_buf own;		/* holds utf8 when it was converted */
};

struct pd_text_decoder;	/* a detector and room for a second attempt: one per thread */

/* The program, once: when the detector gets no memory, base/alloc.h says what happens.  It changes what C++ does for all
 * of the process, which is no library's business. */
void pd_text_own_memory(void);
struct pd_text_decoder *pd_text_decoder_new(void);
void pd_text_decoder_free(struct pd_text_decoder *d);
void pd_text_decode(struct pd_text_decoder *d, const struct pd_page *in, struct pd_text *out);
static inline void pd_text_release(struct pd_text *t)
{
	pd_buf_release(&t->own);
	*t = (struct pd_text){ 0 };
}

/* UTF-8 and UTF-16 in, clean UTF-8 out.  Clean: valid, and without NUL and noncharacters, so that no later stage and
 * no XML parser stumbles.  Those two become U+FFFD like undecodable bytes, but are not counted: they were decodable. */

/* What a decoding met. */
struct pd_text_tally {
	uint64_t bad;	/* U+FFFD written for undecodable bytes */
	uint64_t odd;	/* C1 controls and private-use characters out of legacy charsets: no page means them */
};

/* Bytes at the start of `in` that are clean UTF-8; *multibyte: is one of them not ASCII? */
size_t pd_text_utf8_clean(struct pd_span in, bool *multibyte);
/* Appends; each maximal subpart of a bad sequence becomes one U+FFFD (Unicode, table 3-8; WHATWG). */
void pd_text_utf8_repair(struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally);
/* Appends; an unpaired surrogate and an odd last byte become U+FFFD each. */
void pd_text_utf16_decode(struct pd_span in, bool big_endian, struct pd_buf *out, struct pd_text_tally *tally);

/* Legacy charsets -> UTF-8, by tables of ready-made UTF-8 (text/tables.h) and a loop of ours.  That is faster than iconv on
 * markup, keeps the time linear when every byte is bad, and lets errors be the WHATWG Encoding Standard's: a bad byte, or a
 * lead byte and what follows it, becomes one U+FFFD; an ASCII byte that follows a lead byte is never swallowed.  NUL becomes
 * U+FFFD too and is not counted.  Appends to `out` and adds to `tally`. */
void pd_text_legacy_decode(const struct pd_charset *c, struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally);

/* The other way: UTF-8 as the bytes of another charset, by iconv. */
struct pd_text_encoder;
/* `name` as iconv calls it.  PD_ERR_CHARSET: iconv has none of that name, or cannot load it. */
int pd_text_encoder_new(struct pd_text_encoder **out, const char *name, struct pd_err *e);
void pd_text_encoder_free(struct pd_text_encoder *t);
/* As many whole characters of valid UTF-8, from the first, as `most` bytes hold; a character that the charset lacks becomes a
 * question mark.  Replaces what `out` held. */
void pd_text_encode(struct pd_text_encoder *t, struct pd_span utf8, size_t most, struct pd_buf *out);

#endif
