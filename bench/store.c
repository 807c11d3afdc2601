/* SPDX-License-Identifier: MIT
 *
 * Measure the queries of a store: the fp rows of stdin are searched one at a time, each timed, then again, and then as one
 * batch.  --verify: pairs are verified; --cold: the files of the store are first dropped from the page cache.
 *
 *	store DIR K [--verify] [--cold]
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/threads.h"
#include "row/table.h"
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
	struct pd_table_reader in = { .kind = PD_TABLE_FP };
	int status;
	while ((status = pd_table_next(&in, e)) > 0) {
		r->pages = pd_grow(r->pages, r->n, &r->cap, sizeof *r->pages);
		r->at = pd_grow(r->at, r->n, &r->cap_at, sizeof *r->at);
		r->at[r->n] = r->text.n;
		struct pd_row row;
		memcpy(row.f, in.fields, sizeof row.f);
		status = pd_row_parse(&row, &s->sketch, e);
		if (!status)
			status = pd_store_page_take(&r->pages[r->n], &row, &s->sketch, &r->text, e);
		if (status)
			return status;
		r->n++;
	}
	for (size_t i = 0; i < r->n; i++)
		r->pages[i].text.p = r->text.p + r->at[i];
	pd_table_release(&in);
	return status;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int one_at_a_time(struct pd_store_judge *j, const struct rows *r, const char *what, struct pd_err *e)
{
	double *took = pd_alloc((r->n + 1) * sizeof *took);
	size_t duplicates = 0;
	int status = PD_OK;
	for (size_t i = 0; !status && i < r->n; i++) {
		double start = pd_wall_seconds();
		status = pd_store_judge_batch(j, &r->pages[i], 1, count, &duplicates, e);
		took[i] = pd_wall_seconds() - start;
	}
	printf("%s: first %.1f us", what, took[0] * 1e6);
	qsort(took, r->n, sizeof *took, ascending);
	printf(", median %.1f us, 99th percentile %.1f us, longest %.1f us\n", took[r->n / 2] * 1e6, took[r->n * 99 / 100] * 1e6,
	       took[r->n - 1] * 1e6);
	free(took);
	return status;
}

static int in_bulk(struct pd_store_judge *j, const struct rows *r, struct pd_err *e)
{
	size_t duplicates = 0;
	double cpu = pd_cpu_seconds();
	int status = pd_store_judge_batch(j, r->pages, r->n, count, &duplicates, e);
	cpu = pd_cpu_seconds() - cpu;
	printf("in bulk: %.0f a second, %zu of %zu duplicates\n", (double)r->n / cpu, duplicates, r->n);
	return status;
}

static void forget_files(const char *dir)
{
	DIR *d = opendir(dir);
	char path[4096];
	for (struct dirent *entry; d && (entry = readdir(d));) {
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		int fd = open(path, O_RDONLY);
		if (fd >= 0 && (fdatasync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)))
			fprintf(stderr, "store: %s is not forgotten\n", path);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

static void print_plan(const struct pd_store *s, int k)
{
	for (size_t i = 0; i < s->m.n_segments; i++) {
		const struct pd_store_segment_params *f = &s->segments[i].f;
		int radius[PD_STORE_TABLES_MAX];
		pd_index_radii(k, (int)f->tables, radius);
		printf("%llu pages: %u tables of %u bits, radius", (unsigned long long)f->rows, f->tables, f->table_bits);
		for (uint32_t t = 0; t < f->tables; t++)
			printf(" %d", radius[t]);
		putchar('\n');
	}
}

static bool is_given(int argc, char **argv, const char *option)
{
	for (int i = 3; i < argc; i++)
		if (!strcmp(argv[i], option))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct pd_store s = { 0 };
	struct pd_err e = { 0 };
	struct rows r = { 0 };
	if (argc < 3) {
		fprintf(stderr, "usage: store DIR K [--verify] [--cold] < rows\n");
		return 2;
	}
	if (is_given(argc, argv, "--cold"))
		forget_files(argv[1]);
	double start = pd_wall_seconds();
	int status = pd_store_open(&s, argv[1], PD_STORE_READ, &e);
	printf("k %s, opened in %.1f ms\n", argv[2], (pd_wall_seconds() - start) * 1e3);
	struct pd_store_judge j = { .s = &s, .o = { .k = atoi(argv[2]), .verify = PD_VERIFY_DEFAULTS } };
	j.o.verify.off = !is_given(argc, argv, "--verify");
	j.o.verify.k_unknown = s.m.k_unknown < j.o.k ? s.m.k_unknown : j.o.k;
	if (!status)
		status = read_rows(&r, &s, &e);
	print_plan(&s, j.o.k);
	if (!status && r.n)
		status = one_at_a_time(&j, &r, "one at a time", &e);
	if (!status && r.n)
		status = one_at_a_time(&j, &r, "the same again", &e);
	if (!status && r.n)
		status = in_bulk(&j, &r, &e);
	if (status)
		fprintf(stderr, "store: %s\n", e.text);
	pd_store_judge_release(&j);
	pd_store_close(&s);
	pd_buf_release(&r.text);
	free(r.pages);
	free(r.at);
	return status ? 2 : 0;
}
