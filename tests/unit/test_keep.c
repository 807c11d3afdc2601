/* SPDX-License-Identifier: MIT
 *
 * Keys for the choice of the page to keep: order of ids, times, numbers, sorting.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "row/fields.h"
#include "cluster/keep.c" /* for its functions that are not exported */
#include "base/sort.h"

/* In the order that they must get; all different. */
static const char *const ids_in_order[] = {
	"a",	 "a:+0",     "a:0",   "a:000",
	"a:+1",	 "a:1",	     "a:+9",  "a:+09",
	"a:9",	 "a:09",     "a:10",  "a:99999999999999999999",
	"a:b",	 "a:b:+7",   "a:b:7", "b",
	"b!m:3", "b/1.html", "b:",    "b:18446744073709551615",
	"b:x",	 ":5",
};
enum { IDS = sizeof ids_in_order / sizeof *ids_in_order };

static int by_id(const void *x, const void *y)
{
	const char *const *a = x, *const *b = y;
	return pd_page_id_cmp(pd_span_z(*a), pd_span_z(*b));
}

/* Rows of pairs that name all pages in a certain order, each twice. */
static FILE *pairs_of_ids(int from)
{
	FILE *f = tmpfile();
	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < IDS; i++)
		fprintf(f, "%s\t%s\t1\t-\tsimhash\t-\t-\t-\t-\t-\t-\t-\t-\n", ids_in_order[(i * 7 + from) % IDS],
			ids_in_order[((i + 1) * 7 + from) % IDS]);
	fflush(f);
	return f;
}

START_TEST(ids)
{
	const char *want[IDS];
	char path[64], *paths[] = { path };
	struct pd_pages_options o = { .paths = paths, .n_paths = 1 };
	struct pd_keep_options first = { .n = 0 };
	struct pd_pages pages;
	struct pd_err e = { 0 };
	memcpy(want, ids_in_order, sizeof want);
	qsort(want, IDS, sizeof *want, by_id);
	FILE *f = pairs_of_ids(_i);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
	ck_assert_msg(pd_pages_read(&pages, &o, &e) == PD_OK, "%s", e.text);
	ck_assert_msg(pages.n == IDS, "%zu pages, each id is one", pages.n);
	ck_assert_msg(pd_keep_order(&pages, &first, &o, &e) == PD_OK, "%s", e.text);
	for (uint32_t i = 0; i < IDS; i++) {
		struct pd_span got = pd_pages_field(&pages, i, PD_ROW_ID);
		ck_assert_msg(pd_span_is(got, want[i]), "place %u: \"%.*s\", not \"%s\"", i, (int)got.n, got.p, want[i]);
	}
	pd_pages_release(&pages);
	fclose(f);
}
END_TEST

/* Earlier ones first; "=": the same moment as the one before. */
static const char *const times[] = {
	"0000-01-01T00:00:00Z",		"1969-12-31T23:59:59Z",		"1970-01-01T00:00:00Z",
	"=1970-01-01T01:00:00+01:00",	"=1969-12-31T22:30:00-01:30",	"1999-12-31T23:59:59Z",
	"2000-02-28T23:59:59Z",		"2000-02-29T00:00:00Z",		"2000-03-01T00:00:00Z",
	"2024-05-01T12:00:00Z",		"=2024-05-01 12:00:00",		"=2024-05-01t12:00:00.000Z",
	"2024-05-01T12:00:00.0000001Z", "2024-05-01T12:00:00.25+00:00", "=2024-05-01T12:00:00.2500000000001Z",
	"2024-05-01T12:00:00.3Z",	"2024-05-01T12:00:01Z",		"2100-02-28T00:00:00Z",
	"9999-12-31T23:59:59.9999999Z",
};

START_TEST(order_of_times)
{
	uint64_t last = 0;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		bool same = times[i][0] == '=';
		uint64_t key = keep_time_key(pd_span_z(times[i] + same));
		ck_assert_msg(same ? key == last : key > last, "%s: %llu behind %llu", times[i], (unsigned long long)key,
			      (unsigned long long)last);
		last = key;
	}
}
END_TEST

START_TEST(no_times)
{
	static const char *const bad[] = { "",
					   "-",
					   "yesterday",
					   "2024",
					   "2024-05-01",
					   "2024-05-01T12:00",
					   "2024-00-01T12:00:00Z",
					   "2024-13-01T12:00:00Z",
					   "2024-05-32T12:00:00Z",
					   "20240501120000",
					   "2024-5-1T12:00:00Z" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(keep_time_key(pd_span_z(bad[i])) == 0, "%s is not a time", bad[i]);
	/* Bytes after the value are not read. */
	for (size_t n = 0; n < strlen("2024-05-01T12:00:00"); n++)
		ck_assert_msg(keep_time_key(pd_span("2024-05-01T12:00:00Z", n)) == 0, "%zu bytes are not a time", n);
}
END_TEST

START_TEST(reals)
{
	static const char *const up[] = { "-1e300", "-2", "-1.5", "-0.25", "0", "1e-9", ".5", "0.75", "1", "10", "9e9" };
	static const char *const bad[] = { "", "-", "nan", "inf", "1e999", "0x10", "1 ", " 1", "1,5", "1-2", "." };
	uint64_t last = 0, key;
	for (size_t i = 0; i < sizeof up / sizeof *up; i++) {
		ck_assert_msg(keep_number_key(pd_span_z(up[i]), &key), "%s is a number", up[i]);
		ck_assert_msg(key > last && key != PD_KEY_LAST, "%s is larger than the one before", up[i]);
		last = key;
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!keep_number_key(pd_span_z(bad[i]), &key), "%s is not a number", bad[i]);
	ck_assert(keep_number_key(pd_span_z("0"), &key) && keep_number_key(pd_span_z("-0"), &last));
	ck_assert_uint_eq(key, last);
}
END_TEST

/* Against a stable sort by comparison, keys with few and with many different digits. */
START_TEST(radix)
{
	enum { N = 5000 };
	uint64_t key[N], state = (uint64_t)_i, masks[] = { 0, 3, 0xFF00, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0x7FF) << 53 };
	for (int i = 0; i < N; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		key[i] = (state ^ state >> 31) & masks[_i];
	}
	uint32_t *order = pd_order_new(N);
	bool seen[N] = { 0 };
	pd_order_by(order, N, key);
	for (int i = 0; i < N; i++) {
		ck_assert(order[i] < N && !seen[order[i]]);
		seen[order[i]] = true;
		ck_assert(!i || key[order[i - 1]] < key[order[i]] ||
			  (key[order[i - 1]] == key[order[i]] && order[i - 1] < order[i]));
	}
	free(order);
}
END_TEST

START_TEST(lists)
{
	static const struct {
		const char *list, *print;
	} good[] = { { "first", "first" }, { "newest,longest", "newest/longest" }, { "rank,quality,first", "rank/quality/first" } };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct pd_keep_options o = { 0 };
		struct pd_buf out = { 0 };
		struct pd_err e;
		ck_assert_int_eq(pd_keep_parse(good[i].list, &o, &e), PD_OK);
		pd_keep_print(&o, "/", &out);
		ck_assert_str_eq(out.p, good[i].print);
		pd_buf_release(&out);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keep");
	TCase *t = tcase_create("keep");
	tcase_add_loop_test(t, ids, 0, IDS);
	tcase_add_test(t, order_of_times);
	tcase_add_test(t, no_times);
	tcase_add_test(t, reals);
	tcase_add_loop_test(t, radix, 0, 6);
	tcase_add_test(t, lists);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
