/* SPDX-License-Identifier: MIT
 *
 * Files of shingles: written pages are read back as sets, in blocks of any size; cut or changed files are refused.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "row/shingles.h"

static char path[] = "/tmp/test_shingles.XXXXXX";

static void make_path(void)
{
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void remove_path(void)
{
	unlink(path);
	snprintf(path, sizeof path, "/tmp/test_shingles.XXXXXX");
}

/* Page i has shingles i, i + 1 … i + n - 1, times an odd number, each twice. */
static uint64_t shingle(uint32_t i)
{
	return i * UINT64_C(0x9E3779B97F4A7C15);
}

/* Values that differ only in the bits that are sorted last. */
static uint64_t low_shingle(uint32_t i)
{
	return UINT64_C(7) << 40 | (uint32_t)(i * UINT32_C(0x1F35B));
}

static const struct pd_secret secret = { { 1, 2, 3 } };

static struct pd_span id_of(uint32_t page, char *room)
{
	return pd_span(room, (size_t)sprintf(room, "d.warc.gz:%u", page));
}

static uint64_t text_of(uint32_t page)
{
	return page % 3 ? page : 0;
}

static void write_pages_of(uint32_t pages, uint32_t each, const char *must, uint64_t (*value)(uint32_t i))
{
	struct pd_shingles_writer w;
	struct pd_err e;
	struct pd_buf list = { 0 };
	char room[40];
	ck_assert_int_eq(pd_shingles_create(&w, path, pd_span_z(must), &e), 0);
	for (uint32_t p = 0; p < pages; p++) {
		pd_buf_clear(&list);
		for (uint32_t i = 0; i < 2 * each; i++) {
			uint64_t v = value(p + i % each);
			pd_buf_add(&list, &v, sizeof v);
		}
		ck_assert_int_eq(pd_shingles_add(&w, pd_shingles_id(&secret, id_of(p, room)), text_of(p), pd_buf_span(&list), &e),
				 0);
	}
	ck_assert_int_eq(pd_shingles_close(&w, PD_OK, &e), 0);
	pd_buf_release(&list);
}

static void write_pages(uint32_t pages, uint32_t each, const char *must)
{
	write_pages_of(pages, each, must, shingle);
}

/* Looks for these pages and one that is not there. */
static int open_pages(struct pd_shingles **s, uint32_t pages, struct pd_err *e)
{
	uint64_t *ids = pd_alloc((pages + 1) * sizeof *ids);
	char *paths[] = { path }, room[40];
	for (uint32_t p = 0; p <= pages; p++)
		ids[p] = pd_shingles_id(&secret, id_of(p < pages ? p : UINT32_MAX, room));
	int status = pd_shingles_open(s, paths, 1, ids, pages + 1, e);
	free(ids);
	return status;
}

/* pages, shingles of each: one block, many, one that a page fills alone; sets of few are sorted in another way */
static const uint32_t sizes[][2] = { { 0, 1 }, { 1, 1 }, { 3, 10 }, { 600, 5 }, { 513, 100 }, { 3, 700000 } };

START_TEST(there_and_back)
{
	uint32_t pages = sizes[_i][0], each = sizes[_i][1];
	struct pd_shingles *s;
	struct pd_shingle_set a = { 0 }, b = { 0 };
	struct pd_err e;
	char room[40];
	make_path();
	write_pages(pages, each, "k=v");
	ck_assert_msg(open_pages(&s, pages, &e) == 0, "%s", e.text);
	for (uint32_t p = 0; p < pages; p++) {
		ck_assert_int_eq(pd_shingles_get(s, pd_shingles_id(&secret, id_of(p, room)), &a, &e), 1);
		ck_assert_uint_eq(a.n, each);
		ck_assert_uint_eq(pd_shingles_count(s, pd_shingles_id(&secret, id_of(p, room))), 2 * each);
		ck_assert_uint_eq(pd_shingles_text(s, pd_shingles_id(&secret, id_of(p, room))), text_of(p));
		for (size_t i = 1; i < a.n; i++)
			ck_assert_msg(a.v[i - 1] < a.v[i], "not ascending at %zu", i);
		if (p) {
			ck_assert_int_eq(pd_shingles_get(s, pd_shingles_id(&secret, id_of(p - 1, room)), &b, &e), 1);
			ck_assert_uint_eq(pd_shingle_set_common(&a, &b), each - 1);
			ck_assert_uint_eq(pd_shingle_set_common(&b, &a), each - 1);
		}
	}
	ck_assert_int_eq(pd_shingles_get(s, pd_shingles_id(&secret, id_of(UINT32_MAX, room)), &a, &e), 0);
	free(a.v);
	free(b.v);
	pd_shingles_free(s);
	remove_path();
}
END_TEST

/* Sets are of runs of five terms: three shingles of three.  A text with fewer is one run, and one changed shingle in the
 * middle changes three runs. */
START_TEST(runs)
{
	static const struct {
		const char *must;
		uint32_t n;
		size_t items, common; /* with the text that has another shingle at 5 */
	} texts[] = {
		{ "sketch_shingle=3", 10, 8, 5 },
		{ "sketch_shingle=3", 3, 1, 1 },
		{ "sketch_shingle=3", 2, 1, 1 },
		{ "sketch_shingle=4", 10, 9, 7 },
		{ "sketch_shingle=5", 10, 10, 9 },
		{ "sketch_shingle=8", 10, 10, 9 },
		{ "k=v", 10, 10, 9 },
	};
	struct pd_shingles_writer w;
	struct pd_shingles *s;
	struct pd_shingle_set a = { 0 }, b = { 0 };
	struct pd_err e;
	char *paths[] = { path }, room[40];
	uint64_t list[10], ids[] = { pd_shingles_id(&secret, id_of(0, room)), pd_shingles_id(&secret, id_of(1, room)) };
	uint64_t sorted[] = { ids[0], ids[1] };
	make_path();
	ck_assert_int_eq(pd_shingles_create(&w, path, pd_span_z(texts[_i].must), &e), 0);
	for (uint32_t page = 0; page < 2; page++) {
		for (uint32_t i = 0; i < texts[_i].n; i++)
			list[i] = shingle(page && i == 5 ? 100 : i + 1);
		ck_assert_int_eq(pd_shingles_add(&w, ids[page], 1, pd_span((char *)list, texts[_i].n * sizeof *list), &e), 0);
	}
	ck_assert_int_eq(pd_shingles_close(&w, PD_OK, &e), 0);
	ck_assert_int_eq(pd_shingles_open(&s, paths, 1, sorted, 2, &e), 0);
	ck_assert_int_eq(pd_shingles_get(s, ids[0], &a, &e), 1);
	ck_assert_int_eq(pd_shingles_get(s, ids[1], &b, &e), 1);
	ck_assert_uint_eq(a.n, texts[_i].items);
	ck_assert_uint_eq(b.n, texts[_i].items);
	ck_assert_uint_eq(pd_shingle_set_common(&a, &b), texts[_i].common);
	free(a.v);
	free(b.v);
	pd_shingles_free(s);
	remove_path();
}
END_TEST

/* Values that share their highest bits are sorted, too. */
START_TEST(equal_high_bits)
{
	struct pd_shingles *s;
	struct pd_shingle_set a = { 0 };
	struct pd_err e;
	char room[40];
	make_path();
	write_pages_of(1, 5000, "k=v", low_shingle);
	ck_assert_int_eq(open_pages(&s, 1, &e), 0);
	ck_assert_int_eq(pd_shingles_get(s, pd_shingles_id(&secret, id_of(0, room)), &a, &e), 1);
	ck_assert_uint_eq(a.n, 5000);
	for (size_t i = 1; i < a.n; i++)
		ck_assert_msg(a.v[i - 1] < a.v[i], "not ascending at %zu", i);
	free(a.v);
	pd_shingles_free(s);
	remove_path();
}
END_TEST

/* A page of another secret is in no file. */
START_TEST(another_secret)
{
	static const struct pd_secret other = { { 1, 2, 4 } };
	struct pd_shingles *s;
	struct pd_err e;
	char *paths[] = { path }, room[40];
	make_path();
	write_pages(3, 10, "k=v");
	uint64_t ids[] = { pd_shingles_id(&other, id_of(1, room)), pd_shingles_id(&secret, id_of(1, room)) }, mine = ids[1],
		 others = ids[0];
	ck_assert_int_eq(pd_shingles_open(&s, paths, 1, ids, 2, &e), 0);
	ck_assert_uint_eq(pd_shingles_count(s, mine), 20);
	ck_assert_uint_eq(pd_shingles_count(s, others), 0);
	pd_shingles_free(s);
	remove_path();
}
END_TEST

static long file_size(void)
{
	FILE *f = fopen(path, "rb");
	fseek(f, 0, SEEK_END);
	long n = ftell(f);
	fclose(f);
	return n;
}

/* A file that is cut anywhere is not complete. */
START_TEST(cut)
{
	struct pd_shingles *s;
	struct pd_err e;
	make_path();
	write_pages(3, 10, "k=v");
	for (long n = file_size() - 1; n >= 0; n--) {
		ck_assert_int_eq(truncate(path, n), 0);
		int status = open_pages(&s, 3, &e);
		ck_assert_msg(status == PD_ERR_FORMAT, "cut to %ld bytes: %d", n, status);
		pd_shingles_free(s);
	}
	remove_path();
}
END_TEST

/* A changed byte before the shingles is found, or leaves the parameters alone changed. */
START_TEST(changed)
{
	struct pd_shingles *s;
	struct pd_err e;
	make_path();
	write_pages(3, 10, "k=v");
	long lists = 16 + 3 + 16 + 3 * 20;
	for (long at = 0; at < lists; at++) {
		FILE *f = fopen(path, "r+b");
		fseek(f, at, SEEK_SET);
		int c = getc(f);
		fseek(f, at, SEEK_SET);
		putc(c ^ 0x55, f);
		fclose(f);
		int status = open_pages(&s, 3, &e);
		ck_assert_msg(status < 0 || (at >= 16 && at < 19), "byte %ld", at);
		pd_shingles_free(s);
		f = fopen(path, "r+b");
		fseek(f, at, SEEK_SET);
		putc(c, f);
		fclose(f);
	}
	ck_assert_int_eq(open_pages(&s, 3, &e), 0);
	pd_shingles_free(s);
	remove_path();
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("shingles");
	TCase *c = tcase_create("files");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, there_and_back, 0, sizeof sizes / sizeof *sizes);
	tcase_add_test(c, equal_high_bits);
	tcase_add_loop_test(c, runs, 0, 7);
	tcase_add_test(c, another_secret);
	tcase_add_test(c, cut);
	tcase_add_test(c, changed);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	SRunner *r = srunner_create(suite());
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
