/* SPDX-License-Identifier: MIT
 *
 * Damaged dumps: damage is reported once with its position, and all other records are read.
 */
#include "warc_outcome.h"

static int count(const char *text, const char *what)
{
	int n = 0;
	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* All pages but `lost` must be there; `lost` may be, when the bit did not matter; else one damage is reported. */
static void check_flip(const char *got, const struct dump *d, int n, int lost, size_t byte, int bit)
{
	struct pd_buf line = { 0 };
	int found = 0;
	for (int i = 0; i < n; i++) {
		pd_buf_clear(&line);
		line_of(&line, "", d->at[i], i);
		bool has = strstr(got, line.p);
		ck_assert_msg(has || i == lost, "byte %zu bit %d of member %d: page %d is lost\n%s", byte, bit, lost, i, got);
		found += has;
	}
	ck_assert_msg(count(got, "response ") == found, "byte %zu bit %d: more than was there\n%s", byte, bit, got);
	ck_assert_msg(count(got, "! ") == n - found, "byte %zu bit %d: damage told\n%s", byte, bit, got);
	pd_buf_release(&line);
}

START_TEST(test_flipped_bit)
{
	static const int members[] = { 0, 2, 5 };
	enum { N = 6 };
	struct dump d;
	int m = members[_i];
	pages(&d, N);
	for (size_t i = (size_t)d.at[m]; i < d.at[m + 1]; i++) {
		int bit = (int)(i % 8);
		d.bytes.p[i] ^= (char)(1 << bit);
		check_flip(outcome("flip", pd_buf_span(&d.bytes)), &d, N, m, i, bit);
		d.bytes.p[i] ^= (char)(1 << bit);
	}
	pd_buf_release(&d.bytes);
}
END_TEST

/* Three damaged members at once, each reported once, the others all there. */
START_TEST(test_three_flips)
{
	struct dump d;
	struct pd_buf want = { 0 };
	pages(&d, 9);
	for (int i = 1; i < 9; i += 3)
		d.bytes.p[d.at[i] + 60] ^= 16;
	for (int i = 0; i < 9; i++) {
		if (i % 3 == 1)
			pd_buf_printf(&want, "! %llu damaged gzip member\n", (unsigned long long)d.at[i]);
		else
			line_of(&want, "", d.at[i], i);
	}
	expect("three flips", pd_buf_span(&d.bytes), want.p);
	pd_buf_release(&d.bytes);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_cut_in_last_member)
{
	struct dump d;
	struct pd_buf before = { 0 }, want = { 0 };
	pages(&d, 4);
	lines_of(&before, &d, 0, 3);
	for (size_t n = (size_t)d.at[3]; n < d.bytes.n; n++) {
		pd_buf_set(&want, pd_buf_span(&before));
		if (n > d.at[3])
			pd_buf_printf(&want, "! %llu gzip member cut by the end of the file\n", (unsigned long long)d.at[3]);
		expect("cut", pd_span(d.bytes.p, n), want.p);
	}
	pd_buf_release(&d.bytes);
	pd_buf_release(&before);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_cut_in_last_plain_record)
{
	struct pd_buf b = { 0 }, before = { 0 }, last = { 0 };
	for (int i = 0; i < 2; i++) {
		line_of(&before, "", b.n, i);
		dump_page(&b, i);
	}
	size_t at = b.n;
	line_of(&last, "", at, 2);
	dump_page(&b, 2);
	for (size_t n = at; n <= b.n; n++) {
		const char *got = outcome("cut", pd_span(b.p, n));
		bool whole = n + 4 >= b.n;
		ck_assert_msg(strncmp(got, before.p, before.n) == 0, "cut at %zu: %s", n, got);
		got += before.n;
		ck_assert_msg(whole == (strcmp(got, last.p) == 0), "cut at %zu: %s", n, got);
		ck_assert_msg(whole || n == at || count(got, "\n") == 1, "cut at %zu: %s", n, got);
		ck_assert_msg(whole || n == at || strncmp(got, "! ", 2) == 0, "cut at %zu: %s", n, got);
	}
	pd_buf_release(&b);
	pd_buf_release(&before);
	pd_buf_release(&last);
}
END_TEST

/* In one stream the records before the damage are returned, and the damaged record is named by its position in the
 * stream. */
START_TEST(test_cut_stream)
{
	struct pd_buf b = { 0 }, out = { 0 }, want = { 0 };
	uint64_t last = 0;
	for (int i = 0; i < 4; i++) {
		last = b.n;
		if (i < 3)
			line_of(&want, "+", last, i);
		dump_page(&b, i);
	}
	pd_buf_printf(&want, "! +%llu gzip member cut by the end of the file\n", (unsigned long long)last);
	dump_gzip(&out, pd_buf_span(&b));
	expect("cut stream", pd_span(out.p, out.n - 30), want.p);
	pd_buf_release(&b);
	pd_buf_release(&out);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_junk_between_members)
{
	struct dump d;
	struct pd_buf all = { 0 }, want = { 0 };
	pages(&d, 2);
	pd_buf_add(&all, d.bytes.p, d.at[1]);
	pd_buf_add_z(&all, "some junk \x1f\x8b\x08 that is none");
	uint64_t second = all.n;
	pd_buf_add(&all, d.bytes.p + d.at[1], d.bytes.n - d.at[1]);
	line_of(&want, "", 0, 0);
	pd_buf_printf(&want, "! %llu junk where a gzip member should begin\n", (unsigned long long)d.at[1]);
	line_of(&want, "", second, 1);
	expect("junk between members", pd_buf_span(&all), want.p);
	pd_buf_release(&d.bytes);
	pd_buf_release(&all);
	pd_buf_release(&want);
}
END_TEST

/* A record that says it is longer than its member does not eat the next one. */
START_TEST(test_record_longer_than_member)
{
	struct dump d = { 0 };
	struct pd_buf b = { 0 }, want = { 0 };
	pd_buf_add_z(&b, "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 50\r\n\r\nshort\r\n\r\n");
	add_member(&d, &b);
	dump_page(&b, 1);
	add_member(&d, &b);
	pd_buf_add_z(&want, "! 0 record cut by the end of its gzip member\n");
	line_of(&want, "", d.at[1], 1);
	expect("longer than its member", pd_buf_span(&d.bytes), want.p);
	pd_buf_release(&d.bytes);
	pd_buf_release(&b);
	pd_buf_release(&want);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("warc_damage");
	TCase *t = tcase_create("warc_damage");
	tcase_set_timeout(t, 120);
	tcase_add_unchecked_fixture(t, dump_folder_make, dump_folder_remove);
	tcase_add_loop_test(t, test_flipped_bit, 0, 3);
	tcase_add_test(t, test_three_flips);
	tcase_add_test(t, test_cut_in_last_member);
	tcase_add_test(t, test_cut_in_last_plain_record);
	tcase_add_test(t, test_cut_stream);
	tcase_add_test(t, test_junk_between_members);
	tcase_add_test(t, test_record_longer_than_member);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
