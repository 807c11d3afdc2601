/* SPDX-License-Identifier: MIT
 *
 * Plans: refused and chosen plans, the pigeonhole principle for every width and k, and the default k.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "index/plan.h"

static const struct choice {
	const char *name;
	enum pd_index_plan_kind kind;
	int bits, k;
	size_t n;
	int status;
	const char *print; /* the beginning */
} choices[] = {
	{ "paper, k=3", PD_PLAN_PAPER, 64, 3, 1000, 0, "paper: about " },
	{ "paper, 128 bits", PD_PLAN_PAPER, 128, 2, 1000, 0, "paper: about " },
	{ "paper, 256 bits", PD_PLAN_PAPER, 256, 0, 1000, 0, "paper: about " },
	{ "paper, k=4", PD_PLAN_PAPER, 64, 4, 1000, PD_ERR_USAGE, "plan 'paper'" },
	{ "k over a quarter", PD_PLAN_AUTO, 64, 17, 1000, PD_ERR_USAGE, "distance 17: must be 0 to 16" },
	{ "k over a quarter, 128", PD_PLAN_ALL, 128, 33, 1000, PD_ERR_USAGE, "distance 33: must be 0 to 32" },
	{ "negative k", PD_PLAN_AUTO, 64, -1, 1000, PD_ERR_USAGE, "distance -1" },
	{ "width", PD_PLAN_AUTO, 96, 3, 1000, PD_ERR_USAGE, "keys of 96 bits" },
	{ "few keys", PD_PLAN_AUTO, 64, 8, 500, 0, "all: about " },
	{ "a million, k=3", PD_PLAN_AUTO, 64, 3, 1000000, 0, "blocks: " },
	{ "k=1 leaves out blocks", PD_PLAN_BLOCKS, 64, 0, 10000000, 0, "blocks: " },
	{ "all when asked for", PD_PLAN_ALL, 64, 3, 1000000, 0, "all: about " },
	{ "blocks when asked for", PD_PLAN_BLOCKS, 64, 3, 2, 0, "blocks: " },
	{ "no keys", PD_PLAN_AUTO, 256, 64, 0, 0, "all: about " },
	{ "a quarter of 256", PD_PLAN_BLOCKS, 256, 64, 1000, 0, "blocks: " },
};

START_TEST(choose)
{
	const struct choice *c = &choices[_i];
	struct pd_index_plan p;
	struct pd_err e = { 0 };
	struct pd_buf text = { 0 };
	int status = pd_index_plan_choose(&p, c->kind, c->bits, c->k, c->n, 0, &e);
	ck_assert_msg(status == c->status, "%s: status %d, not %d", c->name, status, c->status);
	if (status)
		pd_buf_add_z(&text, e.text);
	else
		pd_index_plan_print(&p, &text);
	ck_assert_msg(!strncmp(pd_buf_z(&text), c->print, strlen(c->print)), "%s: \"%s\", not \"%s…\"", c->name, pd_buf_z(&text),
		      c->print);
	pd_buf_release(&text);
}
END_TEST

static void check_blocks(const struct pd_index_plan *p, const char *where)
{
	struct pd_key seen = { { 0 } };
	int sum = 0;
	ck_assert_msg(p->n_blocks > 0 && p->n_blocks <= PD_PLAN_BLOCKS_MAX, "%s: %d blocks", where, p->n_blocks);
	for (int i = 0; i < p->n_blocks; i++) {
		ck_assert_msg(p->n_bits[i] > 0 && p->n_bits[i] <= PD_BLOCK_BITS_MAX, "%s: block %d", where, i);
		ck_assert_msg(p->radius[i] >= -1, "%s: radius %d", where, p->radius[i]);
		sum += p->radius[i] + 1;
		for (int bit = p->first_bit[i]; bit < p->first_bit[i] + p->n_bits[i]; bit++) {
			ck_assert_msg(bit < p->bits, "%s: bit %d", where, bit);
			ck_assert_msg(!(seen.w[bit / 64] >> (bit % 64) & 1), "%s: bit %d twice", where, bit);
			seen.w[bit / 64] |= UINT64_C(1) << (bit % 64);
		}
	}
	ck_assert_msg(sum == p->k + 1, "%s: radii sum to %d", where, sum - p->n_blocks);
}

static const size_t counts[] = { 2, 1000, 100000, 1000000000 };

START_TEST(pigeonhole)
{
	int bits = 64 << _i;
	for (int k = 0; k <= bits / 4; k += 1 + (k > 8) * bits / 64)
		for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
			char where[64];
			struct pd_index_plan p;
			snprintf(where, sizeof where, "%d bits, k=%d, %zu keys", bits, k, counts[n]);
			ck_assert_msg(!pd_index_plan_choose(&p, PD_PLAN_BLOCKS, bits, k, counts[n], 0, NULL), "%s", where);
			ck_assert_msg(p.kind == PD_PLAN_BLOCKS && p.k == k && p.bits == bits, "%s: kind", where);
			check_blocks(&p, where);
		}
}
END_TEST

/* The list of --explain is ordered by cost and contains each number of blocks once; AUTO takes its first plan,
 * except for paper. */
START_TEST(list)
{
	static const struct {
		int bits, k;
		size_t n, against;
	} rows[] = {
		{ 64, 0, 10, 0 },	  { 64, 3, 1000000, 0 },   { 64, 3, 10000000, 1000 }, { 64, 8, 1000000, 0 },
		{ 64, 14, 100000000, 0 }, { 128, 20, 1000000, 0 }, { 256, 12, 1000000, 5 },   { 256, 64, 0, 0 },
	};
	struct pd_index_plan all[PD_PLANS_MAX], chosen, *first;
	char where[64];
	ck_assert(!pd_index_plan_choose(&chosen, PD_PLAN_AUTO, rows[_i].bits, rows[_i].k, rows[_i].n, rows[_i].against, NULL));
	int n = pd_index_plan_list(all, rows[_i].bits, rows[_i].k, rows[_i].n, rows[_i].against), kinds[PD_PLAN_ALL + 1] = { 0 };
	for (int i = 0; i < n; i++) {
		snprintf(where, sizeof where, "row %d, plan %d", _i, i);
		kinds[all[i].kind]++;
		ck_assert_msg(!i || all[i - 1].cost <= all[i].cost, "%s: cheaper than the one before", where);
		if (all[i].kind == PD_PLAN_BLOCKS)
			check_blocks(&all[i], where);
		for (int j = 0; j < i; j++)
			ck_assert_msg(all[i].kind != all[j].kind || all[i].n_blocks != all[j].n_blocks, "%s: twice", where);
	}
	ck_assert_int_eq(kinds[PD_PLAN_PAPER], rows[_i].k <= 3);
	ck_assert_int_eq(kinds[PD_PLAN_ALL], 1);
	ck_assert_int_ge(kinds[PD_PLAN_BLOCKS], 3);
	first = &all[all[0].kind == PD_PLAN_PAPER];
	ck_assert_msg(first->kind == chosen.kind && first->n_blocks == chosen.n_blocks &&
			      !memcmp(first->n_bits, chosen.n_bits, sizeof chosen.n_bits),
		      "row %d: AUTO takes another", _i);
}
END_TEST

/* A partition of the work: used bits are not used again, and blocks that separate no keys are not split. */
START_TEST(plan_subjoin)
{
	struct pd_index_subjoin subjoin = { .n_a = 100000 };
	struct pd_index_plan p = { .bits = 64, .k = 3, .scan = pd_index_scan_best() };
	subjoin.usable.w[0] = UINT64_C(0xffff0000ffffffff);
	subjoin.varying.w[0] = UINT64_C(0xffff00000000ffff);
	pd_index_plan_subjoin(&p, PD_PLAN_AUTO, &subjoin);
	ck_assert_int_eq(p.kind, PD_PLAN_BLOCKS);
	check_blocks(&p, "subjoin");
	for (int i = 0; i < p.n_blocks; i++)
		ck_assert_msg(p.first_bit[i] + p.n_bits[i] <= 16 || p.first_bit[i] >= 48, "block at %d", p.first_bit[i]);
	subjoin.varying.w[0] = 0;
	p.k = 3;
	pd_index_plan_subjoin(&p, PD_PLAN_BLOCKS, &subjoin);
	ck_assert_int_eq(p.kind, PD_PLAN_ALL);
}
END_TEST

static const struct default_k {
	int bits;
	size_t n;
	int k;
} default_ks[] = {
	{ 64, 0, 12 },	       { 64, 1, 12 },	     { 64, 5000, 12 },	   { 64, 20000, 11 },
	{ 64, 100000, 10 },    { 64, 1000000, 9 },   { 64, 10000000, 7 },  { 64, 100000000, 6 },
	{ 64, 1000000000, 5 }, { 128, 1000000, 25 }, { 256, 1000000, 51 },
};

START_TEST(default_k)
{
	const struct default_k *d = &default_ks[_i];
	int k = pd_index_default_k(d->bits, d->n);
	ck_assert_msg(k == d->k, "%d bits, %zu pages: k %d, not %d", d->bits, d->n, k, d->k);
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
	Suite *s = suite_create("plan");
	TCase *t = tcase_create("plan");
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, choose, 0, N(choices));
	tcase_add_loop_test(t, pigeonhole, 0, 3);
	tcase_add_loop_test(t, list, 0, 8);
	tcase_add_test(t, plan_subjoin);
	tcase_add_loop_test(t, default_k, 0, N(default_ks));
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
