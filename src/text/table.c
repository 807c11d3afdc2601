/* SPDX-License-Identifier: MIT
 *
 * First the tables, out of iconv: what each code of a charset means.  The one file that calls iconv.  Where iconv and the
 * WHATWG indexes differ on codes that pages use, the index wins: the fixes stand in rows below, the rest in docs/charsets.md.
 *
 * Then two loops over bytes.
 *
 * An entry holds the UTF-8 of what its bytes mean, first byte lowest; 0: nothing.  Four bytes hold any character, and
 * the four pairs of characters that Big5 has single codes for.
 *
 * 	bits   31..24   23..16   15..8    7..0
 * 	       byte 3   byte 2   byte 1   byte 0     中 E4 B8 AD: 0x00ADB8E4
 */
#include "text/table.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

struct pd_text_table {
	uint32_t one[128];	/* bytes 80–FF alone */
	uint32_t *two;		/* [lead - 80][second]: 128 × 256; NULL in single-byte charsets */
	uint32_t *three;	/* EUC-JP: what follows 8F, as `two`; else NULL */
	void *four;		/* GB18030: an open iconv handle for its rare four-byte codes; else NULL */
};

#define NO_ICONV ((iconv_t)-1)

struct fix {
	enum pd_charset_id id;
	unsigned short code;	/* one byte or two */
	const char *utf8;
};

static const struct fix fixes[] = {
	{ PD_KOI8_U, 0xAE, "ў" },
	{ PD_KOI8_U, 0xBE, "Ў" },
	{ PD_MACINTOSH, 0xC6, "∆" },
	{ PD_MACINTOSH, 0xF0, "\xEF\xA3\xBF" },	/* U+F8FF, the apple */
	{ PD_WINDOWS_1255, 0xCA, "\xD6\xBA" },	/* U+05BA, holam haser */
	{ PD_X_MAC_CYRILLIC, 0xFF, "€" },
	{ PD_GB18030, 0x80, "€" },
	{ PD_GB18030, 0xA3A0, "\xE3\x80\x80" },	/* U+3000, the wide space */
	{ PD_BIG5, 0x80, "" },
	{ PD_BIG5, 0xA145, "‧" },
	{ PD_BIG5, 0xA14E, "﹑" },
	{ PD_BIG5, 0xA1C2, "¯" },
	{ PD_BIG5, 0xA1E3, "～" },
	{ PD_BIG5, 0xA1F2, "⊕" },
	{ PD_BIG5, 0xA1F3, "⊙" },
	{ PD_BIG5, 0xA241, "∕" },
	{ PD_BIG5, 0xA242, "﹨" },
	{ PD_BIG5, 0xA244, "￥" },
	{ PD_BIG5, 0xA246, "￠" },
	{ PD_BIG5, 0xA247, "￡" },
	{ PD_SHIFT_JIS, 0x80, "\xC2\x80" },
};

/* Whatever keeps iconv from a charset ends the run: a page decoded by another one would get another row, exit 0, and a
 * module that cannot be loaded (files open, memory, a bad disk) looks to glibc like one that is not there: EINVAL. */
static iconv_t open_iconv(const char *name, bool encodes, struct pd_err *e)
{
	iconv_t cd = encodes ? iconv_open(name, "UTF-8") : iconv_open("UTF-8", name);
	if (cd == NO_ICONV && errno == ENOMEM)
		pd_out_of_memory();
	if (cd == NO_ICONV && errno == EINVAL)
		pd_fail(e, PD_ERR_CHARSET, "iconv cannot load its module for %s.  Modules belong to the package libc6 on Debian "
			"(/usr/lib/*/gconv) and to glibc-gconv-extra on Fedora and RHEL; is it there, is 'ulimit -n' too low?", name);
	else if (cd == NO_ICONV)
		pd_fail(e, PD_ERR_CHARSET, "iconv cannot load its module for %s: %s", name, strerror(errno));
	return cd;
}

static uint32_t entry(const char *p, size_t n)
{
	uint32_t e = 0;
	for (size_t i = 0; i < n; i++)
		e |= (uint32_t)(unsigned char)p[i] << 8 * i;
	return e;
}

/* What one code means; 0 when it means nothing. */
static uint32_t ask(iconv_t cd, const unsigned char *code, size_t n)
{
	char in[4], out[4], *ip = in, *op = out;
	size_t room = sizeof(out);
	memcpy(in, code, n);
	iconv(cd, NULL, NULL, NULL, NULL);
	if (iconv(cd, &ip, &n, &op, &room) != 0 || n != 0)
		return 0;
	/* A code that could begin a longer one is held back until now. */
	if (iconv(cd, NULL, NULL, &op, &room) == (size_t)-1)
		return 0;
	return entry(out, sizeof(out) - room);
}

static void fill_one(struct pd_text_table *t, iconv_t cd)
{
	for (unsigned c = 0; c < 128; c++)
		t->one[c] = ask(cd, &(unsigned char){ c + 0x80 }, 1);
}

/* Windows code pages leave holes among the C1 controls; browsers pass those bytes through. */
static void fill_c1(struct pd_text_table *t)
{
	for (unsigned c = 0; c < 32; c++)
		if (!t->one[c])
			t->one[c] = 0xC2 | (c + 0x80) << 8;
}

/* Codes of two bytes.  A byte that is a character alone begins none: iconv would answer with two characters. */
static void fill_two(struct pd_text_table *t, iconv_t cd)
{
	t->two = pd_zalloc(128 * 256 * sizeof(*t->two));
	for (unsigned lead = 0x81; lead < 0xFF; lead++)
		for (unsigned second = 0x40; second < 0xFF && !t->one[lead & 0x7F]; second++)
			t->two[(lead & 0x7F) << 8 | second] = ask(cd, (unsigned char[]){ lead, second }, 2);
}

/* EUC-JP's third code set, JIS X 0212. */
static void fill_three(struct pd_text_table *t, iconv_t cd)
{
	t->three = pd_zalloc(128 * 256 * sizeof(*t->three));
	for (unsigned second = 0xA1; second < 0xFF; second++)
		for (unsigned third = 0xA1; third < 0xFF; third++)
			t->three[(second & 0x7F) << 8 | third] = ask(cd, (unsigned char[]){ 0x8F, second, third }, 3);
}

/* EUC-JP and ISO-2022-JP share Shift_JIS's characters, of which iconv has the right table: row and cell are
 * turned into a code of Shift_JIS (JIS X 0208:1997, annex 1). */
static void fill_jis0208(uint32_t *two, iconv_t sjis)
{
	for (unsigned row = 0; row < 94; row++)
		for (unsigned cell = 0; cell < 94; cell++) {
			unsigned char code[2] = {
				row / 2 + (row < 62 ? 0x81 : 0xC1),
				row % 2 ? cell + 0x9F : cell + 0x40 + (cell >= 63),
			};
			two[(row + 0x21) << 8 | (cell + 0xA1)] = ask(sjis, code, 2);
		}
}

static int fill_euc_jp(struct pd_text_table *t, iconv_t euc, struct pd_err *e)
{
	iconv_t sjis = open_iconv("CP932", false, e);
	if (sjis == NO_ICONV)
		return PD_ERR_CHARSET;
	t->two = pd_zalloc(128 * 256 * sizeof(*t->two));
	for (unsigned c = 0xA1; c < 0xE0; c++)
		t->two[0x0E << 8 | c] = ask(euc, (unsigned char[]){ 0x8E, c }, 2);
	fill_jis0208(t->two, sjis);
	iconv_close(sjis);
	fill_three(t, euc);
	return PD_OK;
}

static int fill(struct pd_text_table *t, const struct pd_charset *c, iconv_t cd, struct pd_err *e)
{
	if (c->kind == PD_CHARSET_KIND_EUC_JP)
		return fill_euc_jp(t, cd, e);
	fill_one(t, cd);
	if (c->kind != PD_CHARSET_KIND_SINGLE)
		fill_two(t, cd);
	else if (c->id >= PD_WINDOWS_874 && c->id <= PD_WINDOWS_1258)
		fill_c1(t);
	return PD_OK;
}

static void fix(struct pd_text_table *t, enum pd_charset_id id)
{
	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++) {
		const struct fix *f = &fixes[i];
		if (f->id != id)
			continue;
		uint32_t e = entry(f->utf8, strlen(f->utf8));
		if (f->code < 0x100)
			t->one[f->code & 0x7F] = e;
		else
			t->two[f->code & 0x7FFF] = e;
	}
}

/* x-user-defined: bytes 80–FF are U+F780–F7FF. */
static struct pd_text_table *user_defined(void)
{
	struct pd_text_table *t = pd_zalloc(sizeof(*t));
	for (uint32_t c = 0; c < 128; c++)
		t->one[c] = 0xEF | (0x9E + c / 64) << 8 | (0x80 + c % 64) << 16;
	return t;
}

struct pd_text_table *pd_text_table_new(const struct pd_charset *c, struct pd_err *e)
{
	if (c->id == PD_USER_DEFINED)
		return user_defined();
	iconv_t cd = open_iconv(c->iconv, false, e);
	if (cd == NO_ICONV)
		return NULL;
	struct pd_text_table *t = pd_zalloc(sizeof(*t));
	int status = fill(t, c, cd, e);
	fix(t, c->id);
	if (c->kind == PD_CHARSET_KIND_GB18030)
		t->four = cd;
	else
		iconv_close(cd);
	if (!status)
		return t;
	pd_text_table_free(t);
	return NULL;
}

void pd_text_table_free(struct pd_text_table *t)
{
	if (!t)
		return;
	if (t->four)
		iconv_close(t->four);
	free(t->two);
	free(t->three);
	free(t);
}

int pd_text_table_probe(const char *name, struct pd_err *e)
{
	iconv_t cd = open_iconv(name, false, e);
	if (cd == NO_ICONV)
		return PD_ERR_CHARSET;
	iconv_close(cd);
	return PD_OK;
}

static inline uint32_t code_of_two(const uint32_t *two, unsigned char lead, unsigned char second)
{
	return two[(lead & 0x7Fu) << 8 | second];
}

/* Two loops.  The first decodes every legacy charset but ISO-2022-JP, which is at the end: runs of ASCII are copied,
 * other codes of one and two bytes are looked up, and the rest (longer codes, errors) goes to `rare`.  Output is
 * reserved chunk by chunk: no input byte gives more than three. */

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
	*e = character(ask(t->four, p, 4));
	return 4;
}

/* Three bytes, after two that look like it. */
static size_t three_bytes(const struct pd_text_table *t, const unsigned char *p, size_t left, uint32_t *e)
{
	if (left < 3)
		return left;
	*e = code_of_two(t->three, p[1], p[2]);
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
		e = code_of_two(t->two, c->p[0], c->p[1]);
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

static void decode_bytes(struct pd_text_table *t, enum pd_charset_kind kind, struct pd_span in, struct pd_buf *out,
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
	uint32_t e = pair ? code_of_two(s->two, p[0] | 0x80, p[1] | 0x80) : 0;
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

static void decode_iso2022jp(const uint32_t *two, struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally)
{
	struct state s = { .two = two };
	const unsigned char *p = (const unsigned char *)in.p;
	for (size_t i = 0; i < in.n;)
		i += step(&s, p + i, in.n - i, out, tally);
}

void pd_text_table_decode(struct pd_text_table *t, enum pd_charset_kind kind, struct pd_span in, struct pd_buf *out,
			  struct pd_text_tally *tally)
{
	if (kind == PD_CHARSET_KIND_ISO_2022_JP)
		decode_iso2022jp(t->two, in, out, tally);
	else
		decode_bytes(t, kind, in, out, tally);
}

/* --- the other way --- */

struct pd_text_encoder {
	iconv_t cd;
};

int pd_text_encoder_new(struct pd_text_encoder **out, const char *name, struct pd_err *e)
{
	iconv_t cd = open_iconv(name, true, e);
	*out = NULL;
	if (cd == NO_ICONV)
		return e->status;
	*out = pd_zalloc(sizeof **out);
	(*out)->cd = cd;
	return PD_OK;
}

void pd_text_encoder_free(struct pd_text_encoder *t)
{
	if (!t)
		return;
	iconv_close(t->cd);
	free(t);
}

void pd_text_encode(struct pd_text_encoder *t, struct pd_span utf8, size_t most, struct pd_buf *out)
{
	char *at = (char *)utf8.p, *to;
	size_t left = utf8.n, room = most;
	pd_buf_clear(out);
	to = pd_buf_reserve(out, most);
	iconv(t->cd, NULL, NULL, NULL, NULL);
	while (left && iconv(t->cd, &at, &left, &to, &room) == (size_t)-1 && errno == EILSEQ) {
		if (!room)
			break;
		*to++ = '?';
		room--;
		do {
			at++;
			left--;
		} while (left && ((unsigned char)*at & 0xC0) == 0x80);
	}
	out->n = most - room;
	out->p[out->n] = 0;
}
