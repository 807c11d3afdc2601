/* SPDX-License-Identifier: MIT
 *
 * ISO-2022-JP, the one stateful charset of the web: escape sequences switch what the bytes 21–7E mean.
 * The states and their errors are those of the WHATWG Encoding Standard's decoder.
 */
#include "text/bytes.h"

enum set { ASCII, ROMAN, KATAKANA, JIS0208 };

struct state {
	const uint32_t *two;
	enum set set;
	bool idle;	/* nothing since the last escape sequence: another one then is an error */
};

/* The set that the bytes at an ESC switch to, or -1. */
static int escape(const unsigned char *p, size_t left)
{
	if (left < 3)
		return -1;
	if (p[1] == '(' && (p[2] == 'B' || p[2] == 'J' || p[2] == 'I'))
		return p[2] == 'B' ? ASCII : p[2] == 'J' ? ROMAN : KATAKANA;
	return p[1] == '$' && (p[2] == '@' || p[2] == 'B') ? JIS0208 : -1;
}

/* A byte of the sets that have one-byte codes; 0: none. */
static uint32_t one_byte(enum set set, unsigned char c)
{
	if (set == KATAKANA)	/* U+FF61 and on */
		return c < 0x21 || c > 0x5F ? 0 : 0xFF61u - 0x21 + c;
	if (c >= 0x80 || c == 0x0E || c == 0x0F)
		return 0;
	if (set == ROMAN && (c == 0x5C || c == 0x7E))
		return c == 0x5C ? 0xA5 : 0x203E;
	return c;
}

/* A code of JIS X 0208 at p; returns the bytes used. */
static size_t two_bytes(const struct state *s, const unsigned char *p, size_t left, struct pd_buf *out,
			struct pd_decode_tally *tally)
{
	bool lead = p[0] > 0x20 && p[0] < 0x7F, pair = lead && left > 1 && p[1] > 0x20 && p[1] < 0x7F;
	uint32_t e = pair ? pd_table_two(s->two, p[0] | 0x80, p[1] | 0x80) : 0;
	if (e) {
		for (; e; e >>= 8)
			pd_buf_add_c(out, (char)e);
		return 2;
	}
	tally->bad++;
	pd_buf_add_utf8(out, 0xFFFD);
	return !lead || left < 2 || p[1] == 0x1B ? 1 : 2;
}

static size_t step(struct state *s, const unsigned char *p, size_t left, struct pd_buf *out, struct pd_decode_tally *tally)
{
	if (p[0] == 0x1B) {
		int set = escape(p, left);
		bool bad = set < 0 || s->idle;
		s->idle = set >= 0;
		if (set >= 0)
			s->set = (enum set)set;
		tally->bad += bad;
		if (bad)
			pd_buf_add_utf8(out, 0xFFFD);
		return set < 0 ? 1 : 3;
	}
	s->idle = false;
	if (s->set == JIS0208)
		return two_bytes(s, p, left, out, tally);
	uint32_t c = one_byte(s->set, p[0]);
	tally->bad += !c && p[0];
	pd_buf_add_utf8(out, c ? c : 0xFFFD);
	return 1;
}

void pd_iso2022jp_decode(const uint32_t *two, struct pd_span in, struct pd_buf *out, struct pd_decode_tally *tally)
{
	struct state s = { .two = two };
	const unsigned char *p = (const unsigned char *)in.p;
	for (size_t i = 0; i < in.n;)
		i += step(&s, p + i, in.n - i, out, tally);
}
