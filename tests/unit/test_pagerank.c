/* SPDX-License-Identifier: MIT
 *
 * PageRank is that of a plain computation, and has the same bits for any order of links, any number of threads, and a
 * matrix on disk.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "link/pagerank.h"

struct list {
	uint32_t (*v)[2];
	size_t n, at;
	bool backwards;
};

static int first_link(void *ctx, struct pd_err *e)
{
	((struct list *)ctx)->at = 0;
	return 0;
}

static int next_link(void *ctx, uint32_t *from, uint32_t *to, struct pd_err *e)
{
	struct list *l = ctx;
	if (l->at == l->n)
		return 0;
	size_t i = l->backwards ? l->n - 1 - l->at : l->at;
	l->at++;
	*from = l->v[i][0];
	*to = l->v[i][1];
	return 1;
}

static int failing_link(void *ctx, uint32_t *from, uint32_t *to, struct pd_err *e)
{
	*from = *to = 0;
	return ((struct list *)ctx)->at++ < 3 ? 1 : pd_fail(e, PD_ERR_SYSTEM, "broken");
}

/* Only the first pass fails. */
static int link_failing_once(void *ctx, uint32_t *from, uint32_t *to, struct pd_err *e)
{
	struct list *l = ctx;
	*from = *to = 0;
	return l->n++ ? 0 : pd_fail(e, PD_ERR_SYSTEM, "broken once");
}

/* Make n links; page 0 has many, and the last tenth of the pages has none. */
static struct list links_new(uint32_t nodes, size_t n)
{
	struct list l = { .v = malloc((n + 1) * sizeof *l.v), .n = n };
	uint64_t state = 7;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			uint32_t number = (uint32_t)(state >> 33) % nodes;
			l.v[i][k] = k ? (i % 3 ? number : number / 50) : number * 9 / 10;
		}
	return l;
}

static void ranks_of(struct list *l, uint32_t nodes, double damping, int threads, struct pd_budget *budget, double *out)
{
	struct pd_edges edges = { .rewind = first_link, .next = next_link, .ctx = l };
	struct pd_err e = { 0 };
	uint64_t n;
	ck_assert_int_eq(pd_pagerank(&edges, nodes, damping, threads, budget, out, &n, &e), 0);
	ck_assert_uint_eq(n, l->n);
}

static const struct {
	const char *name;
	uint32_t nodes;
	size_t links;
	double damping;
} graphs[] = {
	{ "no page", 0, 0, .85 },
	{ "one page", 1, 0, .85 },
	{ "no links", 10, 0, .85 },
	{ "no damping", 300, 2000, 0 },
	{ "few links", 500, 100, .85 },
	{ "many links", 1000, 10000, .85 },
	{ "strong damping", 200, 900, .99 },
};

START_TEST(plain)
{
	uint32_t nodes = graphs[_i].nodes;
	double d = graphs[_i].damping, *rank = calloc(nodes, sizeof *rank), *old = calloc(nodes, sizeof *old),
	       *now = calloc(nodes, sizeof *now);
	uint32_t *out = calloc(nodes, sizeof *out);
	struct list l = links_new(nodes, graphs[_i].links);
	for (size_t i = 0; i < l.n; i++)
		out[l.v[i][0]]++;
	for (uint32_t v = 0; v < nodes; v++)
		old[v] = 1;
	for (int round = 0; round < (d > .9 ? 3000 : 300); round++) {
		double idle = 0;
		for (uint32_t v = 0; v < nodes; v++)
			idle += out[v] ? 0 : old[v];
		for (uint32_t v = 0; v < nodes; v++)
			now[v] = 1 - d + d * idle / nodes;
		for (size_t i = 0; i < l.n; i++)
			now[l.v[i][1]] += d * old[l.v[i][0]] / out[l.v[i][0]];
		memcpy(old, now, nodes * sizeof *old);
	}
	ranks_of(&l, nodes, d, 1, NULL, rank);
	for (uint32_t v = 0; v < nodes; v++)
		ck_assert_msg(fabs(rank[v] / old[v] - 1) < 1e-7, "%s: page %u: %.9g, expected %.9g", graphs[_i].name, v, rank[v],
			      old[v]);
	free(rank);
	free(old);
	free(now);
	free(out);
	free(l.v);
}
END_TEST

/* Rounding does not change the sums, also over many pages. */
START_TEST(exact)
{
	enum { NODES = 5000 };
	struct list l = { 0 };
	double *rank = calloc(NODES, sizeof *rank);
	ranks_of(&l, NODES, .85, 1, NULL, rank);
	for (uint32_t v = 0; v < NODES; v++)
		ck_assert_msg(rank[v] == 1, "without links, page %u has the rank %.17g", v, rank[v]);
	free(rank);
}
END_TEST

/* 1.5 million links take 6 MB, which are filled in two windows if 1 MB is allowed. */
START_TEST(same_bits)
{
	enum { NODES = 5000, LINKS = 1500000 };
	struct pd_budget small = { .limit = 1 << 20 };
	struct list l = links_new(NODES, LINKS);
	double *a = calloc(NODES, sizeof *a), *b = calloc(NODES, sizeof *b);
	ranks_of(&l, NODES, .85, 1, NULL, a);
	ranks_of(&l, NODES, .85, 3, NULL, b);
	ck_assert_msg(!memcmp(a, b, NODES * sizeof *a), "three threads give other ranks");
	l.backwards = true;
	ranks_of(&l, NODES, .85, 2, &small, b);
	ck_assert_msg(!memcmp(a, b, NODES * sizeof *a), "links in reverse order, on disk, give other ranks");
	ck_assert_uint_gt(small.in_files, 0);
	free(a);
	free(b);
	free(l.v);
}
END_TEST

START_TEST(errors)
{
	struct list l = { 0 };
	struct pd_edges edges = { .rewind = first_link, .next = failing_link, .ctx = &l };
	struct pd_budget nowhere = { .limit = 1, .tmp_dir = "/nowhere/at/all" };
	struct pd_err e = { 0 };
	double rank[1];
	uint64_t n;
	ck_assert_int_eq(pd_pagerank(&edges, 1, .85, 1, NULL, rank, &n, &e), PD_ERR_SYSTEM);
	ck_assert_str_eq(e.text, "broken");
	l = (struct list){ 0 };
	edges.next = link_failing_once;
	ck_assert_int_eq(pd_pagerank(&edges, 1, .85, 1, NULL, rank, &n, &e), PD_ERR_SYSTEM);
	l = links_new(1, 10);
	edges.next = next_link;
	ck_assert_int_eq(pd_pagerank(&edges, 1, .85, 1, &nowhere, rank, &n, &e), PD_ERR_SYSTEM);
	ck_assert(strstr(e.text, "/nowhere/at/all"));
	free(l.v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pagerank");
	TCase *t = tcase_create("ranks");
	suite_add_tcase(s, t);
	tcase_add_loop_test(t, plain, 0, (int)(sizeof graphs / sizeof *graphs));
	tcase_add_test(t, exact);
	tcase_add_test(t, same_bits);
	tcase_add_test(t, errors);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
