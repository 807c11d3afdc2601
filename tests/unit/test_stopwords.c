/* SPDX-License-Identifier: MIT
 *
 * Stop words: the built-in list, and a file that replaces it.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "term/wordfiles.c" /* for its functions that are not exported */

static bool has(const struct pd_stopwords *s, const char *word)
{
	return pd_stopwords_has(s, pd_hash64(word, strlen(word)));
}

static struct pd_stopwords *load(const char *text)
{
	char path[] = "/tmp/pd-stopwords-XXXXXX";
	struct pd_stopwords *s;
	struct pd_err e = { 0 };
	int fd = mkstemp(path);
	ck_assert_msg(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "cannot write %s", path);
	close(fd);
	int status = stopwords_load(path, &s, &e);
	unlink(path);
	ck_assert_msg(status == 0, "%s", e.text);
	return s;
}

static const struct {
	const char *word;
	bool stop;
} rows[] = {
	{ "的", true },	   { "了", true },    { "我们", true },
	{ "因为", true },  { "这个", true },  { "這個", false /* the segmenter writes 这个 */ },
	{ "the", true },   { "don't", true }, { "between", true },
	{ "网页", false }, { "中国", false }, { "page", false },
	{ "", false },	   { "The", false },  { "#", false },
};

START_TEST(builtin)
{
	struct pd_stopwords *s;
	struct pd_err e = { 0 };
	ck_assert_msg(pd_stopwords_builtin(&s, &e) == 0, "%s", e.text);
	ck_assert_msg(has(s, rows[_i].word) == rows[_i].stop, "%s: %s a stop word", rows[_i].word,
		      rows[_i].stop ? "not" : "wrongly");
	ck_assert_msg(pd_stopwords_count(s) > 400, "only %zu words", pd_stopwords_count(s));
	ck_assert_msg(strlen(pd_stopwords_checksum(s)) == 8, "checksum %s", pd_stopwords_checksum(s));
	pd_stopwords_free(s);
}
END_TEST

START_TEST(a_file_replaces)
{
	struct pd_stopwords *s = load("\xEF\xBB\xBF"
				      "Über # comment\r\n\n# the\n  ＯＫ\ndon’t\nOK\n最後\n最后");
	ck_assert_msg(pd_stopwords_count(s) == 4, "%zu words", pd_stopwords_count(s));
	ck_assert_msg(has(s, "über") && has(s, "ok") && has(s, "don't") && has(s, "最后"), "a word is missing");
	ck_assert_msg(!has(s, "the") && !has(s, "comment") && !has(s, "的"), "a word is there that should not be");
	pd_stopwords_free(s);
}
END_TEST

START_TEST(checksum_is_of_the_set)
{
	struct pd_stopwords *a = load("one\ntwo\nTWO\n"), *b = load("# x\ntwo\n\none"), *c = load("on\netwo\n");
	ck_assert_msg(strcmp(pd_stopwords_checksum(a), pd_stopwords_checksum(b)) == 0, "order or case changed it");
	ck_assert_msg(strcmp(pd_stopwords_checksum(a), pd_stopwords_checksum(c)) != 0, "other words have the same");
	pd_stopwords_free(a);
	pd_stopwords_free(b);
	pd_stopwords_free(c);
}
END_TEST

START_TEST(empty_and_missing)
{
	struct pd_stopwords *s = load("");
	struct pd_err e = { 0 };
	ck_assert_msg(pd_stopwords_count(s) == 0 && !has(s, "the") && !pd_stopwords_has(s, 0), "empty list has words");
	pd_stopwords_free(s);
	ck_assert_msg(stopwords_load("missing-folder/list", &s, &e) == PD_ERR_SYSTEM && !s, "a missing file was read");
	ck_assert_msg(strstr(e.text, "missing-folder/list") != NULL, "the message does not name the file: %s", e.text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stopwords");
	TCase *t = tcase_create("stopwords");
	tcase_add_loop_test(t, builtin, 0, (int)(sizeof rows / sizeof *rows));
	tcase_add_test(t, a_file_replaces);
	tcase_add_test(t, checksum_is_of_the_set);
	tcase_add_test(t, empty_and_missing);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
