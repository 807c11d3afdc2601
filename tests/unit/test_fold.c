/* SPDX-License-Identifier: MIT
 *
 * Folding: rows by hand, and the whole of it against libunistring on random text.
 */
#include <check.h>
#include <stdlib.h>
#include <unicase.h>
#include <uninorm.h>
#include <unictype.h>
#include <unistring/version.h>

#include "term/fold.h"
#include "term/unicode.h"

static const struct {
	const char *name, *in, *out;
} rows[] = {
	{ "empty", "", "" },
	{ "ascii", "Hello, World", "hello, world" },
	{ "spaces collapse", "  a \t\r\n b  ", "a b" },
	{ "spaces around eight", "aaaaaaa  bbbbbbb  ccccccc ", "aaaaaaa bbbbbbb ccccccc" },
	{ "spaces inside eight", "ab  cd efgh  ij klm", "ab cd efgh ij klm" },
	{ "spaces of other kinds",
	  "a\u00a0\u3000b\u2003c\u2028d\xc2\x85"
	  "e",
	  "a b c d e" },
	{ "only space", " \n\t ", "" },
	{ "full-width", "ＡＢＣ１２３！", "abc123!" },
	{ "half-width kana", "ｶﾞﾊﾟｱ", "ガパア" },
	{ "sharp s", "Straße", "strasse" },
	{ "ligature", "ﬁn", "fin" },
	{ "final sigma", "ΛΌΓΟΣ", "λόγοσ" },
	{ "dotted I", "İ", "i\u0307" },
	{ "composes", "Cafe\u0301", "café" },
	{ "composes over a fold", "E\u0301E\u0302\u0301", "éế" },
	{ "marks are put in order", "a\u0301\u0323", "ạ\u0301" },
	{ "jamo", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국" },
	{ "syllable and final", "\uac00\u11a8", "\uac01" },
	{ "Chinese", "近似网页，去重。", "近似网页,去重。" },
	{ "compatibility ideograph", "\uf900\ufa0a", "豈見" },
	{ "radical", "\u2f00", "一" },
	{ "square", "㎏㍿", "kg株式会社" },
	{ "circled", "①Ⓐ", "1a" },
	{ "ellipsis", "a…b", "a...b" },
	{ "diaeresis folds to a space and a mark", "a ¨ b", "a \u0308 b" },
	{ "mark at the beginning", "\u0301a", "\u0301a" },
	{ "mark after spaces", "a  \u0301b", "a \u0301b" },
	{ "mark after leading space", "  \u0301b", "\u0301b" },
	{ "iota below", "ᾳ\u0301", "άι" },
	{ "Thai am", "น\u0e33", "น\u0e4d\u0e32" },
	{ "not UTF-8",
	  "a\xff"
	  "b\xe4\xb8",
	  "a\uFFFD"
	  "b\uFFFD\uFFFD" },
	{ "mark after a stray byte", "\xc3\xa9\x80\xcc\x81", "é\uFFFD\u0301" },
};

START_TEST(folds)
{
	struct pd_folder *f = pd_folder_new();
	struct pd_buf out = { 0 };
	pd_fold(f, pd_span_z(rows[_i].in), &out);
	ck_assert_msg(strcmp(pd_buf_z(&out), rows[_i].out) == 0, "%s: \"%s\", not \"%s\"", rows[_i].name, pd_buf_z(&out),
		      rows[_i].out);
	pd_buf_release(&out);
	pd_folder_free(f);
}
END_TEST

/* Another version of Unicode folds other characters: no measure. */
static bool library_has_our_unicode(void)
{
	return _libunistring_version == 0x010000;
}

/* The promises of pd_fold in the simplest form. */
static void fold_plainly(struct pd_span in, struct pd_buf *out)
{
	size_t n;
	uint8_t *s = u8_casefold((const uint8_t *)in.p, in.n, NULL, UNINORM_NFKC, NULL, &n);
	const char *p = (char *)s, *end = p + n;
	pd_buf_clear(out);
	while (p < end) {
		uint32_t cp = pd_utf8_next(&p);
		if (!uc_is_property_white_space(cp))
			pd_buf_add_utf8(out, cp);
		else if (out->n > 0 && out->p[out->n - 1] != ' ')
			pd_buf_add_c(out, ' ');
	}
	if (out->n > 0 && out->p[out->n - 1] == ' ')
		out->n--;
	free(s);
}

static uint64_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 32) % below);
}

/* Ranges that meet each other's rules: bases and marks, jamo, kana and their voice marks, spaces, wide forms. */
static const uint32_t ranges[][2] = {
	{ 0x20, 0x7E },	      { 0x09, 0x0D },	    { 0xA0, 0x17F },	  { 0x300, 0x345 },	{ 0x340, 0x36F },
	{ 0x370, 0x3FF },     { 0x400, 0x4FF },	    { 0x591, 0x5F4 },	  { 0x620, 0x65F },	{ 0x900, 0x9FF },
	{ 0xB40, 0xBD7 },     { 0xD00, 0xDFF },	    { 0xE00, 0xEFF },	  { 0xF40, 0xFBC },	{ 0x1000, 0x1040 },
	{ 0x1100, 0x11FF },   { 0x1B05, 0x1B44 },   { 0x1E00, 0x1FFF },	  { 0x2000, 0x206F },	{ 0x2100, 0x22FF },
	{ 0x2460, 0x24FF },   { 0x3000, 0x30FF },   { 0x3099, 0x309A },	  { 0x3200, 0x33FF },	{ 0x4E00, 0x4FFF },
	{ 0xAC00, 0xD7A3 },   { 0xAC00, 0xAC1C },   { 0xF900, 0xFAFF },	  { 0xFB00, 0xFDFF },	{ 0xFE00, 0xFFEF },
	{ 0xFF66, 0xFF9F },   { 0x11080, 0x110C0 }, { 0x11300, 0x11380 }, { 0x1D15E, 0x1D1C0 }, { 0x1D400, 0x1D4FF },
	{ 0x1F100, 0x1F1FF }, { 0x2F800, 0x2FA1D }, { 0x0, 0xD7FF },	  { 0xE000, 0x10FFFF },
};
#define N_RANGES (sizeof ranges / sizeof *ranges)

static void random_text(struct pd_buf *text)
{
	size_t n = any(24), a = any(N_RANGES), b = any(N_RANGES);
	pd_buf_clear(text);
	for (size_t i = 0; i < n; i++) {
		const uint32_t *r = ranges[any(4) ? any(2) ? a : b : any(N_RANGES)];
		pd_buf_add_utf8(text, r[0] + any(r[1] - r[0] + 1));
	}
}

static void same_as_plain(struct pd_folder *f, struct pd_span text, const char *what)
{
	static struct pd_buf fast, plain;
	if (!library_has_our_unicode())
		return;
	pd_fold(f, text, &fast);
	fold_plainly(text, &plain);
	ck_assert_msg(pd_span_eq(pd_buf_span(&fast), pd_buf_span(&plain)), "%s: \"%.*s\" -> \"%s\", not \"%.*s\"", what,
		      (int)text.n, text.p, pd_buf_z(&fast), (int)plain.n, plain.p);
}

START_TEST(equals_plain_on_random_text)
{
	struct pd_folder *f = pd_folder_new();
	struct pd_buf text = { 0 };
	seed = 20240229;
	for (int i = 0; i < 60000; i++) {
		random_text(&text);
		same_as_plain(f, pd_buf_span(&text), "random");
	}
	pd_buf_release(&text);
	pd_folder_free(f);
}
END_TEST

/* Every character alone, between letters, and before a mark, a jamo, a kana voice mark. */
START_TEST(equals_plain_on_every_character)
{
	struct pd_folder *f = pd_folder_new();
	struct pd_buf text = { 0 };
	for (uint32_t cp = 1; cp < 0x110000; cp += cp < 0x33FF ? 1 : 7) {
		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		pd_buf_clear(&text);
		static const uint32_t after[] = { 'a', 0x301, 'b', 0x327, 0x3099, 0x11A8, 0x1161, 0x345 };
		for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
			pd_buf_add_utf8(&text, cp);
			pd_buf_add_utf8(&text, after[i]);
		}
		same_as_plain(f, pd_buf_span(&text), "every character");
	}
	pd_buf_release(&text);
	pd_folder_free(f);
}
END_TEST

/* Bytes of any kind: the result is UTF-8, and folding it again does not change it. */
START_TEST(takes_any_bytes)
{
	struct pd_folder *f = pd_folder_new();
	struct pd_buf once = { 0 }, twice = { 0 };
	char bytes[64];
	seed = 7;
	for (int i = 0; i < 30000; i++) {
		size_t n = any(sizeof bytes);
		for (size_t j = 0; j < n; j++)
			bytes[j] = (char)(any(3) ? 0x80 + any(128) : any(128));
		pd_fold(f, pd_span(bytes, n), &once);
		for (size_t at = 0, len; at < once.n; at += len) {
			len = pd_utf8_sequence(once.p + at, once.n - at);
			ck_assert_msg(len > 0, "round %d: byte %zu is not UTF-8", i, at);
		}
		pd_fold(f, pd_buf_span(&once), &twice);
		ck_assert_msg(pd_span_eq(pd_buf_span(&once), pd_buf_span(&twice)), "round %d: not stable", i);
	}
	pd_buf_release(&once);
	pd_buf_release(&twice);
	pd_folder_free(f);
}
END_TEST

/* A megabyte of marks is one span: it must not take more than its bytes. */
START_TEST(endless_marks)
{
	struct pd_folder *f = pd_folder_new();
	struct pd_buf text = { 0 }, out = { 0 };
	pd_buf_add_c(&text, 'a');
	for (int i = 0; i < 500000; i++)
		pd_buf_add_utf8(&text, i & 1 ? 0x301 : 0x323);
	pd_fold(f, pd_buf_span(&text), &out);
	ck_assert_msg(out.n > text.n - 16 && out.n <= text.n, "%zu bytes became %zu", text.n, out.n);
	pd_buf_release(&text);
	pd_buf_release(&out);
	pd_folder_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fold");
	TCase *t = tcase_create("fold");
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, folds, 0, (int)(sizeof rows / sizeof *rows));
	tcase_add_test(t, equals_plain_on_random_text);
	tcase_add_test(t, equals_plain_on_every_character);
	tcase_add_test(t, takes_any_bytes);
	tcase_add_test(t, endless_marks);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
