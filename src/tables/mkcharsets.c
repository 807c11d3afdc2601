/* SPDX-License-Identifier: MIT
 *
 * mkcharsets OUT: make the tables of src/tables/charsets.h from iconv, at build time.  If iconv differs from the indexes of the
 * WHATWG Encoding Standard in codes that pages use, the tables follow the index.  The corrections are in rows below, and the
 * other differences in docs/charsets.md.
 *
 * Fingerprints depend on the tables, so the tables must be the same on every system.  src/tables/charsets.def has a digest for
 * each charset.  If the tables of an iconv have another digest, the build names the charset and stops (with --any it only
 * prints the name).
 */
#include <errno.h>
#include <iconv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "tables/charsets.h"
#include "text/text.h"

struct fix {
	enum pd_charset_id id;
	uint32_t code;	  /* one byte, two or four */
	const char *utf8; /* "": undefined */
};

static const struct fix fixes[] = {
	{ PD_KOI8_U, 0xAE, "ў" },
	{ PD_KOI8_U, 0xBE, "Ў" },
	{ PD_MACINTOSH, 0xC6, "∆" },
	{ PD_MACINTOSH, 0xF0, "\xEF\xA3\xBF" }, /* U+F8FF, the apple */
	{ PD_WINDOWS_1255, 0xCA, "\xD6\xBA" },	/* U+05BA, holam haser */
	{ PD_X_MAC_CYRILLIC, 0xFF, "€" },
	{ PD_GB18030, 0x80, "€" },
	{ PD_GB18030, 0xA3A0, "\xE3\x80\x80" }, /* U+3000, the wide space */
	/* Versions of glibc differ in six ideographs, which are characters in one version and private-use in another ... */
	{ PD_GB18030, 0xFE51, "\xF0\xA0\x82\x87" },
	{ PD_GB18030, 0xFE52, "\xF0\xA0\x82\x89" },
	{ PD_GB18030, 0xFE53, "\xF0\xA0\x83\x8C" },
	{ PD_GB18030, 0xFE6C, "\xF0\xA1\x97\x97" },
	{ PD_GB18030, 0xFE76, "\xF0\xA2\xA6\x8F" },
	{ PD_GB18030, 0xFE91, "\xF0\xA4\x87\xBE" },
	/* ... and in 18 codes of four bytes, which are undefined in one version and private-use in another. */
	{ PD_GB18030, 0x82359037, "" },
	{ PD_GB18030, 0x82359038, "" },
	{ PD_GB18030, 0x82359039, "" },
	{ PD_GB18030, 0x82359130, "" },
	{ PD_GB18030, 0x82359131, "" },
	{ PD_GB18030, 0x82359132, "" },
	{ PD_GB18030, 0x82359133, "" },
	{ PD_GB18030, 0x82359134, "" },
	{ PD_GB18030, 0x84318236, "" },
	{ PD_GB18030, 0x84318237, "" },
	{ PD_GB18030, 0x84318238, "" },
	{ PD_GB18030, 0x84318239, "" },
	{ PD_GB18030, 0x84318330, "" },
	{ PD_GB18030, 0x84318331, "" },
	{ PD_GB18030, 0x84318332, "" },
	{ PD_GB18030, 0x84318333, "" },
	{ PD_GB18030, 0x84318334, "" },
	{ PD_GB18030, 0x84318335, "" },
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
	/* GNU libiconv differs in marks that JIS X 0208 and Windows map differently, in the euro sign and in omega. */
	{ PD_SHIFT_JIS, 0x8160, "～" },
	{ PD_SHIFT_JIS, 0x8161, "∥" },
	{ PD_SHIFT_JIS, 0x817C, "－" },
	{ PD_SHIFT_JIS, 0x8191, "￠" },
	{ PD_SHIFT_JIS, 0x8192, "￡" },
	{ PD_SHIFT_JIS, 0x81CA, "￢" },
	{ PD_EUC_JP, 0xA1C1, "～" },
	{ PD_EUC_JP, 0xA1C2, "∥" },
	{ PD_EUC_JP, 0xA1DD, "－" },
	{ PD_EUC_JP, 0xA1F1, "￠" },
	{ PD_EUC_JP, 0xA1F2, "￡" },
	{ PD_EUC_JP, 0xA2CC, "￢" },
	{ PD_MACINTOSH, 0xBD, "\xCE\xA9" }, /* U+03A9, not the sign of the ohm */
	{ PD_MACINTOSH, 0xDB, "€" },
};

/* GNU libiconv lacks IBM's characters of EUC-JP's third code set; they have consecutive codes from 8F F3 F3 and 8F F4 A1. */
static const struct {
	uint32_t code;
	const char *utf8;
} jis0212_runs[] = {
	{ 0xA2C3, "￤" },
	{ 0xF3F3, "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡ" },
	{ 0xF4A1, "ⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤﨎咊坙﨏塚增寬峵嵓﨑德悅愠敎昻晥晴朗栁﨓﨔橫櫢淸淲瀨凞猪"
		  "甁皂皞益礰礼神祥福竧靖精綠緖羽荢﨟薰蘒﨡蠇諸譿賴赶﨣﨤逸郞都鄕﨧﨨閒隆﨩霻靍靑飯飼館馞髙魲鶴黑" },
};

static const struct {
	const char *name, *iconv;
	uint32_t digest;
} charsets[PD_CHARSETS] = {
#define CHARSET(id, name, iconv, kind, digest) [PD_##id] = { name, iconv, digest },
#include "tables/charsets.def"
#undef CHARSET
};

static struct pd_text_tables tables;

static uint32_t entry(const char *p, size_t n)
{
	uint32_t e = 0;
	for (size_t i = 0; i < n; i++)
		e |= (uint32_t)(unsigned char)p[i] << 8 * i;
	return e;
}

/* Return the code point of one code; 0 if it is undefined. */
static uint32_t decode_code(iconv_t cd, const unsigned char *code, size_t n)
{
	char in[4], out[4], *ip = in, *op = out;
	size_t room = sizeof(out);
	memcpy(in, code, n);
	iconv(cd, NULL, NULL, NULL, NULL);
	if (iconv(cd, &ip, &n, &op, &room) != 0 || n != 0)
		return 0;
	/* iconv holds back a code that could begin a longer one; flush it. */
	if (iconv(cd, NULL, NULL, &op, &room) == (size_t)-1)
		return 0;
	return entry(out, sizeof(out) - room);
}

static void fill_one(uint32_t *one, iconv_t cd)
{
	for (unsigned c = 0; c < 128; c++)
		one[c] = decode_code(cd, &(unsigned char){ c + 0x80 }, 1);
}

/* Windows code pages do not define some C1 controls; browsers pass these bytes through. */
static void fill_c1(uint32_t *one)
{
	for (unsigned c = 0; c < 32; c++)
		if (!one[c])
			one[c] = 0xC2 | (c + 0x80) << 8;
}

/* Fill in codes of two bytes.  Skip first bytes that are characters alone: iconv would return two characters. */
static void fill_two(uint32_t *two, const uint32_t *one, iconv_t cd)
{
	for (unsigned lead = 0x81; lead < 0xFF; lead++)
		for (unsigned second = 0x40; second < 0xFF && !one[lead & 0x7F]; second++)
			two[(lead & 0x7F) << 8 | second] = decode_code(cd, (unsigned char[]){ lead, second }, 2);
}

/* Return the code point of an entry, which is in UTF-8. */
static uint32_t code_point(uint32_t e)
{
	uint32_t b = e >> 8 & 0x3F, c = e >> 16 & 0x3F;
	return e < 0x100 ? e : e < 0x10000 ? (e & 0x1F) << 6 | b : (e & 0x0F) << 12 | b << 6 | c;
}

static void fill_four(uint16_t *four, iconv_t cd)
{
	for (unsigned i = 0; i < PD_TEXT_FOUR; i++) {
		unsigned char code[] = { i / 12600 + 0x81, i / 1260 % 10 + 0x30, i / 10 % 126 + 0x81, i % 10 + 0x30 };
		four[i] = (uint16_t)code_point(decode_code(cd, code, 4));
	}
}

/* EUC-JP's third code set, JIS X 0212. */
static void fill_jis0212(uint32_t *three, iconv_t cd)
{
	for (unsigned second = 0xA1; second < 0xFF; second++)
		for (unsigned third = 0xA1; third < 0xFF; third++)
			three[(second & 0x7F) << 8 | third] = decode_code(cd, (unsigned char[]){ 0x8F, second, third }, 3);
}

static void fill_ibm(uint32_t *three)
{
	for (size_t i = 0; i < sizeof jis0212_runs / sizeof *jis0212_runs; i++) {
		uint32_t *to = three + (jis0212_runs[i].code & 0x7FFF);
		for (const char *p = jis0212_runs[i].utf8; *p; p += 3) /* all are of three bytes */
			*to++ = entry(p, 3);
	}
}

/* EUC-JP and ISO-2022-JP share the characters of Shift_JIS, for which iconv has the right table.  Convert row and cell to a
 * code of Shift_JIS (JIS X 0208:1997, annex 1). */
static void fill_jis0208(uint32_t *two, iconv_t sjis)
{
	for (unsigned row = 0; row < 94; row++)
		for (unsigned cell = 0; cell < 94; cell++) {
			unsigned char code[2] = {
				row / 2 + (row < 62 ? 0x81 : 0xC1),
				row % 2 ? cell + 0x9F : cell + 0x40 + (cell >= 63),
			};
			two[(row + 0x21) << 8 | (cell + 0xA1)] = decode_code(sjis, code, 2);
		}
}

/* Names of charsets in GNU libiconv, if they differ. */
static const struct {
	const char *name, *gnu;
} other_names[] = {
	{ "MAC-UK", "MACUKRAINE" },
	{ "EUC-JP-MS", "EUC-JP" },
};

static iconv_t open_charset(enum pd_charset_id id)
{
	const char *name = charsets[id].iconv;
	iconv_t cd = iconv_open("UTF-8", name);
	for (size_t i = 0; i < sizeof other_names / sizeof *other_names && cd == (iconv_t)-1; i++)
		if (strcmp(name, other_names[i].name) == 0)
			cd = iconv_open("UTF-8", other_names[i].gnu);
	if (cd == (iconv_t)-1) {
		fprintf(stderr,
			"mkcharsets: iconv has no %s (%s); install its modules (libc6 on Debian, glibc-gconv-extra on Fedora), or "
			"link with GNU libiconv (LIBS=-liconv; musl)\n",
			name, strerror(errno));
		exit(2);
	}
	return cd;
}

static uint32_t *two_byte_codes(enum pd_charset_id id)
{
	switch (id) {
	case PD_GB18030: return tables.gb18030;
	case PD_BIG5: return tables.big5;
	case PD_EUC_KR: return tables.euc_kr;
	case PD_SHIFT_JIS: return tables.shift_jis;
	case PD_EUC_JP: return tables.euc_jp;
	default: return NULL;
	}
}

static void fill_euc_jp(iconv_t euc)
{
	iconv_t sjis = open_charset(PD_SHIFT_JIS);
	for (unsigned c = 0xA1; c < 0xE0; c++)
		tables.euc_jp[0x0E << 8 | c] = decode_code(euc, (unsigned char[]){ 0x8E, c }, 2);
	fill_jis0208(tables.euc_jp, sjis);
	iconv_close(sjis);
	fill_jis0212(tables.jis0212, euc);
	fill_ibm(tables.jis0212);
}

static void fix(const struct fix *f)
{
	uint32_t e = entry(f->utf8, strlen(f->utf8));
	if (f->code < 0x100)
		tables.one[f->id][f->code & 0x7F] = e;
	else if (f->code < 0x10000)
		two_byte_codes(f->id)[f->code & 0x7FFF] = e;
	else
		tables.four[(((f->code >> 24) - 0x81) * 10 + ((f->code >> 16 & 0xFF) - 0x30)) * 1260 +
			    ((f->code >> 8 & 0xFF) - 0x81) * 10 + ((f->code & 0xFF) - 0x30)] = (uint16_t)code_point(e);
}

/* GNU libiconv maps user-defined codes to private-use characters. */
static void drop_private(uint32_t *two)
{
	for (size_t i = 0; i < PD_TEXT_CODES; i++) {
		uint32_t c = code_point(two[i]);
		if (c >= 0xE000 && c < 0xF900)
			two[i] = 0;
	}
}

/* UTF-8 and UTF-16 need no table; GBK and ISO-2022-JP share the tables of GB18030 and EUC-JP. */
static bool has_table(enum pd_charset_id id)
{
	return id == PD_USER_DEFINED || (charsets[id].iconv && strncmp(charsets[id].iconv, "UTF", 3) != 0 && id != PD_GBK);
}

static void fill_table(enum pd_charset_id id)
{
	uint32_t *one = tables.one[id];
	iconv_t cd;
	if (!has_table(id))
		return;
	if (id == PD_USER_DEFINED) { /* bytes 80–FF are U+F780–F7FF */
		for (uint32_t c = 0; c < 128; c++)
			one[c] = 0xEF | (0x9E + c / 64) << 8 | (0x80 + c % 64) << 16;
		return;
	}
	cd = open_charset(id);
	if (id == PD_EUC_JP) {
		fill_euc_jp(cd);
	} else {
		fill_one(one, cd);
		if (two_byte_codes(id))
			fill_two(two_byte_codes(id), one, cd);
		else if (id >= PD_WINDOWS_874 && id <= PD_WINDOWS_1258)
			fill_c1(one);
		if (id == PD_EUC_KR)
			drop_private(two_byte_codes(id));
		if (id == PD_GB18030)
			fill_four(tables.four, cd);
	}
	iconv_close(cd);
}

static uint32_t digest(enum pd_charset_id id)
{
	if (!has_table(id))
		return 0;
	uint64_t h = pd_hash64(tables.one[id], sizeof tables.one[id]);
	if (two_byte_codes(id))
		h = pd_hash64_seed(two_byte_codes(id), PD_TEXT_CODES * sizeof *two_byte_codes(id), h);
	if (id == PD_EUC_JP)
		h = pd_hash64_seed(tables.jis0212, sizeof tables.jis0212, h);
	if (id == PD_GB18030)
		h = pd_hash64_seed(tables.four, sizeof tables.four, h);
	return (uint32_t)h;
}

static int write_out(const char *path, struct pd_err *e)
{
	struct pd_outfile out;
	int status = pd_outfile_open(&out, path, e);
	if (status)
		return status;
	if (fwrite(&tables, sizeof tables, 1, out.f) != 1) {
		pd_outfile_abandon(&out);
		return pd_fail_errno(e, "%s", path);
	}
	return pd_outfile_commit(&out, e);
}

int main(int argc, char **argv)
{
	struct pd_err e = { 0 };
	bool any = argc == 3 && strcmp(argv[1], "--any") == 0;
	int differ = 0;
	if (argc != 2 && !any) {
		fputs("usage: mkcharsets [--any] OUT\n", stderr);
		return 2;
	}
	for (int id = 0; id < PD_CHARSETS; id++)
		fill_table((enum pd_charset_id)id);
	for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++)
		fix(&fixes[i]);
	for (int id = 0; id < PD_CHARSETS; id++) {
		uint32_t d = digest((enum pd_charset_id)id);
		if (d == charsets[id].digest)
			continue;
		differ++;
		fprintf(stderr,
			"mkcharsets: %s: this system's iconv means other characters by some codes (table %08" PRIx32
			", not %08" PRIx32 ")\n",
			charsets[id].name, d, charsets[id].digest);
	}
	if (differ && !any) {
		fputs("mkcharsets: pages in such charsets would get other fingerprints than elsewhere; ANY_CHARSETS=1 builds all "
		      "the same\n",
		      stderr);
		return 1;
	}
	if (write_out(argv[argc - 1], &e)) {
		fprintf(stderr, "mkcharsets: %s\n", e.text);
		return 2;
	}
	return 0;
}
