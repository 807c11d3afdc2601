/* SPDX-License-Identifier: MIT
 *
 * A body in any charset -> valid UTF-8 (patent CN101645082, module 110).  The charset is decided by, in this order:
 * byte order mark, HTTP, <meta> in the first 1,024 bytes (or an XML declaration), a detector, windows-1252.  If the
 * declared charset gives errors and the detected one does not, the detected one is used.  Labels have the same meaning
 * as in browsers: WHATWG Encoding Standard, "Names and labels".  Undecodable bytes become U+FFFD and are counted; they
 * never end the page.
 */
#ifndef PD_TEXT_TEXT_H
#define PD_TEXT_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "read/page.h"

/* The id selects the tables; the kind selects the loop that decodes the charset. */
enum pd_charset_id {
#define CHARSET(id, name, iconv, kind, digest) PD_##id,
#include "tables/charsets.def"
#undef CHARSET
	PD_CHARSETS
};

enum pd_charset_kind {
	PD_CHARSET_KIND_NONE, /* "replacement": browsers do not decode it */
	PD_CHARSET_KIND_UTF_8,
	PD_CHARSET_KIND_UTF_16LE,
	PD_CHARSET_KIND_UTF_16BE,
	PD_CHARSET_KIND_SINGLE,	 /* one byte, one character */
	PD_CHARSET_KIND_GB18030, /* from here on a character may take several bytes */
	PD_CHARSET_KIND_BIG5,
	PD_CHARSET_KIND_EUC_KR,
	PD_CHARSET_KIND_SHIFT_JIS,
	PD_CHARSET_KIND_EUC_JP,
	PD_CHARSET_KIND_ISO_2022_JP,
};

struct pd_charset {
	const char *name;   /* WHATWG name in lower case, for comparison with Common Crawl's content_charset:
				 * "gb18030", "windows-1252" */
	unsigned char id;   /* enum pd_charset_id */
	unsigned char kind; /* enum pd_charset_kind: the loop that decodes it */
};

const struct pd_charset *pd_charset_by_id(enum pd_charset_id id);

enum pd_charset_how {
	PD_CHARSET_BOM,
	PD_CHARSET_HTTP,
	PD_CHARSET_META,
	PD_CHARSET_XML,	     /* XML declaration */
	PD_CHARSET_DETECTED, /* nothing declared, or the declared charset gives errors and this one does not */
	PD_CHARSET_DEFAULT,  /* windows-1252, or UTF-8 if the bytes are UTF-8 */
};

const char *pd_charset_how_name(enum pd_charset_how how); /* "bom", "http", … */

struct pd_text {
	struct pd_span utf8; /* valid UTF-8, without BOM; points into the page if no change was necessary */
	const struct pd_charset *charset;
	enum pd_charset_how how;
	uint64_t replaced; /* U+FFFD written for undecodable bytes */
	struct pd_buf own; /* holds utf8 if it was converted */
};

struct pd_text_decoder; /* a detector and space for a second attempt: one per thread */

/* Called once by the program: lack of memory in the detector is handled by base/alloc.h.  The library must not call it,
 * because it changes C++'s allocation handler for the whole process. */
void pd_text_own_memory(void);
struct pd_text_decoder *pd_text_decoder_new(void);
void pd_text_decoder_free(struct pd_text_decoder *d);
void pd_text_decode(struct pd_text_decoder *d, const struct pd_page *in, struct pd_text *out);
static inline void pd_text_release(struct pd_text *t)
{
	pd_buf_release(&t->own);
	*t = (struct pd_text){ 0 };
}

/* UTF-8 and UTF-16 -> clean UTF-8.  Clean means valid and without NUL and noncharacters, so that later stages and XML
 * parsers accept it.  NUL and noncharacters become U+FFFD like undecodable bytes, but are not counted, because they
 * were decodable. */

/* Counts of a decoding. */
struct pd_text_tally {
	uint64_t bad; /* U+FFFD written for undecodable bytes */
	uint64_t odd; /* C1 controls and private-use characters from legacy charsets, which real pages do not
			 * contain */
};

/* Decode a legacy charset, with tables of ready-made UTF-8 (tables/charsets.h).  This is faster than iconv on markup, takes
 * linear time even if every byte is invalid, and has the errors of the WHATWG Encoding Standard: an invalid byte, or a
 * lead byte with its successor, becomes one U+FFFD; an ASCII byte after a lead byte is never swallowed.  NUL becomes
 * U+FFFD too and is not counted.  Appends to `out` and adds to `tally`. */
void pd_text_legacy_decode(const struct pd_charset *c, struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally);

/* Encoder of UTF-8 into another charset, by iconv. */
struct pd_text_encoder;
/* Open an encoder.  `name` is iconv's name.  PD_ERR_CHARSET: iconv does not know the name, or cannot load it. */
int pd_text_encoder_new(struct pd_text_encoder **out, const char *name, struct pd_err *e);
void pd_text_encoder_free(struct pd_text_encoder *t);
/* Encode as many whole characters of valid UTF-8 as `most` bytes hold.  A character that the charset lacks becomes a
 * question mark.  Replaces the content of `out`. */
void pd_text_encode(struct pd_text_encoder *t, struct pd_span utf8, size_t most, struct pd_buf *out);

#endif
