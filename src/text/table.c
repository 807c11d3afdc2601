/* SPDX-License-Identifier: MIT
 *
 * Tables out of iconv.  In: a charset; out: what each code of it means.  The one file that calls iconv.
 * Where iconv and the WHATWG indexes differ on codes that pages use, the index wins: the fixes stand in rows below,
 * the rest in docs/charsets.md.
 */
#include "text/table.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

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
		pd_fail_errno(e, "iconv cannot load its module for %s", name);
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

uint32_t pd_text_table_four(struct pd_text_table *t, const unsigned char *p)
{
	return ask(t->four, p, 4);
}

int pd_text_table_probe(const char *name, struct pd_err *e)
{
	iconv_t cd = open_iconv(name, false, e);
	if (cd == NO_ICONV)
		return PD_ERR_CHARSET;
	iconv_close(cd);
	return PD_OK;
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
