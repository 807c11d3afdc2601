/* SPDX-License-Identifier: MIT
 *
 * The charset from which a page is decoded, and the UTF-8 validator compared with a plain one.  Texts:
 * tests/data/text/LANGUAGE.CHARSET, each with LANGUAGE.utf-8.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/text.c" /* for its functions that are not exported */

#define R "\357\277\275" /* U+FFFD */
#define META(charset) "<html><head><meta charset=" charset ">"

static void slurp(const char *path, struct pd_buf *out)
{
	FILE *f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s cannot be opened", path);
	for (int c; (c = getc(f)) != EOF;)
		pd_buf_add_c(out, (char)c);
	fclose(f);
}

static void add_data(const char *name, struct pd_buf *out)
{
	char path[1024];
	const char *top = getenv("TOP");
	snprintf(path, sizeof(path), "%s/tests/data/text/%s", top ? top : ".", name);
	slurp(path, out);
}

struct decision {
	const char *name;
	const char *http; /* charset of the HTTP header */
	const char *head; /* ASCII before the text */
	const char *file; /* the text */
	const char *want; /* the text in UTF-8; NULL: not compared */
	const char *charset;
	enum pd_charset_how how;
};

static const struct decision decisions[] = {
	{ "http", "gb2312", "", "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_HTTP },
	{ "http in quotes", "\"GBK\"", "", "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_HTTP },
	{ "http beats meta", "shift_jis", META("euc-jp"), "ja.shift_jis", "ja.utf-8", "shift_jis", PD_CHARSET_HTTP },
	{ "unknown http, meta", "unset", META("big5"), "tw.big5", "tw.utf-8", "big5", PD_CHARSET_META },
	{ "replacement is not a declaration", "iso-2022-kr", META("euc-kr"), "ko.euc-kr", "ko.utf-8", "euc-kr", PD_CHARSET_META },
	{ "replacement alone", "iso-2022-cn", "", "zh.gbk", "zh.utf-8", "gb18030", PD_CHARSET_DETECTED },
	{ "utf-7 is not a charset", "utf-7", "", "zh.utf-8", "zh.utf-8", "utf-8", PD_CHARSET_DETECTED },
	{ "meta charset", "", META("'GBK'"), "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_META },
	{ "meta http-equiv", "", "<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=gb2312'/>", "zh.gbk", "zh.utf-8", "gbk",
	  PD_CHARSET_META },
	{ "meta, content first", "", "<meta content=\"text/html;charset = euc-kr\"\nhttp-equiv=content-type>", "ko.euc-kr",
	  "ko.utf-8", "euc-kr", PD_CHARSET_META },
	{ "content without http-equiv", "", "<meta name=x content='charset=koi8-r'>", "ru.windows-1251", "ru.utf-8", "windows-1251",
	  PD_CHARSET_DETECTED },
	{ "meta in a comment", "", "<!-- <meta charset=big5> -->" META("gbk"), "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_META },
	{ "comment that ends at once", "", "<!-->" META("gbk"), "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_META },
	{ "meta in an attribute", "", "<a title='<meta charset=big5>'>" META("gbk"), "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_META },
	{ "meta after bogus markup", "", "<!doctype html><?x?></ ><b/>< " META("gbk"), "zh.gbk", "zh.utf-8", "gbk",
	  PD_CHARSET_META },
	{ "first attribute counts", "", "<meta charset=gbk charset=big5>", "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_META },
	{ "unknown label, next meta", "", META("klingon") META("gbk"), "zh.gbk", "zh.utf-8", "gbk", PD_CHARSET_META },
	{ "utf-16 in meta is utf-8", "", META("utf-16"), "zh.utf-8", "zh.utf-8", "utf-8", PD_CHARSET_META },
	{ "x-user-defined in meta", "", META("x-user-defined"), "fr.windows-1252", "fr.utf-8", "windows-1252", PD_CHARSET_META },
	{ "meta without end", "", "<meta charset=gbk", "ru.koi8-r", NULL, "koi8-r", PD_CHARSET_DETECTED },
	{ "xml declaration", "", "<?xml version='1.0' encoding='koi8-r'?>", "ru.koi8-r", "ru.utf-8", "koi8-r", PD_CHARSET_XML },
	{ "meta beats xml", "", "<?xml version=\"1.0\" encoding=\"big5\"?>" META("gbk"), "zh.gbk", "zh.utf-8", "gbk",
	  PD_CHARSET_META },
	{ "iso-8859-1 is windows-1252", "iso-8859-1", "", "fr.windows-1252", "fr.utf-8", "windows-1252", PD_CHARSET_HTTP },
	{ "undeclared gbk", "", "<p>", "zh.gbk", "zh.utf-8", "gb18030", PD_CHARSET_DETECTED },
	{ "undeclared big5", "", "<p>", "tw.big5", "tw.utf-8", "big5", PD_CHARSET_DETECTED },
	{ "undeclared shift_jis", "", "<p>", "ja.shift_jis", "ja.utf-8", "shift_jis", PD_CHARSET_DETECTED },
	{ "undeclared euc-jp", "", "<p>", "ja.euc-jp", "ja.utf-8", "euc-jp", PD_CHARSET_DETECTED },
	{ "undeclared iso-2022-jp", "", "<p>", "ja.iso-2022-jp", "ja.utf-8", "iso-2022-jp", PD_CHARSET_DETECTED },
	{ "undeclared koi8-r", "", "<p>", "ru.koi8-r", "ru.utf-8", "koi8-r", PD_CHARSET_DETECTED },
	{ "undeclared windows-1252", "", "<p>", "fr.windows-1252", "fr.utf-8", "windows-1252", PD_CHARSET_DETECTED },
	{ "undeclared utf-8", "", "<p>", "zh.utf-8", "zh.utf-8", "utf-8", PD_CHARSET_DETECTED },
	{ "undeclared ascii", "", "<p>", "labels.tsv", "labels.tsv", "utf-8", PD_CHARSET_DEFAULT },
	{ "declared ascii", "us-ascii", "<p>", "labels.tsv", "labels.tsv", "windows-1252", PD_CHARSET_HTTP },
	{ "utf-8 declared, gbk", "utf-8", META("utf-8"), "zh.gbk", "zh.utf-8", "gb18030", PD_CHARSET_DETECTED },
	{ "utf-8 declared, windows-1252", "utf-8", "", "fr.windows-1252", "fr.utf-8", "windows-1252", PD_CHARSET_DETECTED },
	{ "utf-8 mark, gbk", "", "\xEF\xBB\xBF", "zh.gbk", "zh.utf-8", "gb18030", PD_CHARSET_DETECTED },
	{ "gb2312 declared, utf-8", "", META("gb2312"), "zh.utf-8", "zh.utf-8", "utf-8", PD_CHARSET_DETECTED },
	{ "gb2312 declared, big5", "", META("gb2312"), "tw.big5", "tw.utf-8", "big5", PD_CHARSET_DETECTED },
	{ "big5 declared, gbk", "big5", "", "zh.gbk", "zh.utf-8", "gb18030", PD_CHARSET_DETECTED },
	{ "iso-8859-1 declared, utf-8", "iso-8859-1", "", "zh.utf-8", "zh.utf-8", "utf-8", PD_CHARSET_DETECTED },
	{ "utf-16 declared, utf-8", "utf-16", "", "zh.utf-8", "zh.utf-8", "utf-8", PD_CHARSET_DETECTED },
	{ "utf-16 declared, ascii", "utf-16", "", "labels.tsv", "labels.tsv", "utf-8", PD_CHARSET_DETECTED },
	{ "single byte without an error stays", "koi8-r", "", "ru.windows-1251", NULL, "koi8-r", PD_CHARSET_HTTP },
};

static void decode(struct pd_text_decoder *d, const char *http, struct pd_span body, struct pd_text *out)
{
	struct pd_page page = { .type = PD_PAGE_HTML, .charset = pd_span_z(http) };
	/* A copy of exact size, so that a read beyond the end is noticed. */
	char *copy = pd_realloc(pd_strndup(body.p, body.n), body.n);
	page.body = pd_span(copy, body.n);
	pd_text_decode(d, &page, out);
	/* Views into the page die with it. */
	if (out->utf8.p != out->own.p)
		pd_buf_set(&out->own, out->utf8);
	out->utf8 = pd_buf_span(&out->own);
	free(copy);
}

START_TEST(decision)
{
	const struct decision *c = &decisions[_i];
	struct pd_text_decoder *d = pd_text_decoder_new();
	struct pd_buf body = { 0 }, want = { 0 };
	struct pd_text got = { 0 };
	pd_buf_add_z(&body, c->head);
	add_data(c->file, &body);
	decode(d, c->http, pd_buf_span(&body), &got);
	ck_assert_msg(!strcmp(got.charset->name, c->charset), "%s: %s", c->name, got.charset->name);
	ck_assert_msg(got.how == c->how, "%s: how %s", c->name, pd_charset_how_name(got.how));
	if (c->want) {
		bool marked = (unsigned char)c->head[0] == 0xEF;
		pd_buf_add_z(&want, marked ? c->head + 3 : c->head);
		add_data(c->want, &want);
		ck_assert_msg(pd_span_eq(got.utf8, pd_buf_span(&want)), "%s: %s", c->name, pd_buf_z(&got.own));
		ck_assert_msg(got.replaced == 0, "%s: %d replaced", c->name, (int)got.replaced);
	}
	pd_buf_release(&body);
	pd_buf_release(&want);
	pd_text_release(&got);
	pd_text_decoder_free(d);
}
END_TEST

struct body {
	const char *name, *http;
	const char *bytes;
	size_t n;
	const char *want;
	unsigned replaced;
	const char *charset;
	enum pd_charset_how how;
};

#define B(z) z, sizeof(z) - 1

static const struct body bodies[] = {
	{ "empty", "gbk", B(""), "", 0, "utf-8", PD_CHARSET_DEFAULT },
	{ "mark alone", "gbk", B("\xEF\xBB\xBF"), "", 0, "utf-8", PD_CHARSET_BOM },
	{ "mark beats http", "gbk", B("\xEF\xBB\xBF\xE4\xBD\xA0"), "你", 0, "utf-8", PD_CHARSET_BOM },
	{ "utf-16le mark", "utf-8",
	  B("\xFF\xFE"
	    "a\0\x60\x4F"),
	  "a你", 0, "utf-16le", PD_CHARSET_BOM },
	{ "utf-16be mark, odd byte", "utf-8", B("\xFE\xFF\0a\x4F"), "a" R, 1, "utf-16be", PD_CHARSET_BOM },
	{ "utf-16 mark, lone surrogate", "",
	  B("\xFF\xFE\0\xD8"
	    "a\0"),
	  R "a", 1, "utf-16le", PD_CHARSET_BOM },
	{ "utf-16 by http", "utf-16", B("<\0b\0>\0"), "<b>", 0, "utf-16le", PD_CHARSET_HTTP },
	{ "utf-16 undeclared", "", B("<\0b\0>\0\x60\x4F"), "<b>你", 0, "utf-16le", PD_CHARSET_DETECTED },
	{ "utf-16be undeclared", "", B("\0<\0b\0>\x4F\x60"), "<b>你", 0, "utf-16be", PD_CHARSET_DETECTED },
	{ "zero byte", "utf-8", B("a\0b"), "a" R "b", 0, "utf-8", PD_CHARSET_HTTP },
	{ "a few bad bytes stay utf-8", "utf-8", B("你好你好你好你好\xFF你好你好你好\xC0你好你好你好"),
	  "你好你好你好你好" R "你好你好你好" R "你好你好你好", 2, "utf-8", PD_CHARSET_HTTP },
	{ "cut character, undeclared", "", B("你好你好你好你好\xE4\xBD"), "你好你好你好你好" R, 1, "utf-8", PD_CHARSET_DETECTED },
	{ "cut character, wrongly declared", "gbk", B("<p>你好吗</p>\xE4\xBD"), "<p>你好吗</p>" R, 1, "utf-8",
	  PD_CHARSET_DETECTED },
	{ "one bad byte stays gbk", "gbk",
	  B("\xC4\xE3\xBA\xC3\xC4\xE3\xBA\xC3\xC4\xE3\xBA\xC3<\xC4>\xC4\xE3\xBA\xC3\xC4\xE3\xBA\xC3\xC4\xE3\xBA\xC3"),
	  "你好你好你好<" R ">你好你好你好", 1, "gbk", PD_CHARSET_HTTP },
	{ "C1 bytes are windows-1252 by default", "windows-1252", B("a\x81z"), "a\302\201z", 0, "windows-1252", PD_CHARSET_HTTP },
	{ "windows-1252 by default", "", B("caf\xE9"), "café", 0, "windows-1252", PD_CHARSET_DEFAULT },
};

START_TEST(small_body)
{
	const struct body *b = &bodies[_i];
	struct pd_text_decoder *d = pd_text_decoder_new();
	struct pd_text got = { 0 };
	decode(d, b->http, pd_span(b->bytes, b->n), &got);
	ck_assert_msg(!strcmp(got.charset->name, b->charset), "%s: %s", b->name, got.charset->name);
	ck_assert_msg(got.how == b->how, "%s: how %s", b->name, pd_charset_how_name(got.how));
	ck_assert_msg(pd_span_is(got.utf8, b->want), "%s: '%s'", b->name, pd_buf_z(&got.own));
	ck_assert_msg(got.replaced == b->replaced, "%s: %d replaced", b->name, (int)got.replaced);
	pd_text_release(&got);
	pd_text_decoder_free(d);
}
END_TEST

/* A declaration counts when its tag ends within the first 1,024 bytes: `_i` bytes around that. */
START_TEST(meta_at_the_end)
{
	const char *meta = "<meta charset=koi8-r>";
	struct pd_text_decoder *d = pd_text_decoder_new();
	struct pd_buf body = { 0 };
	struct pd_text got = { 0 };
	size_t end = 1024 + (size_t)_i - 2;
	while (body.n + strlen(meta) < end)
		pd_buf_add_c(&body, ' ');
	pd_buf_add_z(&body, meta);
	add_data("ru.windows-1251", &body);
	decode(d, "", pd_buf_span(&body), &got);
	const char *want = end <= 1024 ? "koi8-r" : "windows-1251";
	ck_assert_msg(!strcmp(got.charset->name, want), "meta that ends at %d: %s", (int)end, got.charset->name);
	pd_buf_release(&body);
	pd_text_release(&got);
	pd_text_decoder_free(d);
}
END_TEST

START_TEST(plain_text_has_no_meta)
{
	struct pd_text_decoder *d = pd_text_decoder_new();
	struct pd_text got = { 0 };
	struct pd_buf body = { 0 };
	pd_buf_add_z(&body, META("koi8-r"));
	add_data("ru.windows-1251", &body);
	struct pd_page page = { .type = PD_PAGE_TEXT, .body = pd_buf_span(&body) };
	pd_text_decode(d, &page, &got);
	ck_assert_msg(!strcmp(got.charset->name, "windows-1251"), "%s", got.charset->name);
	pd_buf_release(&body);
	pd_text_release(&got);
	pd_text_decoder_free(d);
}
END_TEST

START_TEST(clean_utf8_is_not_copied)
{
	struct pd_text_decoder *d = pd_text_decoder_new();
	struct pd_text got = { 0 };
	struct pd_page page = { .body = pd_span_z("\xEF\xBB\xBF<p>你好</p>") };
	pd_text_decode(d, &page, &got);
	ck_assert_msg(got.utf8.p == page.body.p + 3, "copied");
	pd_text_release(&got);
	pd_text_decoder_free(d);
}
END_TEST

/* Simple on purpose: the code point, and whether it is allowed here. */
static size_t naive_length(const unsigned char *p, size_t n)
{
	size_t want = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
	static const uint32_t least[] = { 0, 1, 0x80, 0x800, 0x10000 };
	if (!want || want > n)
		return 0;
	uint32_t c = want == 1 ? p[0] : p[0] & (0x7Fu >> want);
	for (size_t i = 1; i < want; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 0x3F);
	}
	bool fits = c >= least[want] && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
	return fits && (c & 0xFFFE) != 0xFFFE && !(c >= 0xFDD0 && c <= 0xFDEF) ? want : 0;
}

static size_t naive_clean(const unsigned char *p, size_t n)
{
	size_t i = 0;
	for (size_t k; i < n && (k = naive_length(p + i, n - i)) > 0;)
		i += k;
	return i;
}

/* Pieces that are clean, or nearly: random bytes alone would end at once. */
static size_t random_bytes(unsigned *seed, char *out, size_t room)
{
	static const char *const pieces[] = { "abcdefgh",
					      "<p>",
					      "é",
					      "你好",
					      "，",
					      "😀",
					      "\xEF\xBF\xBE",
					      "\xEF\xB7\x90",
					      "\xED\xA0\x80",
					      "\xF0\x9F",
					      "\xE4\xBD",
					      "\xF4\x90\x80\x80",
					      "\xC1",
					      "\xF1\xBF\xBF\xBF",
					      "\xEF\xB7\x8F",
					      "a",
					      "0123456789abcdef" };
	size_t n = 0, target = (size_t)rand_r(seed) % (room - 20);
	while (n < target) {
		unsigned r = (unsigned)rand_r(seed);
		const char *z = pieces[r % (r & 256 ? 6 : sizeof(pieces) / sizeof(pieces[0]))];
		memcpy(out + n, z, strlen(z));
		n += strlen(z);
		if (r % 40 == 0)
			out[n++] = (char)(r >> 10);
	}
	return n;
}

START_TEST(validator)
{
	unsigned seed = 20;
	char bytes[160];
	bool multibyte, again;
	for (int round = 0; round < 50000; round++) {
		struct pd_span in = pd_span(bytes, random_bytes(&seed, bytes, sizeof(bytes)));
		struct pd_buf out = { 0 };
		struct pd_text_tally tally = { 0 };
		size_t got = text_utf8_clean(in, &multibyte), want = naive_clean((const unsigned char *)bytes, in.n);
		if (want > 0 && memchr(bytes, 0, want))
			want = (size_t)((const char *)memchr(bytes, 0, want) - bytes);
		ck_assert_msg(got == want, "round %d: %zu, not %zu", round, got, want);
		text_utf8_repair(in, &out, &tally);
		ck_assert_msg(text_utf8_clean(pd_buf_span(&out), &again) == out.n, "round %d: repaired, not clean", round);
		ck_assert_msg(got < in.n || pd_span_eq(in, pd_buf_span(&out)), "round %d: clean, yet changed", round);
		pd_buf_release(&out);
	}
}
END_TEST

/* Folder names of the collection that are not labels; NULL: no browser decodes it. */
static const struct {
	const char *folder, *label;
} folders[] = {
	{ "CP932", "shift_jis" },    { "CP949", "euc-kr" },    { "MacCyrillic", "x-mac-cyrillic" },
	{ "MacRoman", "macintosh" }, { "utf-8-sig", "utf-8" }, { "EUC-TW", NULL },
	{ "IBM855", NULL },	     { "Johab", NULL },	       { "UTF-32", NULL },
	{ "UTF-32BE", NULL },	     { "UTF-32LE", NULL },     { "iso-2022-kr", NULL },
};

/* "iso-8859-2-czech" -> "iso-8859-2" */
static const char *label_of(const char *folder, char *out, size_t room)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strcmp(folder, folders[i].folder))
			return folders[i].label;
	snprintf(out, room, "%s", folder);
	while (!charset_by_label(pd_span_z(out)) && strrchr(out, '-'))
		*strrchr(out, '-') = 0;
	return charset_by_label(pd_span_z(out)) ? out : NULL;
}

struct count {
	int all, declared, detected;
};

/* A file is correct if the declared charset is used, and if the same text is returned without the declaration. */
static void count_file(struct pd_text_decoder *d, const char *path, const char *label, struct count *n)
{
	struct pd_buf body = { 0 };
	struct pd_text told = { 0 }, found = { 0 };
	slurp(path, &body);
	decode(d, label, pd_buf_span(&body), &told);
	decode(d, "", pd_buf_span(&body), &found);
	n->all++;
	n->declared += told.how == PD_CHARSET_HTTP || told.how == PD_CHARSET_BOM;
	n->detected += pd_span_eq(told.utf8, found.utf8);
	pd_buf_release(&body);
	pd_text_release(&told);
	pd_text_release(&found);
}

static void count_folder(struct pd_text_decoder *d, const char *root, const char *folder, struct count *n)
{
	char name[300], path[2400];
	const char *label = folder[0] == '.' ? NULL : label_of(folder, name, sizeof(name));
	snprintf(path, sizeof(path), "%s/%s", root, folder);
	DIR *dir = label ? opendir(path) : NULL;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		snprintf(path, sizeof(path), "%s/%s/%s", root, folder, e->d_name);
		if (e->d_name[0] != '.')
			count_file(d, path, label, n);
	}
	if (dir)
		closedir(dir);
}

START_TEST(real_files)
{
	char root[1024];
	struct count n = { 0 };
	const char *corpora = getenv("PAGEDEDUP_CORPORA");
	if (!corpora)
		return;
	snprintf(root, sizeof(root), "%s/encodings/chardet/tests", corpora);
	DIR *dir = opendir(root);
	ck_assert_msg(dir != NULL, "%s cannot be opened", root);
	struct pd_text_decoder *d = pd_text_decoder_new();
	for (struct dirent *e; (e = readdir(dir));)
		count_folder(d, root, e->d_name, &n);
	closedir(dir);
	pd_text_decoder_free(d);
	ck_assert_msg(n.all >= 395, "only %d files", n.all);
	ck_assert_msg(n.declared == n.all, "%d of %d believed as declared", n.declared, n.all);
	ck_assert_msg(n.detected >= n.all - 5, "%d of %d read right undeclared", n.detected, n.all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("decode");
	TCase *t = tcase_create("decode");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, decision, 0, sizeof(decisions) / sizeof(decisions[0]));
	tcase_add_loop_test(t, small_body, 0, sizeof(bodies) / sizeof(bodies[0]));
	tcase_add_loop_test(t, meta_at_the_end, 0, 5);
	tcase_add_test(t, plain_text_has_no_meta);
	tcase_add_test(t, clean_utf8_is_not_copied);
	tcase_add_test(t, validator);
	tcase_add_test(t, real_files);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
