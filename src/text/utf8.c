/* SPDX-License-Identifier: MIT
 *
 * The validator that most pages meet and leave as they came, and the repair of those that are not clean.
 * Both walk character by character between runs of ASCII; what is no clean character is one step of `stride`, so
 * the time is linear whatever the bytes are.
 */
#include "text/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD";

static bool trail(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/* U+FDD0–FDEF and the last two of each plane. */
static bool noncharacter(const unsigned char *p, size_t n)
{
	if (n == 3 && p[0] == 0xEF && p[1] == 0xB7)
		return p[2] >= 0x90 && p[2] <= 0xAF;
	if (n < 3 || p[n - 1] < 0xBE || p[n - 2] != 0xBF)
		return false;
	return n == 3 ? p[0] == 0xEF : (p[1] & 0x0F) == 0x0F;
}

/* What stands at p, which is no ASCII: its length when it is a character, else minus the bytes that are to be
 * replaced as one. */
static int sequence(const unsigned char *p, size_t left)
{
	unsigned c = p[0], low = 0x80, high = 0xBF;
	if (c < 0xC2 || c > 0xF4)
		return -1;
	size_t n = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	if (c == 0xE0)
		low = 0xA0;
	else if (c == 0xED)
		high = 0x9F;
	else if (c == 0xF0)
		low = 0x90;
	else if (c == 0xF4)
		high = 0x8F;
	if (left < 2 || p[1] < low || p[1] > high)
		return -1;
	for (size_t i = 2; i < n; i++)
		if (i >= left || !trail(p[i]))
			return -(int)i;
	return (int)n;
}

/* Bytes of clean characters other than ASCII at p.  Three bytes at a time first: that is Chinese. */
static size_t multibyte_run(const unsigned char *p, size_t n)
{
	size_t i = 0;
	while (i < n && p[i] >= 0x80) {
		if (i + 3 <= n && p[i] > 0xE0 && p[i] < 0xED && trail(p[i + 1]) && trail(p[i + 2])) {
			i += 3;
			continue;
		}
		int k = sequence(p + i, n - i);
		if (k < 0 || noncharacter(p + i, (size_t)k))
			break;
		i += (size_t)k;
	}
	return i;
}

size_t pd_text_utf8_clean(struct pd_span in, bool *multibyte)
{
	const unsigned char *p = (const unsigned char *)in.p;
	size_t i = 0;
	*multibyte = false;
	while (i < in.n) {
		i += pd_text_ascii_run(p + i, in.n - i);
		size_t k = multibyte_run(p + i, in.n - i);
		if (!k)
			break;
		*multibyte = true;
		i += k;
	}
	return i;
}

bool pd_text_utf8_cut_at_end(struct pd_span in, size_t clean)
{
	size_t left = in.n - clean;
	const unsigned char *p = (const unsigned char *)in.p + clean;
	if (left == 0)
		return true;
	/* A lead byte with nothing behind it is cut too. */
	return left < 4 && p[0] >= 0xC2 && p[0] <= 0xF4 && sequence(p, left) == -(int)left;
}

/* Replaces what is not clean at p, up to some hundred bytes of it; returns how many bytes that took. */
static size_t replace_run(const unsigned char *p, size_t n, struct pd_buf *out, struct pd_text_tally *tally)
{
	size_t i = 0, look = n < 512 ? n : 512;
	char *start = pd_buf_reserve(out, 3 * look), *o = start;
	while (i < look && (p[i] == 0 || p[i] >= 0x80)) {
		int s = p[i] ? sequence(p + i, n - i) : 1;
		if (s > 1 && !noncharacter(p + i, (size_t)s))
			break;
		memcpy(o, replacement, 3);
		o += 3;
		tally->bad += s < 0;
		i += (size_t)(s < 0 ? -s : s);
	}
	out->n += (size_t)(o - start);
	out->p[out->n] = 0;
	return i;
}

void pd_text_utf8_repair(struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally)
{
	bool multibyte;
	for (size_t i = 0; i < in.n;) {
		size_t k = pd_text_utf8_clean(pd_span(in.p + i, in.n - i), &multibyte);
		pd_buf_add(out, in.p + i, k);
		i += k;
		if (i < in.n)
			i += replace_run((const unsigned char *)in.p + i, in.n - i, out, tally);
	}
}

static unsigned unit_at(const unsigned char *p, bool big_endian)
{
	return big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0];
}

/* Writes one character (up to 4 bytes) and returns where the next goes. */
static char *put(char *o, uint32_t c)
{
	if (c == 0 || (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF))
		c = 0xFFFD;
	if (c < 0x80) {
		*o++ = (char)c;
		return o;
	}
	if (c < 0x800) {
		*o++ = (char)(0xC0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*o++ = (char)(0xE0 | c >> 12);
		} else {
			*o++ = (char)(0xF0 | c >> 18);
			*o++ = (char)(0x80 | (c >> 12 & 0x3F));
		}
		*o++ = (char)(0x80 | (c >> 6 & 0x3F));
	}
	*o++ = (char)(0x80 | (c & 0x3F));
	return o;
}

/* The character whose first unit stands at p; *used: 2 or 4 bytes of it. */
static uint32_t utf16_next(const unsigned char *p, size_t left, bool big_endian, size_t *used, struct pd_text_tally *tally)
{
	uint32_t c = unit_at(p, big_endian);
	*used = 2;
	if ((c & 0xF800) != 0xD800)
		return c;
	if (c < 0xDC00 && left >= 4) {
		uint32_t low = unit_at(p + 2, big_endian);
		if ((low & 0xFC00) == 0xDC00) {
			*used = 4;
			return 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
		}
	}
	tally->bad++;
	return 0xFFFD;
}

void pd_text_utf16_decode(struct pd_span in, bool big_endian, struct pd_buf *out, struct pd_text_tally *tally)
{
	const unsigned char *p = (const unsigned char *)in.p;
	size_t left = in.n;
	char *o = pd_buf_reserve(out, in.n / 2 * 3 + 4);
	for (size_t used; left >= 2; p += used, left -= used)
		o = put(o, utf16_next(p, left, big_endian, &used, tally));
	if (left) {
		tally->bad++;
		o = put(o, 0xFFFD);
	}
	out->n = (size_t)(o - out->p);
	out->p[out->n] = 0;
}
