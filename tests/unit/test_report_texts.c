/* SPDX-License-Identifier: MIT
 *
 * Two texts side by side: the marks on each side, and that no text is lost or added.
 */
#include <check.h>
#include <stdlib.h>

#include "tools/report.h"

static const struct texts_row {
	const char *name, *a, *b, *html_a, *html_b;
} rows[] = {
	{ "nothing", "", "", "", "" },
	{ "the same", "one two", "one two", "one two", "one two" },
	{ "one side alone", "one two", "", "<del>one two</del>", "" },
	{ "the other side alone", "", "one", "", "<ins>one</ins>" },
	{ "a word changed", "one two three", "one 2 three", "one <del>two </del>three", "one <ins>2 </ins>three" },
	{ "a word more", "one three", "one two three", "one three", "one <ins>two </ins>three" },
	{ "in front", "zero one", "one", "<del>zero </del>one", "one" },
	{ "at the end", "one", "one two", "one", "one <ins>two</ins>" },
	{ "nothing shared", "one two", "three", "<del>one two</del>", "<ins>three</ins>" },
	{ "white space does not count", "one  two\nthree", "one two three", "one  two\nthree", "one two three" },
	{ "two places", "a b c d e", "a x c y e", "a <del>b </del>c <del>d </del>e", "a <ins>x </ins>c <ins>y </ins>e" },
	{ "the longest common part", "x a b c", "a b c x", "<del>x </del>a b c", "a b c <ins>x</ins>" },
	{ "characters without spaces", "深空诗", "深空歌", "深空<del>诗</del>", "深空<ins>歌</ins>" },
	{ "markup is text", "<b>&", "<i>&", "<del>&lt;b&gt;&amp;</del>", "<ins>&lt;i&gt;&amp;</ins>" },
	{ "characters that turn text are shown", "a \xe2\x80\xae", "a", "a <del><span class=\"mark\">U+202E</span></del>", "a" },
	{ "bytes that are not UTF-8", "a \xff", "a b", "a <del>\xef\xbf\xbd</del>", "a <ins>b</ins>" },
};

START_TEST(test_row)
{
	const struct texts_row *r = &rows[_i];
	struct pd_buf a = { 0 }, b = { 0 };
	pd_report_texts(pd_span_z(r->a), pd_span_z(r->b), &a, &b);
	ck_assert_msg(!strcmp(pd_buf_z(&a), r->html_a), "%s: a is \"%s\"", r->name, pd_buf_z(&a));
	ck_assert_msg(!strcmp(pd_buf_z(&b), r->html_b), "%s: b is \"%s\"", r->name, pd_buf_z(&b));
	pd_buf_release(&a);
	pd_buf_release(&b);
}
END_TEST

static uint32_t draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

/* Words from a small language, so that much is shared. */
static void random_text(uint32_t *state, struct pd_buf *out)
{
	for (uint32_t n = draw(state, 50); n > 0; n--)
		pd_buf_printf(out, "w%u ", draw(state, 8));
}

/* The words outside the tag, or all words if it is NULL: the shared text, and the whole text. */
static void words_of(struct pd_span html, const char *open, const char *close, bool marked, struct pd_buf *out)
{
	bool inside = false;
	while (html.n) {
		const char *tag = inside ? close : open;
		if (html.n >= strlen(tag) && !memcmp(html.p, tag, strlen(tag))) {
			inside = !inside;
			html = pd_span(html.p + strlen(tag), html.n - strlen(tag));
			continue;
		}
		if (!inside || marked)
			pd_buf_add_c(out, html.p[0]);
		html = pd_span(html.p + 1, html.n - 1);
	}
}

/* The length of a longest common subsequence, the slow way. */
static size_t longest(const char *a, size_t n, const char *b, size_t m)
{
	size_t best[64][64] = { { 0 } };
	for (size_t i = n; i-- > 0;)
		for (size_t j = m; j-- > 0;) {
			size_t skip = best[i + 1][j] > best[i][j + 1] ? best[i + 1][j] : best[i][j + 1];
			best[i][j] = a[3 * i + 1] == b[3 * j + 1] ? best[i + 1][j + 1] + 1 : skip;
		}
	return best[0][0];
}

START_TEST(test_random)
{
	uint32_t state = (uint32_t)_i + 1;
	struct pd_buf a = { 0 }, b = { 0 }, x = { 0 }, y = { 0 }, all = { 0 }, shared_a = { 0 }, shared_b = { 0 };
	random_text(&state, &a);
	random_text(&state, &b);
	pd_report_texts(pd_buf_span(&a), pd_buf_span(&b), &x, &y);
	words_of(pd_buf_span(&x), "<del>", "</del>", true, &all);
	ck_assert_msg(pd_span_eq(pd_buf_span(&all), pd_buf_span(&a)), "seed %d: \"%s\" became \"%s\"", _i, pd_buf_z(&a),
		      pd_buf_z(&all));
	words_of(pd_buf_span(&x), "<del>", "</del>", false, &shared_a);
	words_of(pd_buf_span(&y), "<ins>", "</ins>", false, &shared_b);
	ck_assert_msg(pd_span_eq(pd_buf_span(&shared_a), pd_buf_span(&shared_b)), "seed %d: shared \"%s\" and \"%s\"", _i,
		      pd_buf_z(&shared_a), pd_buf_z(&shared_b));
	ck_assert_msg(shared_a.n == 3 * longest(a.p, a.n / 3, b.p, b.n / 3), "seed %d: more could be shared than \"%s\"", _i,
		      pd_buf_z(&shared_a));
	for (struct pd_buf *v[] = { &a, &b, &x, &y, &all, &shared_a, &shared_b }, **p = v; p < v + 7; p++)
		pd_buf_release(*p);
}
END_TEST

/* A hundred shared words with one more in the middle of `a`: around it both texts show their own words. */
START_TEST(test_around)
{
	struct pd_buf a = { 0 }, b = { 0 }, x = { 0 }, y = { 0 };
	for (int i = 0; i < 400; i++) {
		pd_buf_printf(&a, "w%d %s", i, i == 199 ? "more " : "");
		pd_buf_printf(&b, "w%d ", i);
	}
	pd_report_texts(pd_buf_span(&a), pd_buf_span(&b), &x, &y);
	ck_assert_ptr_nonnull(strstr(pd_buf_z(&x), "w199 <del>more </del>w200 "));
	ck_assert_msg(strstr(pd_buf_z(&y), "w198 w199 w200 w201 "), "%s", pd_buf_z(&y));
	for (struct pd_buf *v[] = { &a, &b, &x, &y }, **p = v; p < v + 4; p++)
		pd_buf_release(*p);
}
END_TEST

START_TEST(test_long)
{
	struct pd_buf a = { 0 }, x = { 0 }, y = { 0 };
	for (int i = 0; i < 30000; i++)
		pd_buf_printf(&a, "word%d ", i);
	pd_report_texts(pd_buf_span(&a), pd_buf_span(&a), &x, &y);
	ck_assert_ptr_nonnull(strstr(pd_buf_z(&x), "words in both"));
	ck_assert_ptr_nonnull(strstr(pd_buf_z(&x), "bytes more, not compared here"));
	ck_assert_uint_lt(x.n, 1000);
	pd_buf_release(&a);
	pd_buf_release(&x);
	pd_buf_release(&y);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_texts");
	TCase *c = tcase_create("texts");
	tcase_add_loop_test(c, test_row, 0, (int)(sizeof rows / sizeof *rows));
	tcase_add_loop_test(c, test_random, 0, 200);
	tcase_add_test(c, test_around);
	tcase_add_test(c, test_long);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
