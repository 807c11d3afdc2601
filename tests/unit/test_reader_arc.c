/* SPDX-License-Identifier: MIT
 *
 * ARC: versions 1 and 2, plain and compressed, lines as they are found in the wild, damage.
 */
#include "read_fetch.h"
#include "read_pack.h"

static const struct {
	const char *name, *dump, *want;
} rows[] = {
	{ "version 1",
	  "filedesc://x.arc 0.0.0.0 20240102030405 text/plain 9\n1 0 test\n\nhttp://h/ 1.2.3.4 20240102030405 text/html 3\nabc\n",
	  "0 other filedesc://x.arc 0/9\n63 response http://h/ 3/3\n" },
	{ "version 2",
	  "filedesc://x.arc 0.0.0.0 20240102030405 text/plain 200 - - 0 x.arc 9\n2 0 test\n\n"
	  "http://h/ 1.2.3.4 20240102030405 text/html 200 fac069150613fe55599cc7fa88aa089d - 209 x.arc 3\nabc\n",
	  "0 other filedesc://x.arc 0/9\n79 response http://h/ 3/3\n" },
	{ "no filedesc", "http://h/ 1.2.3.4 20240102030405 text/html 3\nabc\n", "0 response http://h/ 3/3\n" },
	{ "spaces in the URL", "http://h/a b c 1.2.3.4 20240102030405 text/html 3\nabc\n", "0 response http://h/a b c 3/3\n" },
	{ "spaces in the type", "http://h/ 1.2.3.4 20240102030405 text/html; charset=x 3\nabc\n", "0 response http://h/ 3/3\n" },
	{ "no type", "http://h/ 1.2.3.4 20240102030405  3\nabc\n", "0 response http://h/ 3/3\n" },
	{ "IPv6, CRLF", "https://h/ 2001:db8::1 20240102030405 text/html 3\r\nabc\r\n", "0 response https://h/ 3/3\n" },
	{ "no address, long date", "http://h/ - 202401020304050000 text/html 3\nabc", "0 response http://h/ 3/3\n" },
	{ "name look-up", "dns:h 1.2.3.4 20240102030405 text/dns 3\nabc\n", "0 other dns:h 0/3\n" },
	{ "ftp", "ftp://h/x 1.2.3.4 20240102030405 text/plain 3\nabc\n", "0 payload ftp://h/x 3/3\n" },
	{ "no line end between",
	  "http://h/1 1.2.3.4 20240102030405 text/html 3\nabchttp://h/2 1.2.3.4 20240102030405 text/html 1\nd",
	  "0 response http://h/1 3/3\n49 response http://h/2 1/1\n" },
	{ "empty block", "http://h/1 1.2.3.4 20240102030405 text/html 0\n\nhttp://h/2 1.2.3.4 20240102030405 text/html 1\nd",
	  "0 response http://h/1 0/0\n47 response http://h/2 1/1\n" },
	{ "length that is none",
	  "http://h/1 1.2.3.4 20240102030405 text/html x\nabc\nhttp://h/2 1.2.3.4 20240102030405 text/html 1\nd",
	  "! 0 implausible length in the ARC header\n50 response http://h/2 1/1\n" },
	{ "negative length", "http://h/1 1.2.3.4 20240102030405 text/html -1\nabc\n",
	  "! 0 implausible length in the ARC header\n" },
	{ "long length swallows nothing",
	  "http://h/1 1.2.3.4 20240102030405 text/html 20\nabc\nhttp://h/2 1.2.3.4 20240102030405 text/html 1\nd\n",
	  "! 0 the record's length leads past the end of the file or into another record\n51 response http://h/2 1/1\n" },
	{ "short length leaves junk",
	  "http://h/1 1.2.3.4 20240102030405 text/html 1\nabc\nhttp://h/2 1.2.3.4 20240102030405 text/html 1\nd\n",
	  "0 response http://h/1 1/1\n! 47 junk between records\n50 response http://h/2 1/1\n" },
	{ "header damaged", "http://h/1 1.2.3.4 null text/html 3\nabc\nhttp://h/2 1.2.3.4 20240102030405 text/html 1\nd\n",
	  "! 0 junk between records\n40 response http://h/2 1/1\n" },
	{ "cut in the block", "http://h/1 1.2.3.4 20240102030405 text/html 3\nab",
	  "! 0 the record's length leads past the end of the file or into another record\n" },
	{ "cut in the header", "http://h/1 1.2.3.4 20240102030405 text/html 1\na\nhttp://h/2 1.2.3.4 2024",
	  "0 response http://h/1 1/1\n! 48 record cut by the end of the file\n" },
	{ "shorter than said, but complete",
	  "http://h/1 1.2.3.4 20240102030405 text/html 99\nHTTP/1.0 200 OK\nContent-Length: 3\n\nabc\n\n",
	  "0 response http://h/1 38/38\n" },
	{ "a page that quotes a header",
	  "http://h/1 1.2.3.4 20240102030405 text/html 49\na\nhttp://h/2 1.2.3.4 20240102030405 text/html 1\n\n\n",
	  "0 response http://h/1 49/49\n" },
	{ "a text with addresses", "see http://h/ 1.2.3.4 and more\n", "- payload - 31/31\n" },
};

START_TEST(test_row)
{
	fetch_expect(rows[_i].name, pd_span_z(rows[_i].dump), rows[_i].want);
}
END_TEST

static void arc_page(struct pd_buf *out, int number)
{
	struct pd_buf b = { 0 };
	pd_buf_printf(&b, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><title>%d</title>", number);
	for (int i = 0; i < 20; i++)
		pd_buf_printf(&b, "<p>word%d and word%d</p>\n", i * number, i * i + number);
	pd_buf_printf(out, "http://h/%d 1.2.3.4 20240102030405 text/html %zu\n", number, b.n);
	pd_buf_add_span(out, pd_buf_span(&b));
	pd_buf_add_c(out, '\n');
	pd_buf_release(&b);
}

static void arc_line(struct pd_buf *out, const char *plus, size_t place, int number)
{
	struct pd_buf b = { 0 };
	arc_page(&b, number);
	size_t n = b.n - 2 - (size_t)pd_span_find(pd_buf_span(&b), pd_span_z("\n"));
	pd_buf_printf(out, "%s%zu response http://h/%d %zu/%zu\n", plus, place, number, n, n);
	pd_buf_release(&b);
}

static const enum pd_codec codecs[] = { PD_CODEC_GZIP, PD_CODEC_ZSTD, PD_CODEC_LZ4, PD_CODEC_XZ, PD_CODEC_BZIP2, PD_CODEC_NONE };

START_TEST(test_packed)
{
	struct pd_buf members = { 0 }, stream = { 0 }, all = { 0 }, page = { 0 }, want = { 0 }, want_stream = { 0 };
	for (int i = 0; i < 5; i++) {
		pd_buf_clear(&page);
		arc_page(&page, i);
		arc_line(&want, "", members.n, i);
		arc_line(&want_stream, codecs[_i] ? "+" : "", all.n, i);
		pack(&members, codecs[_i], pd_buf_span(&page));
		pd_buf_add_span(&all, pd_buf_span(&page));
	}
	pack(&stream, codecs[_i], pd_buf_span(&all));
	fetch_expect("a member a record", pd_buf_span(&members), want.p);
	fetch_expect("one stream", pd_buf_span(&stream), want_stream.p);
	fetch_damaged("members", pd_buf_span(&members), 37, 5);
	fetch_damaged("stream", pd_buf_span(&stream), 37, 5);
	pd_buf_release(&members);
	pd_buf_release(&stream);
	pd_buf_release(&all);
	pd_buf_release(&page);
	pd_buf_release(&want);
	pd_buf_release(&want_stream);
}
END_TEST

START_TEST(test_flip)
{
	struct pd_buf dump = { 0 }, page = { 0 }, line = { 0 };
	size_t at[6] = { 0 };
	for (int i = 0; i < 5; i++) {
		pd_buf_clear(&page);
		arc_page(&page, i);
		pack(&dump, codecs[_i], pd_buf_span(&page));
		at[i + 1] = dump.n;
	}
	for (size_t i = at[2]; i < at[3]; i += 2) {
		dump.p[i] ^= (char)(1 << i % 8);
		const char *got = fetched_with(NULL, pd_buf_span(&dump), false);
		for (int k = 0; k < 5; k++) {
			pd_buf_clear(&line);
			arc_line(&line, "", at[k], k);
			ck_assert_msg(k == 2 || strstr(got, line.p), "byte %zu: page %d is lost\n%s", i, k, got);
		}
		dump.p[i] ^= (char)(1 << i % 8);
	}
	pd_buf_release(&dump);
	pd_buf_release(&page);
	pd_buf_release(&line);
}
END_TEST

START_TEST(test_fields)
{
	char *file = dump_file("one", pd_span_z("http://h/ 1.2.3.4 20240102030405 text/html 3\nabc\n"));
	struct pd_reader_options o = { .inputs = &file, .n_inputs = 1, .max_block = 100 };
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	struct pd_err e;
	ck_assert_int_eq(pd_reader_open(&reader, &o, &e), 0);
	ck_assert_int_eq(pd_reader_next(reader, &r, &e), 1);
	ck_assert_str_eq(r.fetch_time.p, "2024-01-02T03:04:05Z");
	ck_assert_str_eq(r.content_type.p, "text/html");
	ck_assert_str_eq(r.block.p, "abc");
	pd_reader_free(reader);
	pd_record_release(&r);
	free(file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader_arc");
	TCase *t = tcase_create("reader_arc");
	tcase_add_loop_test(t, test_row, 0, sizeof rows / sizeof *rows);
	tcase_add_loop_test(t, test_packed, 0, 6);
	tcase_add_loop_test(t, test_flip, 0, 5);
	tcase_add_test(t, test_fields);
	return fetch_main(s, t);
}
