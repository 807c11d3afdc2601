/* SPDX-License-Identifier: MIT
 *
 * UTF-8 and UTF-16 in, clean UTF-8 out.  Clean: valid, and without NUL and noncharacters, so that no later stage and
 * no XML parser stumbles.  Those two become U+FFFD like undecodable bytes, but are not counted: they were decodable.
 */
#ifndef PD_TEXT_UTF8_H
#define PD_TEXT_UTF8_H

#include "base/buf.h"

/* What a decoding met. */
struct pd_text_tally {
	uint64_t bad;	/* U+FFFD written for undecodable bytes */
	uint64_t odd;	/* C1 controls and private-use characters out of legacy charsets: no page means them */
};

/* Bytes at the start of `in` that are clean UTF-8; *multibyte: is one of them not ASCII? */
size_t pd_text_utf8_clean(struct pd_span in, bool *multibyte);
/* Is everything UTF-8, but for a character that the end of `in` cuts? */
bool pd_text_utf8_cut_at_end(struct pd_span in, size_t clean);
/* Appends; each maximal subpart of a bad sequence becomes one U+FFFD (Unicode, table 3-8; WHATWG). */
void pd_text_utf8_repair(struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally);
/* Appends; an unpaired surrogate and an odd last byte become U+FFFD each. */
void pd_text_utf16_decode(struct pd_span in, bool big_endian, struct pd_buf *out, struct pd_text_tally *tally);

/* Bytes at the start that are ASCII and no NUL, eight at a time. */
static inline size_t pd_text_ascii_run(const unsigned char *p, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	size_t i = 0;
	for (; i + 8 <= n; i += 8) {
		uint64_t v;
		memcpy(&v, p + i, 8);
		if ((v | (v - ones)) & tops)	/* v - 1 sets the top bit of a zero byte */
			break;
	}
	while (i < n && p[i] - 1u < 0x7F)
		i++;
	return i;
}

#endif
