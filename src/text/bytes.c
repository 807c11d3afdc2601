/* SPDX-License-Identifier: MIT
 *
 * Two loops.  The first decodes every legacy charset but ISO-2022-JP, which is at the end: runs of ASCII are copied,
 * other codes of one and two bytes are looked up, and the rest (longer codes, errors) goes to `rare`.  Output is
 * reserved chunk by chunk: no input byte gives more than three.
 */
#include "text/bytes.h"

enum { CHUNK = 1 << 16, SLACK = 16 };

#define REPLACEMENT UINT32_C(0xBDBFEF)

/* What is being decoded, and where it stands. */
struct cursor {
	const unsigned char *p, *end;
	char *o;
};

/* Four bytes are written whatever the length, which the highest byte in use gives. */
static inline char *put(char *o, uint32_t e)
{
	for (int i = 0; i < 4; i++)
		o[i] = (char)(e >> 8 * i);
	return o + 4 - (unsigned)__builtin_clz(e) / 8;
}

/* U+0080–009F, and U+E000–EFFF of the private use area. */
static inline bool is_odd(uint32_t e)
{
	return (e & 0xE0FF) == 0x80C2 || (e & 0xFF) == 0xEE;
}

/* U+FFFE and U+FFFF, which GB18030 has codes for. */
static uint32_t character(uint32_t e)
{
	return e == 0xBEBFEF || e == 0xBFBFEF ? REPLACEMENT : e;
}

static bool is_lead(enum pd_charset_kind kind, unsigned char c)
{
	switch (kind) {
	case PD_CHARSET_KIND_SHIFT_JIS:
		return (c > 0x80 && c < 0xA0) || (c > 0xDF && c < 0xFD);
	case PD_CHARSET_KIND_EUC_JP:
		return c == 0x8E || c == 0x8F || (c > 0xA0 && c < 0xFF);
	case PD_CHARSET_KIND_SINGLE:
		return false;
	default:
		return c > 0x80 && c < 0xFF;
	}
}

/* Four bytes, after two that look like it.  Returns how many bytes were used; *e stays 0 when they are bad. */
static size_t four_bytes(struct pd_text_table *t, const unsigned char *p, size_t left, uint32_t *e)
{
	if (left < 3)
		return left;
	if (p[2] < 0x81 || p[2] > 0xFE)
		return 1;
	if (left < 4)
		return left;
	if (p[3] < '0' || p[3] > '9')
		return 1;
	*e = character(pd_text_table_four(t, p));
	return 4;
}

/* Three bytes, after two that look like it. */
static size_t three_bytes(const struct pd_text_table *t, const unsigned char *p, size_t left, uint32_t *e)
{
	if (left < 3)
		return left;
	*e = pd_text_table_two(t->three, p[1], p[2]);
	return *e || p[2] >= 0x80 ? 3 : 2;
}

/* A code that is neither in `one` nor in `two`. */
static size_t rare(struct pd_text_table *t, enum pd_charset_kind kind, const unsigned char *p, size_t left, uint32_t *e)
{
	if (left < 2 || !is_lead(kind, p[0]))
		return 1;
	if (kind == PD_CHARSET_KIND_GB18030 && p[1] >= '0' && p[1] <= '9')
		return four_bytes(t, p, left, e);
	if (kind == PD_CHARSET_KIND_EUC_JP && p[0] == 0x8F && p[1] > 0xA0 && p[1] < 0xFF)
		return three_bytes(t, p, left, e);
	return p[1] < 0x80 ? 1 : 2;
}

/* One code that is not ASCII. */
static inline void code(struct pd_text_table *t, enum pd_charset_kind kind, struct cursor *c, struct pd_text_tally *tally)
{
	uint32_t e = t->one[c->p[0] & 0x7F];
	size_t left = (size_t)(c->end - c->p), used = 1;
	if (!e && t->two && left > 1) {
		e = pd_text_table_two(t->two, c->p[0], c->p[1]);
		used = 2;
	}
	if (!e) {
		used = rare(t, kind, c->p, left, &e);
		tally->bad += !e;
		e = e ? e : REPLACEMENT;
	}
	tally->odd += is_odd(e);
	c->o = put(c->o, e);
	c->p += used;
}

/* Codes that begin before `stop`. */
static void chunk(struct pd_text_table *t, enum pd_charset_kind kind, struct cursor *c, const unsigned char *stop,
		  struct pd_text_tally *tally)
{
	while (c->p < stop) {
		size_t k = pd_text_ascii_run(c->p, (size_t)(stop - c->p));
		memcpy(c->o, c->p, k);
		c->o += k;
		c->p += k;
		while (c->p < stop && *c->p >= 0x80)
			code(t, kind, c, tally);
		if (c->p < stop && *c->p == 0) {
			c->o = put(c->o, REPLACEMENT);
			c->p++;
		}
	}
}

void pd_text_bytes_decode(struct pd_text_table *t, enum pd_charset_kind kind, struct pd_span in, struct pd_buf *out,
		     struct pd_text_tally *tally)
{
	struct cursor c = { .p = (const unsigned char *)in.p };
	c.end = c.p + in.n;
	while (c.p < c.end) {
		size_t n = (size_t)(c.end - c.p) < CHUNK ? (size_t)(c.end - c.p) : CHUNK;
		c.o = pd_buf_reserve(out, 3 * n + SLACK);
		chunk(t, kind, &c, c.p + n, tally);
		out->n = (size_t)(c.o - out->p);
		out->p[out->n] = 0;
	}
}

/* --- ISO-2022-JP --- */

/*
 * ISO-2022-JP, the one stateful charset of the web: escape sequences switch what the bytes 21–7E mean.
 * The states and their errors are those of the WHATWG Encoding Standard's decoder.
 */

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
			struct pd_text_tally *tally)
{
	bool lead = p[0] > 0x20 && p[0] < 0x7F, pair = lead && left > 1 && p[1] > 0x20 && p[1] < 0x7F;
	uint32_t e = pair ? pd_text_table_two(s->two, p[0] | 0x80, p[1] | 0x80) : 0;
	if (e) {
		for (; e; e >>= 8)
			pd_buf_add_c(out, (char)e);
		return 2;
	}
	tally->bad++;
	pd_buf_add_utf8(out, 0xFFFD);
	return !lead || left < 2 || p[1] == 0x1B ? 1 : 2;
}

static size_t step(struct state *s, const unsigned char *p, size_t left, struct pd_buf *out, struct pd_text_tally *tally)
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

void pd_text_iso2022jp_decode(const uint32_t *two, struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally)
{
	struct state s = { .two = two };
	const unsigned char *p = (const unsigned char *)in.p;
	for (size_t i = 0; i < in.n;)
		i += step(&s, p + i, in.n - i, out, tally);
}
