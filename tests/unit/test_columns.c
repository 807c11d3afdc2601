/* SPDX-License-Identifier: MIT
 * Joins of columns, held against all pairs: sets by count and by share, vectors, keys; with any threads and little memory. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "index/columns.h"

#define ROWS(a) (int)(sizeof(a) / sizeof *(a))

struct rule {
	size_t least; /* shared items; a smaller set: all of its items */
	double over;  /* share of the smaller */
	bool all_of_fewer;
};

static size_t needed(const void *ctx, size_t n)
{
	const struct rule *r = ctx;
	size_t need = n >= r->least ? r->least : r->all_of_fewer ? n : 0, share = (size_t)floor(r->over * (double)n) + 1;
	if (!need)
		return 0;
	need = share > need && r->over > 0 ? share : need;
	return need <= n ? need : 0;
}

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (random_state >> 33) % n;
}

/* Rows that are copies of others with some items exchanged, items that are in nearly all rows, empty rows, equal rows. */
static void fill(struct pd_index_column *c, size_t n, uint64_t seed, bool weighed)
{
	enum { MOST = 40 };
	random_state = seed;
	for (size_t i = 0; i < n; i++) {
		uint64_t items[MOST];
		float weights[MOST];
		size_t k = 0, from = i && random_below(2) ? random_below(i) : SIZE_MAX;
		if (from != SIZE_MAX) {
			for (uint64_t at = c->start[from]; at < c->start[from + 1] && k < MOST; at++, k++) {
				items[k] = random_below(8) ? c->item[at] : random_below(300) * UINT64_C(0x9e3779b97f4a7c15);
				weights[k] = weighed ? c->weight[at] + (float)random_below(2) : 0;
			}
		} else {
			for (size_t want = random_below(30); k < want; k++) {
				items[k] = (random_below(3) ? random_below(300) : random_below(5)) * UINT64_C(0x9e3779b97f4a7c15);
				weights[k] = weighed ? (float)(1 + random_below(20)) : 0;
			}
		}
		pd_index_column_row(c);
		for (size_t x = 0; x < k; x++) {
			bool there = false;
			for (size_t y = 0; y < x; y++)
				there |= items[y] == items[x];
			if (!there)
				pd_index_column_item(c, items[x], weights[x]);
		}
	}
}

static size_t size_of(const struct pd_index_column *c, size_t i)
{
	return (size_t)(c->start[i + 1] - c->start[i]);
}

static double common(const struct pd_index_column *c, size_t a, size_t b, double *norm_a, double *norm_b)
{
	double sum = 0;
	*norm_a = *norm_b = 0;
	for (uint64_t x = c->start[a]; x < c->start[a + 1]; x++) {
		double w = c->weight ? c->weight[x] : 1;
		*norm_a += w * w;
		for (uint64_t y = c->start[b]; y < c->start[b + 1]; y++)
			sum += c->item[x] == c->item[y] ? w * (c->weight ? c->weight[y] : 1) : 0;
	}
	for (uint64_t y = c->start[b]; y < c->start[b + 1]; y++)
		*norm_b += c->weight ? (double)c->weight[y] * c->weight[y] : 1;
	return sum;
}

static const struct set_row {
	const char *name;
	struct rule rule;
} sets[] = {
	{ "one shared", { 1, 0, false } },
	{ "three shared", { 3, 0, false } },
	{ "three, or all of fewer", { 3, 0, true } },
	{ "over half of the smaller", { 1, .5, false } },
	{ "over nine tenths", { 1, .9, false } },
	{ "five and over .3", { 5, .3, true } },
	{ "more than anybody has", { 100, 0, false } },
};

static const int threads[] = { 1, 3 };

START_TEST(sets_are_those_of_brute_force)
{
	const struct set_row *row = &sets[_i % ROWS(sets)];
	struct pd_budget small = { .limit = 1 << 16 };
	for (int t = 0; t < ROWS(threads); t++) {
		struct pd_index_column c = { .budget = t ? &small : NULL };
		struct pd_index_columns_stats stats;
		struct pd_items found;
		struct pd_err e;
		size_t at = 0;
		fill(&c, 400, (uint64_t)_i + 1, false);
		ck_assert_int_eq(pd_index_sets(&c, needed, &row->rule, threads[t], &found, &stats, &e), 0);
		for (uint64_t a = 0; a < c.n; a++)
			for (uint64_t b = a + 1; b < c.n; b++) {
				double na, nb, n = common(&c, a, b, &na, &nb);
				size_t need = needed(&row->rule, size_of(&c, a) < size_of(&c, b) ? size_of(&c, a) : size_of(&c, b));
				if (!need || n < (double)need)
					continue;
				ck_assert_msg(at < found.n && found.v[at].key == (a << 32 | b), "%s: (%d, %d) is missing",
					      row->name, (int)a, (int)b);
				ck_assert_msg(found.v[at].value == (uint32_t)n, "%s: (%d, %d) shares %d", row->name, (int)a, (int)b,
					      (int)n);
				at++;
			}
		ck_assert_msg(at == found.n, "%s: %zu pairs too many", row->name, found.n - at);
		ck_assert_msg(at > 20 || row->rule.least == 100, "%s: only %zu pairs", row->name, at);
		pd_items_release(&found);
		pd_index_column_release(&c);
	}
}
END_TEST

START_TEST(frequent_items_cost_nothing_where_rare_ones_are_needed)
{
	struct pd_index_column c = { 0 };
	struct pd_index_columns_stats stats;
	struct pd_items found;
	struct pd_err e;
	struct rule rule = { 4, 0, false };
	for (uint64_t i = 0; i < 20000; i++) {
		pd_index_column_row(&c);
		for (uint64_t k = 0; k < 3; k++)
			pd_index_column_item(&c, k, 0); /* that all rows have */
		for (uint64_t k = 0; k < 5; k++)
			pd_index_column_item(&c, 1000 + i / 2 * 8 + k, 0);
	}
	ck_assert_int_eq(pd_index_sets(&c, needed, &rule, 1, &found, &stats, &e), 0);
	ck_assert_uint_eq(found.n, 10000);
	ck_assert_uint_eq(stats.candidates, 10000);
	ck_assert_uint_eq(stats.longest, 20000);
	pd_items_release(&found);
	pd_index_column_release(&c);
}
END_TEST

static const double cosines[] = { .3, .7, .9, .99 };

START_TEST(vectors_are_those_of_brute_force)
{
	double least = cosines[_i % ROWS(cosines)];
	struct pd_budget small = { .limit = 1 << 16 };
	for (int t = 0; t < ROWS(threads); t++) {
		struct pd_index_column c = { .budget = t ? &small : NULL };
		struct pd_index_columns_stats stats;
		struct pd_items found;
		struct pd_err e;
		size_t at = 0, sure = 0;
		fill(&c, 400, (uint64_t)_i + 1, true);
		ck_assert_int_eq(pd_index_vectors(&c, least, threads[t], &found, &stats, &e), 0);
		for (uint64_t a = 0; a < c.n; a++)
			for (uint64_t b = a + 1; b < c.n; b++) {
				double na, nb, n = common(&c, a, b, &na, &nb), cosine = na > 0 && nb > 0 ? n / sqrt(na * nb) : 0;
				bool there = at < found.n && found.v[at].key == (a << 32 | b);
				ck_assert_msg(there || cosine < least + 1e-6, "%g: (%d, %d) is missing", least, (int)a, (int)b);
				ck_assert_msg(!there || cosine > least - 3e-5, "%g: (%d, %d) has %g", least, (int)a, (int)b,
					      cosine);
				sure += cosine > least;
				at += there;
			}
		ck_assert_uint_eq(at, found.n);
		ck_assert_uint_gt(sure, 5);
		pd_items_release(&found);
		pd_index_column_release(&c);
	}
}
END_TEST

START_TEST(equal_keys_are_paired)
{
	/* The first words of 1 and 4 are the same, and not the second. */
	static const uint64_t keys[] = { 7, 1, 5, 1, 7, 1, 9, 9, 5, 2, 7, 1 };
	static const uint32_t row[] = { 10, 11, 12, 13, 14, 15 };
	struct pd_items found;
	struct pd_err e;
	ck_assert_int_eq(pd_index_equal(keys, row, 6, 2, NULL, &found, &e), 0);
	ck_assert_uint_eq(found.n, 3);
	ck_assert_uint_eq(found.v[0].key, UINT64_C(10) << 32 | 12);
	ck_assert_uint_eq(found.v[1].key, UINT64_C(10) << 32 | 15);
	ck_assert_uint_eq(found.v[2].key, UINT64_C(12) << 32 | 15);
	pd_items_release(&found);
}
END_TEST

START_TEST(nothing_gives_nothing)
{
	struct pd_index_column c = { 0 };
	struct pd_index_columns_stats stats;
	struct pd_items found;
	struct pd_err e;
	struct rule rule = { 1, 0, false };
	ck_assert_int_eq(pd_index_sets(&c, needed, &rule, 2, &found, &stats, &e), 0);
	ck_assert_uint_eq(found.n, 0);
	pd_items_release(&found);
	ck_assert_int_eq(pd_index_vectors(&c, .5, 2, &found, &stats, &e), 0);
	ck_assert_uint_eq(found.n, 0);
	pd_items_release(&found);
	ck_assert_int_eq(pd_index_equal(NULL, NULL, 0, 2, NULL, &found, &e), 0);
	ck_assert_uint_eq(found.n, 0);
	pd_items_release(&found);
	pd_index_column_release(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("columns");
	TCase *tc = tcase_create("joins");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, sets_are_those_of_brute_force, 0, 3 * ROWS(sets));
	tcase_add_test(tc, frequent_items_cost_nothing_where_rare_ones_are_needed);
	tcase_add_loop_test(tc, vectors_are_those_of_brute_force, 0, 3 * ROWS(cosines));
	tcase_add_test(tc, equal_keys_are_paired);
	tcase_add_test(tc, nothing_gives_nothing);
	suite_add_tcase(suite, tc);
	SRunner *sr = srunner_create(suite);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed > 0;
}
