/* SPDX-License-Identifier: MIT
 *
 * Dumps in zstd and lz4: a frame a record, several frames a record, several records a frame, skippable frames,
 * dictionaries; places, damage, and every record fetched again.
 */
#include "read_fetch.h"
#include "read_pack.h"

static const struct {
	const char *name, *frame;
	enum pd_codec codec;
} codecs[] = { { "gzip", "gzip member", PD_CODEC_GZIP },
	       { "zstd", "zstd frame", PD_CODEC_ZSTD },
	       { "lz4", "lz4 frame", PD_CODEC_LZ4 },
	       { "xz", "xz stream", PD_CODEC_XZ },
	       { "bzip2", "bzip2 stream", PD_CODEC_BZIP2 } };

/* The line that page `number` gives at `place`. */
static void line_of(struct pd_buf *out, const char *plus, size_t place, int number)
{
	struct pd_buf b = { 0 };
	dump_page(&b, number);
	size_t n = b.n - 4 - (size_t)(pd_span_find(pd_buf_span(&b), pd_span_z("\r\n\r\n")) + 4);
	pd_buf_printf(out, "%s%zu response http://h/%d %zu/%zu\n", plus, place, number, n, n);
	pd_buf_release(&b);
}

/* Pages 0 … n-1, a frame each; at[i] is where page i begins, at[n] the end. */
static void frames(struct pd_buf *dump, enum pd_codec codec, int n, size_t *at)
{
	struct pd_buf b = { 0 };
	for (int i = 0; i < n; i++) {
		at[i] = dump->n;
		pd_buf_clear(&b);
		dump_page(&b, i);
		pack(dump, codec, pd_buf_span(&b));
	}
	at[n] = dump->n;
	pd_buf_release(&b);
}

START_TEST(test_frame_a_record)
{
	struct pd_buf dump = { 0 }, want = { 0 };
	size_t at[6];
	frames(&dump, codecs[_i].codec, 5, at);
	for (int i = 0; i < 5; i++)
		line_of(&want, "", at[i], i);
	fetch_expect(codecs[_i].name, pd_buf_span(&dump), want.p);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_one_frame)
{
	struct pd_buf all = { 0 }, dump = { 0 }, want = { 0 };
	for (int i = 0; i < 5; i++) {
		line_of(&want, "+", all.n, i);
		dump_page(&all, i);
	}
	pack(&dump, codecs[_i].codec, pd_buf_span(&all));
	fetch_expect(codecs[_i].name, pd_buf_span(&dump), want.p);
	pd_buf_release(&all);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

/* Header and block in separate frames, as some writers do; then two records in a frame, then one alone. */
START_TEST(test_mixed_frames)
{
	struct pd_buf page = { 0 }, dump = { 0 }, want = { 0 };
	enum pd_codec codec = codecs[_i].codec;
	size_t stream = 0;
	for (int i = 0; i < 3; i++) {
		pd_buf_clear(&page);
		dump_page(&page, i);
		size_t header = (size_t)pd_span_find(pd_buf_span(&page), pd_span_z("\r\n\r\n")) + 4;
		line_of(&want, "", dump.n, i);
		pack(&dump, codec, pd_span(page.p, header));
		if (i == 1)
			pack(&dump, codec, pd_span("", 0));
		pack(&dump, codec, pd_span(page.p + header, page.n - header - 2));
		/* The line end that follows is in a separate frame as well. */
		pack(&dump, codec, pd_span_z("\r\n"));
		stream += page.n;
	}
	pd_buf_clear(&page);
	line_of(&want, "+", stream, 3);
	dump_page(&page, 3);
	line_of(&want, "+", stream + page.n, 4);
	dump_page(&page, 4);
	pack(&dump, codec, pd_buf_span(&page));
	pd_buf_clear(&page);
	line_of(&want, "", dump.n, 5);
	dump_page(&page, 5);
	pack(&dump, codec, pd_buf_span(&page));
	fetch_expect(codecs[_i].name, pd_buf_span(&dump), want.p);
	pd_buf_release(&page);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_skippable)
{
	struct pd_buf page = { 0 }, dump = { 0 }, want = { 0 };
	enum pd_codec codec = codecs[_i + 1].codec;
	pack_skippable(&dump, 0, pd_span_z("an index"));
	pack_skippable(&dump, 15, pd_span("", 0));
	for (int i = 0; i < 3; i++) {
		pd_buf_clear(&page);
		dump_page(&page, i);
		line_of(&want, "", dump.n, i);
		pack(&dump, codec, pd_span(page.p, 300));
		pack_skippable(&dump, 7, pd_span_z("in a record"));
		pack(&dump, codec, pd_span(page.p + 300, page.n - 300));
		pack_skippable(&dump, 13, pd_span_z("no dictionary here"));
	}
	fetch_expect(codecs[_i + 1].name, pd_buf_span(&dump), want.p);
	pd_buf_release(&page);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

/* 0, 1: in zstd's format, 2, 3: raw content; 1, 3: compressed. */
START_TEST(test_dictionary)
{
	struct pd_buf dictionary = { 0 }, page = { 0 }, dump = { 0 }, want = { 0 };
	size_t third = 0;
	if (_i < 2)
		pack_train(&dictionary);
	else
		dump_page(&dictionary, 1000);
	if (_i & 1)
		pack(&page, PD_CODEC_ZSTD, pd_buf_span(&dictionary));
	pack_skippable(&dump, 13, pd_buf_span(_i & 1 ? &page : &dictionary));
	for (int i = 0; i < 4; i++) {
		pd_buf_clear(&page);
		dump_page(&page, i);
		line_of(&want, "", dump.n, i);
		if (i == 2)
			third = dump.n;
		pack_zstd(&dump, pd_buf_span(&page), pd_buf_span(&dictionary));
	}
	fetch_expect("dictionary", pd_buf_span(&dump), want.p);
	/* Damage does not lose it. */
	dump.p[third + 40] ^= 16;
	const char *got = fetched(pd_buf_span(&dump));
	ck_assert_msg(fetch_count(got, "response") == 3 && fetch_count(got, "! ") == 1, "%s", got);
	/* A file without one that comes next does not see it. */
	got = fetched(pd_span(dump.p + third, dump.n - third));
	ck_assert_msg(fetch_count(got, "response") == 0, "%s", got);
	pd_buf_release(&dictionary);
	pd_buf_release(&page);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_bad_dictionary)
{
	static const struct {
		const char *name;
		struct pd_span content;
		size_t cut;
		const char *want;
	} bad[] = {
		{ "empty", { "", 0 }, 0, "! 0 damaged zstd dictionary\n" },
		{ "broken", { "\x37\xa4\x30\xec and then", 13 }, 0, "! 0 damaged zstd dictionary\n" },
		{ "broken frame", { "\x28\xb5\x2f\xfd and then", 13 }, 0, "! 0 damaged zstd dictionary\n" },
		{ "cut", { "content", 7 }, 3, "! 0 zstd dictionary cut by the end of the file\n" },
	};
	struct pd_buf dump = { 0 }, page = { 0 };
	pack_skippable(&dump, 13, bad[_i].content);
	if (bad[_i].cut) {
		dump.n -= bad[_i].cut;
	} else {
		dump_page(&page, 1);
		pack(&dump, PD_CODEC_ZSTD, pd_buf_span(&page));
	}
	const char *got = fetched(pd_buf_span(&dump));
	ck_assert_msg(strncmp(got, bad[_i].want, strlen(bad[_i].want)) == 0, "%s: %s", bad[_i].name, got);
	ck_assert_msg(fetch_count(got, "response") == !bad[_i].cut, "%s: %s", bad[_i].name, got);
	pd_buf_release(&dump);
	pd_buf_release(&page);
}
END_TEST

/* A flipped bit in any byte costs only the record that contains it, and is reported once.  bzip2 returns the bytes of
 * a block before it has checked them: then all of them differ, and may be reported before the stream is. */
START_TEST(test_flip)
{
	enum { N = 5 };
	static const int members[] = { 0, 2, 4 };
	struct pd_buf dump = { 0 }, line = { 0 };
	size_t at[N + 1];
	enum pd_codec codec = codecs[_i / 3].codec;
	int m = members[_i % 3];
	frames(&dump, codec, N, at);
	for (size_t i = at[m]; i < at[m + 1]; i += 3) {
		dump.p[i] ^= (char)(1 << i % 8);
		const char *got = fetched_with(NULL, pd_buf_span(&dump), false);
		int found = fetch_count(got, "response");
		for (int k = 0; k < N; k++) {
			pd_buf_clear(&line);
			line_of(&line, "", at[k], k);
			ck_assert_msg(k == m || strstr(got, line.p), "%s: byte %zu: page %d is lost\n%s", codecs[_i / 3].name, i, k,
				      got);
		}
		int damaged = fetch_count(got, "! ");
		ck_assert_msg(codec == PD_CODEC_BZIP2 ? damaged >= N - found : damaged == N - found, "%s: byte %zu: damage\n%s",
			      codecs[_i / 3].name, i, got);
		dump.p[i] ^= (char)(1 << i % 8);
	}
	pd_buf_release(&dump);
	pd_buf_release(&line);
}
END_TEST

START_TEST(test_cut)
{
	struct pd_buf dump = { 0 }, want = { 0 };
	size_t at[4];
	frames(&dump, codecs[_i].codec, 3, at);
	line_of(&want, "", at[0], 0);
	line_of(&want, "", at[1], 1);
	pd_buf_printf(&want, "! %zu %s cut by the end of the file\n", at[2], codecs[_i].frame);
	for (size_t n = at[2] + 1; n < dump.n; n++)
		fetch_expect("cut", pd_span(dump.p, n), want.p);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_junk)
{
	struct pd_buf dump = { 0 }, all = { 0 }, want = { 0 };
	size_t at[3];
	frames(&dump, codecs[_i].codec, 2, at);
	pd_buf_add(&all, dump.p, at[1]);
	pd_buf_add_z(&all, "some junk \x28\xb5\x2f\xfd that \x04\x22\x4d\x18 is none");
	line_of(&want, "", 0, 0);
	pd_buf_printf(&want, "! %zu junk where a%s %s should begin\n", at[1], strchr("lx", codecs[_i].name[0]) ? "n" : "",
		      codecs[_i].frame);
	line_of(&want, "", all.n, 1);
	pd_buf_add(&all, dump.p + at[1], dump.n - at[1]);
	fetch_expect("junk", pd_buf_span(&all), want.p);
	pd_buf_release(&dump);
	pd_buf_release(&all);
	pd_buf_release(&want);
}
END_TEST

/* Records over every bound: 3 MB that do not compress, 20 MB that do; and one after them. */
START_TEST(test_large)
{
	struct pd_buf b = { 0 }, dump = { 0 }, want = { 0 };
	enum pd_codec codec = codecs[_i].codec;
	dump_noise(&b, 0, 3000000);
	pack(&dump, codec, pd_buf_span(&b));
	pd_buf_clear(&b);
	size_t second = dump.n;
	char *zeroes = pd_zalloc(20000000);
	dump_record(&b, "resource", 1, "", zeroes, 20000000);
	free(zeroes);
	pack(&dump, codec, pd_buf_span(&b));
	pd_buf_printf(&want, "0 payload http://h/0 1048576/3000000 cut\n%zu payload http://h/1 1048576/20000000 cut\n", second);
	line_of(&want, "", dump.n, 2);
	pd_buf_clear(&b);
	dump_page(&b, 2);
	pack(&dump, codec, pd_buf_span(&b));
	fetch_expect(codecs[_i].name, pd_buf_span(&dump), want.p);
	/* Damage deep in the first: the following members are found. */
	dump.p[2000000] ^= 1;
	const char *got = fetched(pd_buf_span(&dump));
	ck_assert_msg(fetch_count(got, "! 0 damaged") == 1 && fetch_count(got, " cut\n") == 1 && fetch_count(got, "response") == 1,
		      "%s: %s", codecs[_i].name, got);
	pd_buf_release(&b);
	pd_buf_release(&dump);
	pd_buf_release(&want);
}
END_TEST

START_TEST(test_page)
{
	struct pd_buf dump = { 0 };
	pack(&dump, codecs[_i].codec, pd_span_z("<html>one "));
	pack(&dump, codecs[_i].codec, pd_span_z("page"));
	fetch_expect(codecs[_i].name, pd_buf_span(&dump), "- payload - 14/14\n");
	pd_buf_release(&dump);
}
END_TEST

/* A file full of magic bytes must not make resync look at all of it for each of them. */
START_TEST(test_hostile_magic)
{
	struct pd_buf dump = { 0 }, page = { 0 };
	dump_page(&page, 1);
	pack(&dump, PD_CODEC_ZSTD, pd_buf_span(&page));
	/* Each is a frame with a first block that declares a length of 128 KiB. */
	while (dump.n < 4000000)
		pd_buf_add(&dump, "\x28\xb5\x2f\xfd\x00\x58\x04\x00\x10", 9);
	const char *got = fetched(pd_buf_span(&dump));
	ck_assert_msg(fetch_count(got, "response") == 1, "%.300s", got);
	pd_buf_release(&dump);
	pd_buf_release(&page);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader_packed");
	TCase *t = tcase_create("reader_packed");
	tcase_add_loop_test(t, test_frame_a_record, 0, 5);
	tcase_add_loop_test(t, test_one_frame, 0, 5);
	tcase_add_loop_test(t, test_mixed_frames, 0, 5);
	tcase_add_loop_test(t, test_skippable, 0, 2);
	tcase_add_loop_test(t, test_dictionary, 0, 4);
	tcase_add_loop_test(t, test_bad_dictionary, 0, 4);
	tcase_add_loop_test(t, test_flip, 0, 15);
	tcase_add_loop_test(t, test_cut, 0, 5);
	tcase_add_loop_test(t, test_junk, 0, 5);
	tcase_add_loop_test(t, test_large, 0, 5);
	tcase_add_loop_test(t, test_page, 0, 5);
	tcase_add_test(t, test_hostile_magic);
	return fetch_main(s, t);
}
