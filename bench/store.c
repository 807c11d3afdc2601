/* SPDX-License-Identifier: MIT
 *
 * How fast a store answers: fp rows on stdin are asked for, first one at a time, each timed, then again as one batch.
 *
 *	store DIR K
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "base/tsv.h"
#include "store/judge.h"

struct rows {
	struct pd_store_page *pages;
	size_t *at;
	size_t n, cap, cap_at;
	struct pd_buf text;
};

static int count(void *ctx, const struct pd_store_answer *a)
{
	size_t *duplicates = ctx;
	*duplicates += a->status == PD_STORE_DUPLICATE;
	return 0;
}

static int read_rows(struct rows *r, struct pd_store *s, struct pd_err *e)
{
	struct pd_tsv_reader in = { .kind = "fp", .columns = pd_fp_columns, .v1_columns = pd_fp_columns };
	int status;
	while ((status = pd_tsv_next(&in, e)) > 0) {
		r->pages = pd_grow(r->pages, r->n, &r->cap, sizeof *r->pages);
		r->at = pd_grow(r->at, r->n, &r->cap_at, sizeof *r->at);
		r->at[r->n] = r->text.n;
		status = pd_store_page_take(&r->pages[r->n], in.fields, s->m.bits, &s->sketch, &r->text, e);
		if (status)
			return status;
		r->n++;
	}
	for (size_t i = 0; i < r->n; i++)
		r->pages[i].text.p = r->text.p + r->at[i];
	pd_tsv_release(&in);
	return status;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int one_at_a_time(struct pd_judge *j, const struct rows *r, struct pd_err *e)
{
	double *took = pd_alloc((r->n + 1) * sizeof *took);
	size_t duplicates = 0;
	int status = PD_OK;
	for (size_t i = 0; !status && i < r->n; i++) {
		double start = pd_wall_seconds();
		status = pd_judge_batch(j, &r->pages[i], 1, count, &duplicates, e);
		took[i] = pd_wall_seconds() - start;
	}
	printf("first %.1f us", took[0] * 1e6);
	qsort(took, r->n, sizeof *took, ascending);
	printf(", one at a time: median %.1f us, 99th percentile %.1f us, longest %.1f us\n", took[r->n / 2] * 1e6,
	       took[r->n * 99 / 100] * 1e6, took[r->n - 1] * 1e6);
	free(took);
	return status;
}

static int in_bulk(struct pd_judge *j, const struct rows *r, struct pd_err *e)
{
	size_t duplicates = 0, batch = 16384;
	int status = PD_OK;
	double cpu = pd_cpu_seconds();
	for (size_t i = 0; !status && i < r->n; i += batch)
		status = pd_judge_batch(j, r->pages + i, r->n - i < batch ? r->n - i : batch, count, &duplicates, e);
	cpu = pd_cpu_seconds() - cpu;
	printf("in bulk: %.0f a second, %zu of %zu duplicates\n", (double)r->n / cpu, duplicates, r->n);
	return status;
}

int main(int argc, char **argv)
{
	struct pd_store s = { 0 };
	struct pd_err e = { 0 };
	struct rows r = { 0 };
	if (argc != 3) {
		fprintf(stderr, "usage: store DIR K < rows\n");
		return 2;
	}
	double start = pd_wall_seconds();
	int status = pd_store_open(&s, argv[1], PD_STORE_READ, &e);
	printf("k %s, opened in %.1f ms, ", argv[2], (pd_wall_seconds() - start) * 1e3);
	struct pd_judge j = { .s = &s, .o = { .k = atoi(argv[2]), .verify.off = true } };
	if (!status)
		status = read_rows(&r, &s, &e);
	if (!status && r.n)
		status = one_at_a_time(&j, &r, &e);
	if (!status && r.n)
		status = in_bulk(&j, &r, &e);
	if (status)
		fprintf(stderr, "store: %s\n", e.text);
	pd_judge_release(&j);
	pd_store_close(&s);
	pd_buf_release(&r.text);
	free(r.pages);
	free(r.at);
	return status ? 2 : 0;
}
