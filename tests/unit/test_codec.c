/* SPDX-License-Identifier: MIT
 *
 * Every codec: both ways give the bytes back, limits hold, damage is reported and never followed, dictionaries of zstd.
 */
#include "read_pack.h"

#include "base/err.h"
#include "base/hash.h"

static const struct {
	const char *name;
	enum pd_codec codec;
	bool whole;   /* has a special path for members in memory */
	bool checked; /* has a checksum */
	bool repeats;
} codecs[] = {
	{ "gzip", PD_CODEC_GZIP, true, true, true },
	{ "zlib", PD_CODEC_ZLIB, true, true, false },
	{ "deflate", PD_CODEC_DEFLATE, true, false, false },
	{ "zstd", PD_CODEC_ZSTD, true, true, true },
	{ "lz4", PD_CODEC_LZ4, false, true, true },
	{ "brotli", PD_CODEC_BROTLI, false, false, false },
	{ "xz", PD_CODEC_XZ, false, true, true },
	{ "bzip2", PD_CODEC_BZIP2, false, true, true },
};
enum { N_CODECS = sizeof codecs / sizeof *codecs };

static void text_of(struct pd_buf *out, size_t n)
{
	pd_buf_clear(out);
	for (unsigned i = 0; out->n < n; i++)
		pd_buf_printf(out, "<p>%u %x", i, i * i);
	out->n = n;
}

/* Fed `step` bytes at a time, `room` bytes wanted at a time. */
static int feed_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t step, size_t room, struct pd_buf *out)
{
	pd_unpack_start(u, codec);
	for (struct pd_span part = pd_span(in.p, 0);;) {
		if (!part.n) {
			part = pd_span(in.p, in.n < step ? in.n : step);
			in = pd_span(in.p + part.n, in.n - part.n);
		}
		size_t had = out->n, left = part.n;
		int r = pd_unpack_feed(u, &part, room, out);
		if (r)
			return r;
		if (!in.n && part.n == left && out->n == had)
			return PD_ERR_TRUNCATED;
	}
}

START_TEST(test_round)
{
	static const size_t sizes[] = { 0, 1, 100, 70000, 3000000 };
	static const size_t steps[][2] = { { 1, 1000 }, { 7, 1 }, { 100000, 100000 }, { SIZE_MAX, SIZE_MAX } };
	const char *name = codecs[_i].name;
	enum pd_codec codec = codecs[_i].codec;
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf text = { 0 }, packed = { 0 }, out = { 0 };
	for (size_t k = 0; k < 5; k++) {
		size_t used;
		text_of(&text, sizes[k]);
		pd_buf_clear(&packed);
		pack(&packed, codec, pd_buf_span(&text));
		size_t n = packed.n;
		pd_buf_add_z(&packed, "junk");
		pd_buf_clear(&out);
		int r = pd_unpack_whole(u, codec, pd_buf_span(&packed), 4000000, &out, &used);
		ck_assert_msg(r == (codecs[_i].whole ? PD_OK : PD_ERR_USAGE), "%s: %zu: whole gives %d", name, sizes[k], r);
		if (!r)
			ck_assert_msg(used == n && pd_span_eq(pd_buf_span(&out), pd_buf_span(&text)), "%s: whole", name);
		for (int i = sizes[k] > 100000 ? 2 : 0; i < 4; i++) {
			pd_buf_clear(&out);
			r = feed_all(u, codec, pd_span(packed.p, n), steps[i][0], steps[i][1], &out);
			ck_assert_msg(r == 1, "%s: %zu: stream %d gives %d", name, sizes[k], i, r);
			ck_assert_msg(pd_span_eq(pd_buf_span(&out), pd_buf_span(&text)), "%s: stream", name);
		}
		pd_buf_clear(&out);
		r = pd_unpack_all(u, codec, pd_buf_span(&packed), 4000000, &out);
		ck_assert_msg(r == PD_OK && pd_span_eq(pd_buf_span(&out), pd_buf_span(&text)), "%s: all gives %d", name, r);
	}
	pd_unpacker_free(u);
	pd_buf_release(&text);
	pd_buf_release(&packed);
	pd_buf_release(&out);
}
END_TEST

/* Blocks: sound blocks are returned complete; cut, changed or invented ones are refused or give other bytes, without
 * a read or write outside the buffers. */
START_TEST(test_block)
{
	static const size_t sizes[] = { 0, 1, 7, 100, 70000, 3000000 };
	struct pd_buf text = { 0 }, packed = { 0 }, out = { 0 };
	struct pd_random random = { 3 };
	for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
		text_of(&text, sizes[k / 2]);
		for (size_t i = 0; k % 2 && i < text.n; i++) /* nothing to gain */
			text.p[i] = (char)pd_random_next(&random);
		pd_buf_clear(&packed);
		pd_buf_clear(&out);
		pd_block_pack(pd_buf_span(&text), &packed);
		ck_assert_msg(packed.n <= text.n + 8, "%zu bytes became %zu", text.n, packed.n);
		ck_assert(pd_block_unpack(pd_buf_span(&packed), &out) && pd_span_eq(pd_buf_span(&out), pd_buf_span(&text)));
		for (int i = 0; i < 200 && packed.n; i++) {
			char *exact = malloc(packed.n);
			size_t n = pd_random_below(&random, (uint32_t)packed.n);
			memcpy(exact, packed.p, packed.n);
			pd_buf_clear(&out);
			ck_assert_msg(!pd_block_unpack(pd_span(exact, n), &out) || !n || out.n < text.n, "cut to %zu of %zu", n,
				      packed.n);
			exact[n] = (char)pd_random_next(&random);
			pd_buf_clear(&out);
			if (pd_block_unpack(pd_span(exact, packed.n), &out) && n >= 8)
				ck_assert_int_eq(out.n, text.n);
			free(exact);
		}
	}
	pd_buf_release(&text);
	pd_buf_release(&packed);
	pd_buf_release(&out);
}
END_TEST

/* The position of the first magic bytes: equal to a search of the whole string, at both ends and between similar
 * bytes. */
START_TEST(test_find)
{
	enum pd_codec codec = codecs[_i].codec;
	struct pd_span magic = pd_codec_magic(codec);
	char in[40];
	ck_assert_msg(!pd_codec_find(codec, pd_span("", 0)), "%s: nothing", codecs[_i].name);
	for (size_t n = 1; n <= sizeof in; n++) {
		for (size_t at = 0; at < n; at++) {
			/* Its bytes out of their order, then itself, as much of it as there is room for. */
			for (size_t i = 0; i < n; i++)
				in[i] = magic.n ? magic.p[i * 7 % magic.n] : 'x';
			memcpy(in + at, magic.p, n - at < magic.n ? n - at : magic.n);
			const char *want = magic.n ? memmem(in, n, magic.p, magic.n) : NULL;
			ck_assert_msg(pd_codec_find(codec, pd_span(in, n)) == want, "%s: at %zu of %zu", codecs[_i].name, at, n);
		}
	}
}
END_TEST

START_TEST(test_several)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf packed = { 0 }, out = { 0 };
	enum pd_codec codec = codecs[_i].codec;
	pack(&packed, codec, pd_span_z("one "));
	pack(&packed, codec, pd_span_z(""));
	if (codec == PD_CODEC_ZSTD || codec == PD_CODEC_LZ4)
		pack_skippable(&packed, 3, pd_span_z("skipped"));
	pack(&packed, codec, pd_span_z("two"));
	ck_assert_int_eq(pd_unpack_all(u, codec, pd_buf_span(&packed), 100, &out), PD_OK);
	ck_assert_msg(pd_span_is(pd_buf_span(&out), codecs[_i].repeats ? "one two" : "one "), "%s: %s", codecs[_i].name, out.p);
	pd_unpacker_free(u);
	pd_buf_release(&packed);
	pd_buf_release(&out);
}
END_TEST

/* 64 MiB of zeroes in some KiB, and members without end: no more than the limit comes out, or is ever there. */
START_TEST(test_bomb)
{
	enum { LIMIT = 100000 };
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf packed = { 0 }, out = { 0 };
	enum pd_codec codec = codecs[_i].codec;
	char *zeroes = pd_zalloc(1 << 26);
	pack(&packed, codec, pd_span(zeroes, 1 << 26));
	free(zeroes);
	int r = pd_unpack_all(u, codec, pd_buf_span(&packed), LIMIT, &out);
	ck_assert_msg(r == PD_ERR_LIMIT, "%s: %d", codecs[_i].name, r);
	ck_assert_msg(out.n == LIMIT && out.cap < 4 * LIMIT + (1 << 19), "%s: %zu bytes in %zu", codecs[_i].name, out.n, out.cap);
	pd_unpacker_free(u);
	pd_buf_release(&packed);
	pd_buf_release(&out);
}
END_TEST

START_TEST(test_damage)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf text = { 0 }, packed = { 0 }, out = { 0 };
	enum pd_codec codec = codecs[_i].codec;
	text_of(&text, 3000);
	pack(&packed, codec, pd_buf_span(&text));
	for (size_t i = 0; i < packed.n; i++) {
		pd_buf_clear(&out);
		char *exact = malloc(i ? i : 1);
		memcpy(exact, packed.p, i);
		int r = pd_unpack_all(u, codec, pd_span(exact, i), 10000, &out);
		free(exact);
		ck_assert_msg(r == PD_ERR_TRUNCATED, "%s: cut at %zu: %d", codecs[_i].name, i, r);
		ck_assert_msg(out.n <= text.n && memcmp(out.p, text.p, out.n) == 0, "%s: cut at %zu: bytes", codecs[_i].name, i);
		packed.p[i] ^= (char)(1 << i % 8);
		pd_buf_clear(&out);
		r = pd_unpack_all(u, codec, pd_buf_span(&packed), 10000, &out);
		bool same = pd_span_eq(pd_buf_span(&out), pd_buf_span(&text));
		ck_assert_msg(r || same || !codecs[_i].checked, "%s: flip in %zu is not seen", codecs[_i].name, i);
		packed.p[i] ^= (char)(1 << i % 8);
	}
	pd_unpacker_free(u);
	pd_buf_release(&text);
	pd_buf_release(&packed);
	pd_buf_release(&out);
}
END_TEST

START_TEST(test_dictionary)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf dictionary = { 0 }, page = { 0 }, packed = { 0 }, out = { 0 };
	size_t used;
	if (_i)
		pd_buf_add_z(&dictionary, "raw content that the page repeats: word25 and word42");
	else
		pack_train(&dictionary);
	dump_page(&page, 7);
	pack_zstd(&packed, pd_buf_span(&page), pd_buf_span(&dictionary));
	ck_assert_int_lt(pd_unpack_all(u, PD_CODEC_ZSTD, pd_buf_span(&packed), 100000, &out), 0);
	ck_assert(pd_unpacker_dictionary(u, pd_buf_span(&dictionary)));
	for (int way = 0; way < 2; way++) {
		pd_buf_clear(&out);
		int r = way ? feed_all(u, PD_CODEC_ZSTD, pd_buf_span(&packed), 10, 1000, &out)
			    : pd_unpack_whole(u, PD_CODEC_ZSTD, pd_buf_span(&packed), 100000, &out, &used);
		ck_assert_int_eq(r, way);
		ck_assert(pd_span_eq(pd_buf_span(&out), pd_buf_span(&page)));
	}
	ck_assert(pd_unpacker_dictionary(u, pd_span(NULL, 0)));
	ck_assert_int_lt(pd_unpack_all(u, PD_CODEC_ZSTD, pd_buf_span(&packed), 100000, &out), 0);
	ck_assert(!pd_unpacker_dictionary(u, pd_span("\x37\xa4\x30\xec nothing of a dictionary", 28)));
	pd_unpacker_free(u);
	pd_buf_release(&dictionary);
	pd_buf_release(&page);
	pd_buf_release(&packed);
	pd_buf_release(&out);
}
END_TEST

/* A frame that requests a window of 2 GiB. */
START_TEST(test_window)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf out = { 0 };
	struct pd_span frame = pd_span("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
	pd_unpack_start(u, PD_CODEC_ZSTD);
	ck_assert_int_eq(pd_unpack_feed(u, &frame, 100, &out), PD_ERR_LIMIT);
	pd_unpacker_free(u);
	pd_buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("codec");
	TCase *t = tcase_create("codec");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, test_round, 0, N_CODECS);
	tcase_add_test(t, test_block);
	tcase_add_loop_test(t, test_find, 0, N_CODECS);
	tcase_add_loop_test(t, test_several, 0, N_CODECS);
	tcase_add_loop_test(t, test_bomb, 0, N_CODECS);
	tcase_add_loop_test(t, test_damage, 0, N_CODECS);
	tcase_add_loop_test(t, test_dictionary, 0, 2);
	tcase_add_test(t, test_window);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
