/* SPDX-License-Identifier: MIT
 *
 * The hash tables against arrays that are looked through from end to end, the lower bound, hexadecimal digits.
 */
#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sort.h"

enum { KEYS = 3000 };

/* Typical keys: hashes, consecutive numbers, numbers with equal low bits. */
static uint64_t key_of(int shape, uint64_t i)
{
	struct pd_random r = { i };
	return shape == 0 ? pd_random_next(&r) : shape == 1 ? i : i << 40;
}

START_TEST(a_map_counts)
{
	struct pd_map m = { 0 };
	ck_assert(!pd_map_has(&m, 0));
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < KEYS; i++)
			for (uint64_t k = 0; k <= i % 3; k++)
				ck_assert_uint_eq((*pd_map_put(&m, key_of(_i, i)))++, k);
		ck_assert_uint_eq(m.n, KEYS);
		for (uint64_t i = 0; i < KEYS; i++)
			ck_assert_uint_eq(*pd_map_find(&m, key_of(_i, i)), i % 3 + 1);
		ck_assert(!pd_map_has(&m, key_of(_i, KEYS)));
		pd_map_clear(&m, round == 1 ? 10 * KEYS : 0);
		ck_assert(!m.n && !pd_map_has(&m, key_of(_i, 0)) && !pd_map_has(&m, key_of(_i, 1)));
	}
	pd_map_release(&m);
}
END_TEST

/* The round of a map that is emptied for ever comes back to its beginning: nothing old may be found then. */
START_TEST(a_map_is_emptied_often)
{
	struct pd_map m = { 0 };
	pd_map_clear(&m, 1);
	ck_assert(pd_map_add(&m, 7));
	m.round = UINT32_MAX;
	ck_assert(pd_map_add(&m, 8));
	pd_map_clear(&m, 1);
	ck_assert(!pd_map_has(&m, 7) && !pd_map_has(&m, 8));
	ck_assert(pd_map_add(&m, 7) && !pd_map_add(&m, 7));
	pd_map_release(&m);
}
END_TEST

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

START_TEST(a_set_gives_its_keys)
{
	struct pd_map m = { 0 };
	static uint64_t got[KEYS];
	for (uint64_t i = 0; i < 2 * KEYS; i++)
		ck_assert_int_eq(pd_map_add(&m, i % KEYS), i < KEYS);
	pd_map_keys(&m, got);
	qsort(got, KEYS, sizeof *got, ascending);
	for (uint64_t i = 0; i < KEYS; i++)
		ck_assert_uint_eq(got[i], i);
	pd_map_release(&m);
}
END_TEST

static uint64_t hash_of(const void *things, uint32_t number)
{
	return ((const uint64_t *)things)[number];
}

/* Four things share each hash: the index asks which it is. */
static bool is_same(const void *things, uint32_t number, const void *key)
{
	return number == *(const uint32_t *)key;
}

START_TEST(an_index_finds_what_lies_elsewhere)
{
	static uint64_t hashes[KEYS];
	struct pd_hashtab x = { 0 };
	for (uint32_t i = 0; i < KEYS; i++) {
		hashes[i] = key_of(0, i / 4);
		ck_assert_uint_eq(pd_hashtab_find(&x, hashes[i], is_same, hashes, &i), PD_NO_NUMBER);
		pd_hashtab_add(&x, hashes[i], hash_of, hashes);
	}
	for (uint32_t i = 0, none = KEYS; i < KEYS; i++) {
		ck_assert_uint_eq(pd_hashtab_find(&x, hashes[i], is_same, hashes, &i), i);
		ck_assert_uint_eq(pd_hashtab_find(&x, hashes[i], is_same, hashes, &none), PD_NO_NUMBER);
		ck_assert_uint_ne(pd_hashtab_guess(&x, hashes[i]), PD_NO_NUMBER);
	}
	pd_hashtab_release(&x);
}
END_TEST

/* Keys of a hostile author: all have slot 0 in tables of up to 2^24 slots, or are equal in the bits that an unkeyed
 * hash function uses.  Shape 0: for the product with the golden ratio, both halves of which are added. */
static uint64_t flooding_key(int shape, uint64_t i)
{
	uint64_t inverse = 1, factor = UINT64_C(0x9E3779B97F4A7C15), slot = i << 24;
	for (int k = 0; k < 6; k++)
		inverse *= 2 - factor * inverse;
	return shape == 0   ? (slot ^ slot >> 32) * inverse
	       : shape == 1 ? i << 24 & ~(UINT64_C(255) << 56)
	       : shape == 2 ? i << 44
			    : i;
}

enum { FLOOD = 60000 };

static double seconds_since(const struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* Slots that are looked at until all keys are found. */
static uint64_t map_probes(const struct pd_map *m)
{
	uint64_t probes = 0;
	for (size_t i = 0; i < m->cap; i++)
		if (m->v[i].round == m->round)
			probes += 1 + ((i - pd_map_place(m->v[i].key, m->secret)) & (m->cap - 1));
	return probes;
}

/* Each of many tables has a separate secret. */
START_TEST(no_keys_flood_a_map)
{
	for (int table = 0; table < 100; table++) {
		struct pd_map m = { 0 };
		for (int round = 0; round < 2; round++) {
			struct timespec start;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
			for (uint64_t i = 0; i < FLOOD / 8; i++)
				pd_map_add(&m, flooding_key(_i, i));
			ck_assert_uint_eq(m.n, FLOOD / 8);
			ck_assert_msg(map_probes(&m) < 4 * (FLOOD / 8), "%lu probes", (unsigned long)map_probes(&m));
			ck_assert_msg(seconds_since(&start) < 1, "%f seconds", seconds_since(&start));
			pd_map_clear(&m, FLOOD / 8);
		}
		pd_map_release(&m);
	}
}
END_TEST

static uint64_t index_probes(const struct pd_hashtab *x, const uint64_t *hashes)
{
	uint64_t probes = 0;
	for (size_t i = 0; i < x->cap; i++)
		if (x->tag[i])
			probes += 1 + ((i - pd_hashtab_place(x, hashes[x->number[i]])) & (x->cap - 1));
	return probes;
}

START_TEST(no_hashes_flood_an_index)
{
	static uint64_t hashes[FLOOD];
	struct pd_hashtab x = { 0 };
	struct timespec start;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (uint32_t i = 0; i < FLOOD; i++) {
		hashes[i] = flooding_key(_i, i);
		ck_assert_uint_eq(pd_hashtab_find(&x, hashes[i], is_same, hashes, &i), PD_NO_NUMBER);
		pd_hashtab_add(&x, hashes[i], hash_of, hashes);
	}
	for (uint32_t i = 0; i < FLOOD; i++)
		ck_assert_uint_eq(pd_hashtab_find(&x, hashes[i], is_same, hashes, &i), i);
	ck_assert_msg(index_probes(&x, hashes) < 8 * FLOOD, "%lu probes", (unsigned long)index_probes(&x, hashes));
	ck_assert_msg(seconds_since(&start) < 1, "%f seconds", seconds_since(&start));
	pd_hashtab_release(&x);
}
END_TEST

/* A table's slots tell nothing of another's, and keys are moved from one into a smaller one in the order of its slots. */
START_TEST(tables_have_different_secrets)
{
	static uint64_t keys[FLOOD];
	struct pd_map from = { 0 }, to = { 0 };
	for (uint64_t i = 0; i < FLOOD; i++)
		pd_map_add(&from, i);
	pd_map_keys(&from, keys);
	pd_map_clear(&to, FLOOD / 4);
	for (uint64_t i = 0; i < FLOOD / 4; i++)
		pd_map_add(&to, keys[i]);
	ck_assert(from.secret != to.secret);
	ck_assert_msg(map_probes(&to) < FLOOD, "%lu probes", (unsigned long)map_probes(&to));
	pd_map_release(&from);
	pd_map_release(&to);
}
END_TEST

START_TEST(lower_bounds)
{
	static const uint64_t v[] = { 2, 2, 5, 9, 9, 9, 12 };
	size_t n = sizeof v / sizeof *v;
	for (uint64_t key = 0; key < 15; key++) {
		size_t want = 0;
		while (want < n && v[want] < key)
			want++;
		ck_assert_uint_eq(PD_LOWER_BOUND(i, 0, n, v[i] < key), want);
		ck_assert_uint_eq(PD_LOWER_BOUND(i, 3, n, v[i] < key), want < 3 ? 3 : want);
	}
	ck_assert_uint_eq(PD_LOWER_BOUND(i, 4, 4, v[i] < 100), 4);
}
END_TEST

START_TEST(hexadecimal_digits)
{
	struct pd_buf b = { 0 };
	uint64_t v = 0;
	for (int c = 0; c < 256; c++) {
		char z[2] = { (char)c, 0 }, *end;
		long want = strtol(z, &end, 16);
		ck_assert_int_eq(pd_hex_digit((char)c), c && strchr("0123456789abcdefABCDEF", c) ? want : -1);
	}
	ck_assert_int_eq(pd_hex_byte('a', '7'), 0xA7);
	ck_assert_int_eq(pd_hex_byte('0', 'g'), -1);
	ck_assert_int_eq(pd_hex_byte('\0', '0'), -1);
	pd_hex_add(&b, UINT64_C(0x0123456789ABCDEF));
	ck_assert_str_eq(b.p, "0123456789abcdef");
	ck_assert(pd_hex_u64(pd_span_z("0123456789aBcDeF"), &v) && v == UINT64_C(0x0123456789ABCDEF));
	ck_assert(!pd_hex_u64(pd_span_z("0123456789abcde"), &v) && !pd_hex_u64(pd_span_z("0123456789abcdeg"), &v));
	pd_buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("map");
	TCase *c = tcase_create("map");
	tcase_add_loop_test(c, a_map_counts, 0, 3);
	tcase_add_test(c, a_map_is_emptied_often);
	tcase_add_test(c, a_set_gives_its_keys);
	tcase_add_test(c, an_index_finds_what_lies_elsewhere);
	tcase_add_loop_test(c, no_keys_flood_a_map, 0, 4);
	tcase_add_loop_test(c, no_hashes_flood_an_index, 0, 4);
	tcase_add_test(c, tables_have_different_secrets);
	tcase_add_test(c, lower_bounds);
	tcase_add_test(c, hexadecimal_digits);
	suite_add_tcase(suite, c);
	SRunner *sr = srunner_create(suite);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
