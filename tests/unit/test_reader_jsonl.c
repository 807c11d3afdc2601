/* SPDX-License-Identifier: MIT
 *
 * JSONL: which field is the page, the row's own id, plain and compressed, lines that cannot be read.
 */
#include "read_fetch.h"
#include "read_pack.h"

static const struct {
	const char *name, *dump, *want;
} rows[] = {
	{ "text", "{\"url\": \"http://h/\", \"text\": \"abc\"}\n", "0 text http://h/ 3/3\n" },
	{ "html", "{\"url\": \"http://h/\", \"html\": \"<p>\"}\n", "0 payload http://h/ 3/3\n" },
	{ "html wins", "{\"html\": \"<p>\", \"text\": \"text\"}\n", "0 payload  3/3\n" },
	{ "empty html does not", "{\"html\": \"\", \"text\": \"text\"}\n", "0 text  4/4\n" },
	{ "null html does not", "{\"html\": null, \"text\": \"text\"}\n", "0 text  4/4\n" },
	{ "neither", "{\"text\": \"a\"}\n{\"url\": \"u\"}\n{}\n", "0 text  1/1\n14 other u 0/12\n27 other  0/2\n" },
	{ "escapes", "{\"text\": \"\\u4f60\\ud83d\\ude00\\n\\u0000\\\"\"}\n", "0 text  10/10\n" },
	{ "no line end, CRLF, spaces, empty lines", " \r\n\n  {\"text\": \"a\"} \r\n\n\t{\"text\":\"b\"}",
	  "4 text  1/1\n23 text  1/1\n" },
	{ "byte order mark", "\xef\xbb\xbf{\"text\": \"a\"}\n{\"text\":\"b\"}\n", "0 text  1/1\n17 text  1/1\n" },
	{ "line cut", "{\"text\": \"a\"}\n{\"text\": \"b\n{\"text\":\"c\"}\n",
	  "0 text  1/1\n! 14 line that is not a JSON object in UTF-8\n26 text  1/1\n" },
	{ "no object", "{\"text\": \"a\"}\n[1]\n7\nx\n{\"text\":\"c\"} {}\n",
	  "0 text  1/1\n! 14 line that is not a JSON object in UTF-8\n! 18 line that is not a JSON object in UTF-8\n"
	  "! 20 line that is not a JSON object in UTF-8\n! 22 line that is not a JSON object in UTF-8\n" },
	{ "no UTF-8", "{\"text\": \"a\"}\n{\"text\": \"\xff\"}\n", "0 text  1/1\n! 14 line that is not a JSON object in UTF-8\n" },
	{ "first line is about the others", "{\"version\": 1}\n{\"text\":\"a\"}\n", "0 other  0/14\n15 text  1/1\n" },
	{ "nested names are not meant", "{\"text\": \"a\", \"x\": {\"html\": \"b\"}}\n", "0 text  1/1\n" },
	{ "numbers", "{\"text\": 12, \"url\": true}\n", "0 text true 2/2\n" },
	{ "of two members the last counts", "{\"text\": \"a\", \"text\": \"bc\"}\n", "0 text  2/2\n" },
	{ "large and small numbers",
	  "{\"text\": 1.5, \"n\": 98765432109876543210}\n{\"text\": 1e-400}\n{\"text\": 1, \"n\": 1e400}\n",
	  "0 text  3/3\n41 text  1/1\n! 58 line that is not a JSON object in UTF-8\n" },
	{ "a name with NUL", "{\"text\": \"a\"}\n{\"text\": \"b\", \"x\": [{\"\\u0000\": 1}]}\n",
	  "0 text  1/1\n! 14 line that is not a JSON object in UTF-8\n" },
	{ "half a surrogate", "{\"text\": \"a\"}\n{\"text\": \"\\udc00\"}\n",
	  "0 text  1/1\n! 14 line that is not a JSON object in UTF-8\n" },
	{ "an object that is not a line", "{\n\"text\": 1}\n", "- payload - 13/13\n" },
	{ "other names", "{\"body\": \"x\"}\n", "- payload - 14/14\n" },
	{ "a comment first", "# made by a script\n\n{\"text\": \"a\"}\n{\"text\":\"b\"}\n",
	  "! 0 line that is not a JSON object in UTF-8\n20 text  1/1\n34 text  1/1\n" },
	{ "another comment first", "// {\n{\"text\": \"a\"}\n", "! 0 line that is not a JSON object in UTF-8\n5 text  1/1\n" },
	{ "null first", "null\n{\"text\": \"a\"}\n", "! 0 line that is not a JSON object in UTF-8\n5 text  1/1\n" },
	{ "an array first", "[1, \"x\"]\n{\"text\": \"a\"}\n", "! 0 line that is not a JSON object in UTF-8\n9 text  1/1\n" },
	{ "words first: a page", "# Lines\nsuch as\n{\"text\": \"a\"}\n", "- payload - 30/30\n" },
	{ "markup first: a page", "[<b>]\n{\"text\": \"a\"}\n", "- payload - 20/20\n" },
};

START_TEST(test_row)
{
	fetch_expect(rows[_i].name, pd_span_z(rows[_i].dump), rows[_i].want);
}
END_TEST

static const struct {
	const char *line, *id;
} ids[] = {
	{ "{\"text\":\"a\",\"id\":\"x 1\"}", "x 1" },
	{ "{\"text\":\"a\",\"id\":42}", "42" },
	{ "{\"text\":\"a\",\"id\":null}", "" },
	{ "{\"text\":\"a\"}", "" },
	{ "{\"text\":\"a\",\"id\":9223372036854775807}", "9223372036854775807" },
	{ "{\"id\":18446744073709551615,\"text\":\"a\"}", "18446744073709551615" },
	{ "{\"x\":{\"id\":1}, \"t\":\"\\\"id\\\":5\", \"text\":\"a\", \"id\" : 98765432109876543210 }", "98765432109876543210" },
};

START_TEST(test_user_id)
{
	char *path = dump_file("ids", pd_span_z(ids[_i].line));
	struct pd_reader_options o = { .inputs = &path, .n_inputs = 1, .max_block = 100 };
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	struct pd_err e;
	ck_assert_int_eq(pd_reader_open(&reader, &o, &e), 0);
	ck_assert_int_eq(pd_reader_next(reader, &r, &e), 1);
	ck_assert_msg(strcmp(pd_buf_z(&r.user_id), ids[_i].id) == 0, "%s: %s", ids[_i].line, pd_buf_z(&r.user_id));
	ck_assert_int_eq(r.kind, PD_RECORD_TEXT);
	pd_reader_free(reader);
	pd_record_release(&r);
	free(path);
}
END_TEST

START_TEST(test_fields)
{
	static const struct pd_read_jsonl_fields f = { .url = "u", .text = "content", .html = "raw", .id = "key" };
	const char *got = fetched_with(
		&f, pd_span_z("{\"u\":\"1\",\"content\":\"abc\"}\n{\"u\":\"2\",\"raw\":\"x\",\"text\":\"abc\"}\n"), true);
	ck_assert_str_eq(got, "0 text 1 3/3\n26 payload 2 1/1\n");
}
END_TEST

static void lines(struct pd_buf *out, struct pd_buf *want, const char *plus)
{
	for (int i = 0; i < 200; i++) {
		struct pd_buf text = { 0 };
		for (int k = 0; k < i; k++)
			pd_buf_printf(&text, "word%d ", k * i);
		pd_buf_printf(want, "%s%zu text http://h/%d %zu/%zu\n", plus, out->n, i, text.n, text.n);
		pd_buf_printf(out, "{\"url\":\"http://h/%d\",\"text\":\"%s\"}\n", i, pd_buf_z(&text));
		pd_buf_release(&text);
	}
}

static const enum pd_codec codecs[] = { PD_CODEC_NONE, PD_CODEC_GZIP, PD_CODEC_ZSTD, PD_CODEC_LZ4, PD_CODEC_XZ, PD_CODEC_BZIP2 };

START_TEST(test_packed)
{
	struct pd_buf all = { 0 }, want = { 0 }, dump = { 0 };
	lines(&all, &want, codecs[_i] ? "+" : "");
	pack(&dump, codecs[_i], pd_buf_span(&all));
	fetch_expect("one member", pd_buf_span(&dump), want.p);
	/* Members end anywhere, also in a line. */
	pd_buf_clear(&dump);
	for (size_t i = 0; i < all.n; i += 10007)
		pack(&dump, codecs[_i], pd_span(all.p + i, all.n - i < 10007 ? all.n - i : 10007));
	fetch_expect("members", pd_buf_span(&dump), want.p);
	fetch_damaged("members", pd_buf_span(&dump), dump.n / 3, 200);
	pd_buf_release(&all);
	pd_buf_release(&want);
	pd_buf_release(&dump);
}
END_TEST

/* Records before the damage, and members after it, are returned. */
START_TEST(test_damaged_member)
{
	struct pd_buf dump = { 0 };
	enum pd_codec codec = codecs[_i + 1];
	pack(&dump, codec, pd_span_z("{\"text\":\"one\"}\n"));

	pack(&dump, codec, pd_span_z("{\"text\":\"two\"}\n"));
	dump.p[dump.n - 3] ^= 1;
	pack(&dump, codec, pd_span_z("{\"text\":\"three\"}\n"));
	const char *got = fetched_with(NULL, pd_buf_span(&dump), false);
	ck_assert_msg(strncmp(got, "+0 text  3/3\n", 13) == 0 && strstr(got, " text  5/5\n") && fetch_count(got, "! ") == 1, "%s",
		      got);
	pd_buf_release(&dump);
}
END_TEST

/* Longer than the window, than a page, than four pages. */
START_TEST(test_long_lines)
{
	static const size_t sizes[] = { 100000, 1200000, 3000000, 5000000 };
	struct pd_buf all = { 0 }, want = { 0 }, dump = { 0 };
	const char *plus = codecs[_i] ? "+" : "";
	for (size_t i = 0; i < 4; i++) {
		if (sizes[i] < 4000000)
			pd_buf_printf(&want, "%s%zu text  %zu/%zu%s\n", plus, all.n,
				      sizes[i] < FETCH_BLOCK ? sizes[i] : FETCH_BLOCK, sizes[i],
				      sizes[i] > FETCH_BLOCK ? " cut" : "");
		else
			pd_buf_printf(&want, "! %s%zu line over four times the page limit\n", plus, all.n);
		pd_buf_add_z(&all, "{\"text\":\"");
		memset(pd_buf_reserve(&all, sizes[i]), 'a', sizes[i]);
		all.n += sizes[i];
		pd_buf_add_z(&all, "\"}\n");
	}
	pd_buf_printf(&want, "%s%zu text  1/1\n", plus, all.n);
	pd_buf_add_z(&all, "{\"text\":\"x\"}\n");
	pack(&dump, codecs[_i], pd_buf_span(&all));
	fetch_expect("long lines", pd_buf_span(&dump), want.p);
	pd_buf_release(&all);
	pd_buf_release(&want);
	pd_buf_release(&dump);
}
END_TEST

/* The very first line is longer than the window. */
START_TEST(test_long_first_line)
{
	struct pd_buf all = { 0 };
	pd_buf_add_z(&all, "{\"x\":1, \"text\" : \"");
	memset(pd_buf_reserve(&all, 3000000), 'a', 3000000);
	all.n += 3000000;
	pd_buf_add_z(&all, "\"}\n{\"text\":\"x\"}\n");
	fetch_expect("long first line", pd_buf_span(&all), "0 text  1048576/3000000 cut\n3000021 text  1/1\n");
	pd_buf_release(&all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader_jsonl");
	TCase *t = tcase_create("reader_jsonl");
	tcase_add_loop_test(t, test_row, 0, sizeof rows / sizeof *rows);
	tcase_add_loop_test(t, test_user_id, 0, sizeof ids / sizeof *ids);
	tcase_add_test(t, test_fields);
	tcase_add_loop_test(t, test_packed, 0, 6);
	tcase_add_loop_test(t, test_damaged_member, 0, 5);
	tcase_add_loop_test(t, test_long_lines, 0, 6);
	tcase_add_test(t, test_long_first_line);
	return fetch_main(s, t);
}
