/* SPDX-License-Identifier: MIT
 *
 * The dictionary: compiled words are found, and no others; damaged containers are refused.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../seal.h"
#include "base/utf8.h"
#include "term/dict.h"
#include "term/dict_layout.h"

static const char *data(const char *name)
{
	static char path[2][4096];
	static int turn;
	const char *top = getenv("TOP");
	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/tests/data/term/%s", top ? top : ".", name);
	return path[turn];
}

static void compile(struct pd_buf *out)
{
	struct pd_err e = { 0 };
	ck_assert_msg(pd_dict_compile(data("words.txt"), data("idf.txt"), out, &e) == 0, "%s", e.text);
}

static struct pd_dict *open_dict(const struct pd_buf *bytes)
{
	struct pd_dict *d;
	struct pd_err e = { 0 };
	ck_assert_msg(pd_dict_open(pd_buf_span(bytes), &d, &e) == 0, "%s", e.text);
	return d;
}

static const struct {
	const char *word;
	uint32_t frequency; /* 0: no word */
	float idf;
	const char *pos;
} rows[] = {
	{ "近似", 900, 0, "a" },
	{ "网页", 1200, 5.25f, "n" },
	{ "研究", 8000, 4.5f, "v" },
	{ "的", 90000, 0, "uj" },
	{ "中华人民共和国", 400, 0, "ns" },
	{ "T恤", 4, 0, "n" },
	{ "B超", 7, 0, "n" },
	{ "𠮷野", 12, 0, "ns" },
	{ "A&B", 3, 0, "" },
	{ "", 0, 0, "" },
	{ "网", 0, 0, "" },
	{ "页", 0, 0, "" },
	{ "网页网页", 0, 0, "" },
	{ "没有此词", 0, 0, "" },
	{ "中华人", 0, 0, "" },
	{ "b超", 0, 0, "" },
	{ "A", 0, 0, "" },
	{ "\xff\xfe", 0, 0, "" },
};

START_TEST(finds)
{
	struct pd_buf bytes = { 0 };
	struct pd_dict_word w;
	const char *word = rows[_i].word;
	compile(&bytes);
	struct pd_dict *d = open_dict(&bytes);
	bool found = pd_dict_find(d, pd_span_z(word), &w);
	ck_assert_msg(found == (rows[_i].frequency > 0), "%s: %s", word, found ? "found" : "not found");
	if (found) {
		float p = (float)log(rows[_i].frequency / 166329.0);
		ck_assert_msg(pd_span_is(w.text, word), "%s: text %.*s", word, (int)w.text.n, w.text.p);
		ck_assert_msg(w.frequency == rows[_i].frequency, "%s: frequency %u", word, w.frequency);
		ck_assert_msg(w.idf == rows[_i].idf, "%s: idf %g", word, (double)w.idf);
		ck_assert_msg(strncmp(w.pos, rows[_i].pos, 4) == 0, "%s: part of speech %.4s", word, w.pos);
		ck_assert_msg(fabsf(w.log_probability - p) < 1e-4f, "%s: log probability %g, not %g", word,
			      (double)w.log_probability, (double)p);
	}
	pd_dict_free(d);
	pd_buf_release(&bytes);
}
END_TEST

/* The slot of the prefix of `n` code points, 0 when there is none. */
static uint64_t prefix(const struct pd_dict *d, const uint32_t *cp, size_t n)
{
	uint32_t before = cp[0];
	uint64_t slot = 0;
	for (size_t i = 1; i < n; i++) {
		if (i > d->levels)
			return 0;
		const struct pd_prefix_table *t = &d->prefixes[i - 1];
		uint64_t key = pd_prefix_key(before, cp[i]);
		before = pd_prefix_place(t, key);
		slot = pd_prefix_at(t, key, before);
		if (!slot)
			return 0;
	}
	return slot;
}

static size_t code_points(const char *p, uint32_t *cp)
{
	size_t n = 0;
	while (*p)
		cp[n++] = pd_utf8_next(&p);
	return n;
}

static const struct {
	const char *text;
	bool there, word, more;
} prefixes[] = {
	{ "网页", true, true, false },
	{ "中华", true, true, true },
	{ "中华人", true, false, true },
	{ "中华人民共和", true, false, true },
	{ "中华人民共和国", true, true, false },
	{ "T恤", true, true, false },
	{ "𠮷野", true, true, false },
	{ "A&", true, false, true },
	{ "A&B", true, true, false },
	{ "页网", false, false, false },
	{ "网网", false, false, false },
	{ "中华网", false, false, false },
	{ "网页网", false, false, false },
	{ "中华人民共和国网", false, false, false },
};

START_TEST(knows_prefixes)
{
	struct pd_buf bytes = { 0 };
	uint32_t cp[32];
	const char *text = prefixes[_i].text;
	compile(&bytes);
	struct pd_dict *d = open_dict(&bytes);
	uint64_t slot = prefix(d, cp, code_points(text, cp));
	ck_assert_msg((slot != 0) == prefixes[_i].there, "%s: slot %llx", text, (unsigned long long)slot);
	ck_assert_msg(pd_prefix_is_word(slot) == prefixes[_i].word, "%s: a word or not", text);
	ck_assert_msg(((slot & PD_PREFIX_MORE) != 0) == prefixes[_i].more, "%s: continues or not", text);
	if (pd_prefix_is_word(slot))
		ck_assert_msg(pd_prefix_cost(slot) == pd_dict_cost(d, pd_span_z(text)), "%s: cost %u", text, pd_prefix_cost(slot));
	pd_dict_free(d);
	pd_buf_release(&bytes);
}
END_TEST

/* Every word of the built-in dictionary has its slot, with its cost; a word with another last character is one only when
 * the words say so. */
START_TEST(knows_all_prefixes)
{
	struct pd_dict *d;
	uint32_t cp[PD_DICT_WORD_MAX];
	char word[PD_DICT_WORD_MAX + 1];
	ck_assert(pd_dict_builtin(&d, NULL) == 0);
	for (size_t i = 0; i < pd_dict_words(d); i++) {
		uint32_t place = d->entries[i].place;
		snprintf(word, sizeof word, "%.*s", (int)(place & 0xFF), d->text.p + (place >> 8));
		size_t n = code_points(word, cp);
		if (n < 2)
			continue;
		ck_assert_msg(pd_prefix_cost(prefix(d, cp, n)) == d->entries[i].cost, "%s: another cost", word);
		cp[n - 1] = cp[n - 1] == 0x4E00 + i % 20902 ? 0x4E00 : 0x4E00 + (uint32_t)(i % 20902);
		struct pd_buf other = { 0 };
		for (size_t j = 0; j < n; j++)
			pd_buf_add_utf8(&other, cp[j]);
		ck_assert_msg(pd_prefix_is_word(prefix(d, cp, n)) == (pd_dict_cost(d, pd_buf_span(&other)) != PD_DICT_NO_COST),
			      "%s: a word or not", other.p);
		pd_buf_release(&other);
	}
	pd_dict_free(d);
}
END_TEST

START_TEST(compiles_to_the_same_bytes)
{
	struct pd_buf a = { 0 }, b = { 0 };
	compile(&a);
	(void)rand();
	compile(&b);
	ck_assert_msg(pd_span_eq(pd_buf_span(&a), pd_buf_span(&b)), "two compilations differ");
	struct pd_dict *d = open_dict(&a);
	ck_assert_msg(pd_dict_words(d) == 32, "%zu words", pd_dict_words(d));
	ck_assert_msg(strlen(pd_dict_id(d)) == 16, "id %s", pd_dict_id(d));
	pd_dict_free(d);
	pd_buf_release(&a);
	pd_buf_release(&b);
}
END_TEST

/* The C library's, which cmph draws from: another one here and there. */
static uint32_t drawn = 1, step = 12345;

__attribute__((visibility("default"))) int rand(void)
{
	drawn = drawn * 1103515245u + step;
	return (int)(drawn >> 1 & 0x7FFFFFFF);
}

__attribute__((visibility("default"))) void srand(unsigned seed)
{
	drawn = seed;
}

START_TEST(id_is_of_the_words)
{
	struct pd_buf a = { 0 }, b = { 0 };
	compile(&a);
	step = 54321;
	compile(&b);
	step = 12345;
	ck_assert_msg(!pd_span_eq(pd_buf_span(&a), pd_buf_span(&b)), "two C libraries make the same bytes: this tests nothing");
	struct pd_dict *x = open_dict(&a), *y = open_dict(&b);
	ck_assert_msg(!strcmp(pd_dict_id(x), pd_dict_id(y)), "%s and %s", pd_dict_id(x), pd_dict_id(y));
	ck_assert_msg(!strcmp(pd_dict_id(x), "5b1e3b350833aa3e"),
		      "%s is not the file that docs/format-dict.md describes for these words", pd_dict_id(x));
	pd_dict_free(x);
	pd_dict_free(y);
	pd_buf_release(&a);
	pd_buf_release(&b);
}
END_TEST

static void refuse(struct pd_span bytes, const char *what, size_t at)
{
	struct pd_dict *d;
	struct pd_err e = { 0 };
	/* A separate copy, so that a sanitiser notices a read after the end. */
	char *p = malloc(bytes.n ? bytes.n : 1);
	if (bytes.n)
		memcpy(p, bytes.p, bytes.n);
	int status = pd_dict_open(pd_span(p, bytes.n), &d, &e);
	ck_assert_msg(status == PD_ERR_DICT && !d && e.text[0], "%s at %zu: status %d", what, at, status);
	free(p);
}

START_TEST(refuses_cut)
{
	struct pd_buf bytes = { 0 };
	compile(&bytes);
	for (size_t n = 0; n < bytes.n; n += 97)
		refuse(pd_span(bytes.p, n), "cut", n);
	pd_buf_add_c(&bytes, 0);
	refuse(pd_buf_span(&bytes), "longer", bytes.n);
	pd_buf_release(&bytes);
}
END_TEST

START_TEST(refuses_flipped)
{
	struct pd_buf bytes = { 0 };
	compile(&bytes);
	for (size_t at = 0; at < bytes.n; at += at < 300 ? 1 : 97) {
		bytes.p[at] = (char)(bytes.p[at] ^ 1 << at % 8);
		refuse(pd_buf_span(&bytes), "flipped bit", at);
		bytes.p[at] = (char)(bytes.p[at] ^ 1 << at % 8);
	}
	pd_buf_release(&bytes);
}
END_TEST

/* Damage behind a checksum that holds: refused or survived. */
START_TEST(survives_forgery)
{
	struct pd_buf bytes = { 0 };
	compile(&bytes);
	for (size_t at = PD_CONTAINER_HEAD; at < 8000; at += at < 400 ? 1 : 3) {
		char was = bytes.p[at];
		struct pd_dict *d;
		bytes.p[at] = (char)(was ^ (at % 2 ? 0xFF : 0x01));
		ck_assert_uint_eq(seal_container(bytes.p, bytes.n, 0), bytes.n);
		if (pd_dict_open(pd_buf_span(&bytes), &d, NULL) == 0) {
			struct pd_dict_word w;
			for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
				pd_dict_find(d, pd_span_z(rows[i].word), &w);
			pd_dict_free(d);
		}
		bytes.p[at] = was;
	}
	pd_buf_release(&bytes);
}
END_TEST

START_TEST(opens_unaligned)
{
	struct pd_buf bytes = { 0 };
	struct pd_dict *d;
	struct pd_dict_word w;
	compile(&bytes);
	char *p = malloc(bytes.n + 1);
	memcpy(p + 1, bytes.p, bytes.n);
	ck_assert_msg(pd_dict_open(pd_span(p + 1, bytes.n), &d, NULL) == 0, "not opened");
	ck_assert_msg(pd_dict_find(d, pd_span_z("网页"), &w), "not found");
	pd_dict_free(d);
	free(p);
	pd_buf_release(&bytes);
}
END_TEST

static const struct {
	const char *name, *words, *idf, *says;
} bad[] = {
	{ "no frequency", "网页 3 n\n研究\n", NULL, ":2:" },
	{ "frequency zero", "网页 0 n\n", NULL, ":1:" },
	{ "frequency too large", "网页 4294967296 n\n", NULL, ":1:" },
	{ "frequency is a word", "网页 n 3\n", NULL, ":1:" },
	{ "part of speech too long", "网页 3 nnnnn\n", NULL, ":1:" },
	{ "four fields", "\n\n网页 3 n n\n", NULL, ":3:" },
	{ "not UTF-8", "\xcd\xf8 3 n\n", NULL, ":1:" },
	{ "no words", "\n\n", NULL, "no words" },
	{ "idf is a word", "网页 3 n\n", "网页 1\n网页 x\n", ":2:" },
	{ "idf negative", "网页 3 n\n", "网页 -1\n", ":1:" },
	{ "idf missing", "网页 3 n\n", "网页\n", ":1:" },
	{ "idf not a number", "网页 3 n\n", "网页 nan\n", ":1:" },
	{ "idf without an end", "网页 3 n\n", "网页 inf\n", ":1:" },
};

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);
	ck_assert_msg(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "cannot write %s", path);
	close(fd);
}

START_TEST(refuses_lines)
{
	char words[] = "/tmp/pd-words-XXXXXX", idf[] = "/tmp/pd-idf-XXXXXX";
	struct pd_buf out = { 0 };
	struct pd_err e = { 0 };
	write_file(words, bad[_i].words);
	write_file(idf, bad[_i].idf ? bad[_i].idf : "");
	int status = pd_dict_compile(words, bad[_i].idf ? idf : NULL, &out, &e);
	unlink(words);
	unlink(idf);
	ck_assert_msg(status == PD_ERR_DICT && strstr(e.text, bad[_i].says), "%s: status %d, %s", bad[_i].name, status, e.text);
	pd_buf_release(&out);
}
END_TEST

static void id_of(const char *words_text, const char *idf_text, char out[17])
{
	char words[] = "/tmp/pd-words-XXXXXX", idf[] = "/tmp/pd-idf-XXXXXX";
	struct pd_buf bytes = { 0 };
	struct pd_err e = { 0 };
	write_file(words, words_text);
	write_file(idf, idf_text);
	ck_assert_msg(pd_dict_compile(words, idf, &bytes, &e) == 0, "%s", e.text);
	unlink(words);
	unlink(idf);
	struct pd_dict *d = open_dict(&bytes);
	memcpy(out, pd_dict_id(d), 17);
	pd_dict_free(d);
	pd_buf_release(&bytes);
}

static const struct {
	const char *name, *words, *idf;
	bool same;
} ids[] = {
	{ "other lines", "研究 5 v\n\n网页  3 n\n", "研究 2\n", true },
	{ "a word twice", "网页 3 n\n研究 5 v\n研究 4 n\n", "研究 2\n", true },
	{ "another frequency", "网页 4 n\n研究 5 v\n", "研究 2\n", false },
	{ "another part of speech", "网页 3 n\n研究 5 n\n", "研究 2\n", false },
	{ "another idf", "网页 3 n\n研究 5 v\n", "研究 2.5\n", false },
	{ "another word", "网页 3 n\n研讨 5 v\n", "研究 2\n", false },
	{ "a word more", "网页 3 n\n研究 5 v\n水车 1 n\n", "研究 2\n", false },
};

START_TEST(id_says_what_differs)
{
	char first[17], id[17];
	id_of("网页 3 n\n研究 5 v\n", "研究 2\n", first);
	id_of(ids[_i].words, ids[_i].idf, id);
	ck_assert_msg(!strcmp(first, id) == ids[_i].same, "%s: %s and %s", ids[_i].name, first, id);
}
END_TEST

/* A word below the dictionary's smallest frequency gets that frequency. */
START_TEST(largest_idf)
{
	char words[] = "/tmp/pd-words-XXXXXX", idf[] = "/tmp/pd-idf-XXXXXX";
	static const struct {
		const char *word;
		float idf;
	} rare[] = { { "网页", 15.9998f }, { "磨坊", 15.9998f }, { "水车", 15.5f } };
	struct pd_buf out = { 0 };
	struct pd_err e = { 0 };
	struct pd_dict_word w;
	write_file(words, "网页 3 n\n磨坊 3 n\n水车 3 n\n");
	write_file(idf, "网页 16.81\n磨坊 16\n水车 15.5\n");
	ck_assert_msg(pd_dict_compile(words, idf, &out, &e) == PD_OK, "%s", e.text);
	unlink(words);
	unlink(idf);
	struct pd_dict *d = open_dict(&out);
	for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
		ck_assert(pd_dict_find(d, pd_span_z(rare[i].word), &w));
		ck_assert_msg(fabsf(w.idf - rare[i].idf) < .0002f, "%s: idf %g", rare[i].word, (double)w.idf);
	}
	pd_dict_free(d);
	pd_buf_release(&out);
}
END_TEST

START_TEST(loads_a_file)
{
	char path[] = "/tmp/pd-dict-XXXXXX";
	struct pd_buf bytes = { 0 };
	struct pd_dict *d;
	struct pd_err e = { 0 };
	compile(&bytes);
	int fd = mkstemp(path);
	ck_assert(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
	ck_assert_msg(pd_dict_load(path, &d, &e) == 0, "%s", e.text);
	ck_assert_msg(pd_dict_words(d) == 32, "%zu words", pd_dict_words(d));
	pd_dict_free(d);
	ck_assert(ftruncate(fd, 1000) == 0);
	ck_assert_msg(pd_dict_load(path, &d, &e) == PD_ERR_DICT && strstr(e.text, path), "cut file: %s", e.text);
	close(fd);
	unlink(path);
	ck_assert_msg(pd_dict_load(path, &d, &e) == PD_ERR_SYSTEM && strstr(e.text, path), "missing file: %s", e.text);
	pd_buf_release(&bytes);
}
END_TEST

START_TEST(builtin)
{
	struct pd_dict *d;
	struct pd_err e = { 0 };
	struct pd_dict_word w;
	ck_assert_msg(pd_dict_builtin(&d, &e) == 0, "%s", e.text);
	ck_assert_msg(pd_dict_words(d) > 1000, "only %zu words", pd_dict_words(d));
	ck_assert_msg(pd_dict_find(d, pd_span_z("中国"), &w) && w.frequency > 0, "中国 is no word");
	ck_assert_msg(!pd_dict_find(d, pd_span_z("国中华的"), &w), "国中华的 is a word");
	pd_dict_free(d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dict");
	TCase *t = tcase_create("dict");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, finds, 0, (int)(sizeof rows / sizeof *rows));
	tcase_add_loop_test(t, knows_prefixes, 0, (int)(sizeof prefixes / sizeof *prefixes));
	tcase_add_test(t, knows_all_prefixes);
	tcase_add_test(t, compiles_to_the_same_bytes);
	tcase_add_test(t, id_is_of_the_words);
	tcase_add_loop_test(t, id_says_what_differs, 0, (int)(sizeof ids / sizeof *ids));
	tcase_add_test(t, refuses_cut);
	tcase_add_test(t, refuses_flipped);
	tcase_add_test(t, survives_forgery);
	tcase_add_test(t, opens_unaligned);
	tcase_add_loop_test(t, refuses_lines, 0, (int)(sizeof bad / sizeof *bad));
	tcase_add_test(t, largest_idf);
	tcase_add_test(t, loads_a_file);
	tcase_add_test(t, builtin);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
