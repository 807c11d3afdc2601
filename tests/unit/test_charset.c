/* SPDX-License-Identifier: MIT
 *
 * Labels: all labels of the WHATWG Encoding Standard (tests/data/text/labels.tsv: label, encoding), and others.
 * Then the meaning of the bytes of every encoding, valid and invalid.
 */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/text.c" /* for its functions that are not exported */

static FILE *open_labels(void)
{
	char path[1024];
	const char *top = getenv("TOP");
	snprintf(path, sizeof(path), "%s/tests/data/text/labels.tsv", top ? top : ".");
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s cannot be opened", path);
	return f;
}

static void expect(const char *label, const char *name)
{
	const struct pd_charset *c = charset_by_label(pd_span_z(label));
	ck_assert_msg(c != NULL, "'%s' is unknown", label);
	ck_assert_msg(!strcmp(c->name, name), "'%s' means %s, not %s", label, c->name, name);
}

START_TEST(every_label)
{
	char line[128], label[64], name[64], loud[80];
	bool seen[PD_CHARSETS] = { false };
	int n = 0, encodings = 0;
	FILE *f = open_labels();
	while (fgets(line, sizeof(line), f)) {
		ck_assert_msg(sscanf(line, "%63s\t%63s", label, name) == 2, "bad row '%s'", line);
		expect(label, name);
		snprintf(loud, sizeof(loud), " \t%s\r\n", label);
		for (char *p = loud; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		expect(loud, name);
		seen[charset_by_label(pd_span_z(label))->id] = true;
		n++;
	}
	fclose(f);
	for (int i = 0; i < PD_CHARSETS; i++)
		encodings += seen[i];
	ck_assert_msg(n == 228, "%d labels", n);
	ck_assert_msg(encodings == 40, "%d encodings", encodings);
}
END_TEST

static const char *const unknown[] = {
	"",	      " ",    "utf-7", "utf 8", "utf-8x", "utf", "cp936",
	"unset",      "none", "zzzz",  "\x01",	"\xFF",	  "8",	 "a-label-that-is-longer-than-any-there-is",
	"gb2312,gbk",
};

START_TEST(no_label)
{
	ck_assert_msg(!charset_by_label(pd_span_z(unknown[_i])), "'%s' is known", unknown[_i]);
}
END_TEST

START_TEST(how_names)
{
	for (int how = PD_CHARSET_BOM; how <= PD_CHARSET_DEFAULT; how++)
		ck_assert_msg(strcmp(pd_charset_how_name((enum pd_charset_how)how), "unknown"), "%d has no name", how);
}
END_TEST

struct sample {
	const char *label;
	const char *hex;
	const char *want;
	unsigned bad; /* undecodable: U+FFFD that is counted */
};

/* By the standard's indexes, including the differences of iconv's tables: ў, ∆, ¥, ～, U+05BA. */
static const struct sample samples[] = {
	{ "big5", "a741a66ea141a540acc9a1e3a242a244fed3", "你好，世界～﹨￥着", 0 },
	{ "euc-jp", "c6fccbdcb8eca1c1a1dd8eb18eb28fb0a1ada1", "日本語～－ｱｲ丂①", 0 },
	{ "euc-kr", "bec8b3e7c7cfbcbcbfe4208c63b9e6", "안녕하세요 똠방", 0 },
	{ "gb18030", "c4e3bac38139ee399534b235a8bc", "你好㐀𠮷ḿ", 0 },
	{ "gbk", "c4e3bac3a3accac0bde7a3a1e94687d6", "你好，世界！镕囍", 0 },
	{ "ibm866", "8fe0a8a2a5e220f1f0b0", "Привет ёЁ░", 0 },
	{ "iso-2022-jp", "1b2442467c4b5c1b2842611b284a5c7e1b284931321b2842", "日本a¥‾ｱｲ", 0 },
	{ "iso-8859-10", "a6b1f120fe20bbbd", "Ķąņ þ ŧ―", 0 },
	{ "iso-8859-13", "cde6fef020a561a1", "Ķęžš „a”", 0 },
	{ "iso-8859-14", "d0fe20a2f7", "Ŵŷ ḃṫ", 0 },
	{ "iso-8859-15", "a420bdbe20e9", "€ œŸ é", 0 },
	{ "iso-8859-16", "deba20e320a520b5", "Țș ă „ ”", 0 },
	{ "iso-8859-2", "a3f364bc20ecb9e820e0", "Łódź ěšč ŕ", 0 },
	{ "iso-8859-3", "a175f5f520b120fd", "Ħuġġ ħ ŭ", 0 },
	{ "iso-8859-4", "d3baf1bbb920bf", "Ķēņģš ŋ", 0 },
	{ "iso-8859-5", "bfe0d8d2d5e220f9af", "Привет љЏ", 0 },
	{ "iso-8859-6", "e5d1cdc8c720c8e3e5", "مرحبا بكم", 0 },
	{ "iso-8859-7", "cae1ebe7ecddf1e120a4", "Καλημέρα €", 0 },
	{ "iso-8859-8", "f9ece5ed20df", "שלום ‗", 0 },
	{ "iso-8859-8-i", "f9ece5ed20df", "שלום ‗", 0 },
	{ "koi8-r", "f0d2c9d7c5d420bebf", "Привет ╬©", 0 },
	{ "koi8-u", "f0d2c9d7a6d420ada4beae", "Привіт ґєЎў", 0 },
	{ "macintosh", "8ec6b620db", "é∆∂ €", 0 },
	{ "shift_jis", "93fa967b8cea8160817cb1b2eee08740", "日本語～－ｱｲ髙①", 0 },
	{ "utf-16be", "00614f6000e9d83dde000000", "a你é😀\357\277\275", 0 },
	{ "utf-16le", "6100604fe9003dd800de0000", "a你é😀\357\277\275", 0 },
	{ "utf-8", "e4bda0e5a5bd20c3a9f09f9880", "你好 é😀", 0 },
	{ "windows-1250", "a3f3649f2084ec9a94", "Łódź „ěš”", 0 },
	{ "windows-1251", "cff0e8e2e5f22084b8a1a294", "Привет „ёЎў”", 0 },
	{ "windows-1252", "8ee9208093e994818d8f909d", "Žé €“é”\302\201\302\215\302\217\302\220\302\235", 0 },
	{ "windows-1253", "cae1ebe7ecddf1e12080a2", "Καλημέρα €Ά", 0 },
	{ "windows-1254", "ddf0fefd2080", "İğşı €", 0 },
	{ "windows-1255", "f9ece5ed20a4ca", "שלום ₪\326\272", 0 },
	{ "windows-1256", "e3d1cdc8c720908180", "مرحبا گپ€", 0 },
	{ "windows-1257", "cde6fef02080", "Ķęžš €", 0 },
	{ "windows-1258", "5469eafef5fdc3", "Tiê₫ơưĂ", 0 },
	{ "windows-874", "cac7d1cab4d5208085", "สวัสดี €…", 0 },
	{ "x-mac-cyrillic", "8ff0e8e2e5f220a2b6ff", "Привет Ґґ€", 0 },
	{ "x-user-defined", "6180bfc0ff", "a\357\236\200\357\236\277\357\237\200\357\237\277", 0 },
};

static const struct sample error_samples[] = {
	{ "utf-8", "41ff42", "A\357\277\275B", 1 },
	{ "utf-8", "e4bd41", "\357\277\275A", 1 },
	{ "utf-8", "e4bda0e4bd", "你\357\277\275", 1 },
	{ "utf-8", "c080", "\357\277\275\357\277\275", 2 },
	{ "utf-8", "eda080", "\357\277\275\357\277\275\357\277\275", 3 },
	{ "utf-8", "f4908080", "\357\277\275\357\277\275\357\277\275\357\277\275", 4 },
	{ "utf-8", "f09f98", "\357\277\275", 1 },
	{ "utf-8", "f09f9841", "\357\277\275A", 1 },
	{ "utf-8", "410042", "A\357\277\275B", 0 },
	{ "utf-8", "efbfbeefb790f09fbfbf41", "\357\277\275\357\277\275\357\277\275A", 0 },
	{ "utf-8", "fefe80", "\357\277\275\357\277\275\357\277\275", 3 },
	{ "utf-16le", "410000d84200", "A\357\277\275B", 1 },
	{ "utf-16le", "00dc4200", "\357\277\275B", 1 },
	{ "utf-16le", "3dd8", "\357\277\275", 1 },
	{ "utf-16le", "410042", "A\357\277\275", 1 },
	{ "utf-16be", "0041feff", "A\357\273\277", 0 },
	{ "utf-16be", "fffe0041", "\357\277\275A", 0 },
	{ "gbk", "c4e3ff41", "你\357\277\275A", 1 },
	{ "gbk", "c4e3c4", "你\357\277\275", 1 },
	{ "gbk", "c422", "\357\277\275\"", 1 },
	{ "gbk", "c43c", "\357\277\275<", 1 },
	{ "gbk", "a3a080", "　€", 0 },
	{ "gbk", "8130", "\357\277\275", 1 },
	{ "gbk", "813081", "\357\277\275", 1 },
	{ "gbk", "81308141", "\357\277\2750丄", 1 },
	{ "gbk", "81303c41", "\357\277\2750<A", 1 },
	{ "gbk", "fe39fe39", "\357\277\275", 1 },
	{ "gbk", "8431a439", "\357\277\275", 0 },
	{ "gbk", "e3329a36", "\357\277\275", 1 },
	{ "gbk", "c400e3", "\357\277\275\357\277\275\357\277\275", 2 },
	{ "big5", "a7418041", "你\357\277\275A", 1 },
	{ "big5", "fe3c", "\357\277\275<", 1 },
	{ "big5", "81fe41", "\357\277\275A", 1 },
	{ "big5", "88628864", "Ê̄Ê̌", 0 },
	{ "euc-kr", "b03cb0a1", "\357\277\275<가", 1 },
	{ "euc-kr", "c9a141", "\357\277\275A", 1 },
	{ "euc-kr", "80b0a1", "\357\277\275가", 1 },
	{ "shift_jis", "8341a0fd", "ア\357\277\275\357\277\275", 2 },
	{ "shift_jis", "823c83", "\357\277\275<\357\277\275", 2 },
	{ "shift_jis", "5c7e80", "\\~\302\200", 0 },
	{ "shift_jis", "f040", "\356\200\200", 0 },
	{ "euc-jp", "a4a28e41", "あ\357\277\275A", 1 },
	{ "euc-jp", "8fb0", "\357\277\275", 1 },
	{ "euc-jp", "8fb041", "\357\277\275A", 1 },
	{ "euc-jp", "8f41", "\357\277\275A", 1 },
	{ "euc-jp", "8fa1a141", "\357\277\275A", 1 },
	{ "euc-jp", "80a4a2", "\357\277\275あ", 1 },
	{ "iso-2022-jp", "41800e", "A\357\277\275\357\277\275", 2 },
	{ "iso-2022-jp", "1b2442467c46", "日\357\277\275", 1 },
	{ "iso-2022-jp", "1b2442461b284241", "\357\277\275A", 1 },
	{ "iso-2022-jp", "1b244221", "\357\277\275", 1 },
	{ "iso-2022-jp", "1b24421b284241", "\357\277\275A", 1 },
	{ "iso-2022-jp", "1b5a", "\357\277\275Z", 1 },
	{ "iso-2022-jp", "4100", "A\357\277\275", 0 },
	{ "windows-1253", "d2e1", "\357\277\275α", 1 },
	{ "iso-8859-6", "a1c7", "\357\277\275ا", 1 },
	{ "ibm866", "8000", "А\357\277\275", 0 },
};

static void from_hex(const char *hex, struct pd_buf *out)
{
	unsigned byte;
	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		pd_buf_add_c(out, (char)byte);
}

static void decode(const struct pd_charset *c, struct pd_span in, struct pd_buf *out, struct pd_text_tally *tally)
{
	if (c->kind == PD_CHARSET_KIND_UTF_8) {
		text_utf8_repair(in, out, tally);
	} else if (c->kind == PD_CHARSET_KIND_UTF_16LE || c->kind == PD_CHARSET_KIND_UTF_16BE) {
		text_utf16_decode(in, c->kind == PD_CHARSET_KIND_UTF_16BE, out, tally);
	} else {
		pd_text_legacy_decode(c, in, out, tally);
	}
}

static void check_sample(const struct sample *s)
{
	struct pd_buf in = { 0 }, out = { 0 };
	struct pd_text_tally tally = { 0 };
	from_hex(s->hex, &in);
	/* A copy of exact size, so that a read beyond the end is noticed. */
	char *copy = pd_strndup(in.p, in.n);
	copy = pd_realloc(copy, in.n);
	decode(charset_by_label(pd_span_z(s->label)), pd_span(copy, in.n), &out, &tally);
	ck_assert_msg(pd_span_is(pd_buf_span(&out), s->want), "%s %s: '%s', not '%s'", s->label, s->hex, pd_buf_z(&out), s->want);
	ck_assert_msg(tally.bad == s->bad, "%s %s: %d bad, not %u", s->label, s->hex, (int)tally.bad, s->bad);
	free(copy);
	pd_buf_release(&in);
	pd_buf_release(&out);
}

START_TEST(every_encoding)
{
	check_sample(&samples[_i]);
}
END_TEST

START_TEST(bad_bytes)
{
	check_sample(&error_samples[_i]);
}
END_TEST

START_TEST(no_encoding_forgotten)
{
	for (int i = 0; i < PD_CHARSETS; i++) {
		const struct pd_charset *c = pd_charset_by_id((enum pd_charset_id)i);
		bool found = c->kind == PD_CHARSET_KIND_NONE;
		for (size_t k = 0; k < sizeof(samples) / sizeof(samples[0]); k++)
			found = found || !strcmp(samples[k].label, c->name);
		ck_assert_msg(found, "%s has no sample", c->name);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("charset");
	TCase *t = tcase_create("labels");
	tcase_add_test(t, every_label);
	tcase_add_loop_test(t, no_label, 0, sizeof(unknown) / sizeof(unknown[0]));
	tcase_add_test(t, how_names);
	tcase_add_test(t, no_encoding_forgotten);
	tcase_add_loop_test(t, every_encoding, 0, sizeof(samples) / sizeof(samples[0]));
	tcase_add_loop_test(t, bad_bytes, 0, sizeof(error_samples) / sizeof(error_samples[0]));
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
