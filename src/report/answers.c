/* SPDX-License-Identifier: MIT */
#include "report/answers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/tempfile.h"

struct answer {
	uint64_t cluster, at;		/* at: in the file of rows */
	uint32_t bytes;
	bool goes;
};

struct answers {
	FILE *rows;			/* as they come */
	struct answer *v;
	size_t n, cap;
	uint64_t at;
	struct pd_buf line;
};

static int add(struct answers *a, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	struct answer answer = { .at = a->at, .goes = pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "1") };
	if (pd_span_is(f[PD_VERDICTS_CLUSTER_ID], "-"))		/* not kept, and no duplicate */
		return PD_OK;
	if (!pd_span_u64(f[PD_VERDICTS_CLUSTER_ID], &answer.cluster))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": cluster_id is no number", in->path, in->line_no);
	pd_buf_clear(&a->line);
	for (int i = 0; i < PD_VERDICTS_COLUMNS; i++) {
		if (f[i].n)
			pd_buf_add_span(&a->line, f[i]);
		else
			pd_buf_add_c(&a->line, '-');
		pd_buf_add_c(&a->line, i + 1 < PD_VERDICTS_COLUMNS ? '\t' : '\n');
	}
	answer.bytes = (uint32_t)a->line.n;
	a->v = pd_grow(a->v, a->n, &a->cap, sizeof *a->v);
	a->v[a->n++] = answer;
	a->at += a->line.n;
	if (fwrite(a->line.p, 1, a->line.n, a->rows) != a->line.n)
		return pd_fail_errno(e, "cannot write a temporary file");
	return PD_OK;
}

static int gather(struct answers *a, struct pd_tsv_reader *in, void (*bad_row)(void *ctx, const char *why), void *ctx, struct pd_err *e)
{
	int status = 1;
	for (; status; status = pd_tsv_next(in, e)) {
		if (status > 0)
			status = add(a, in, e);
		if (status == PD_ERR_FORMAT)
			bad_row(ctx, e->text);
		else if (status)
			return status;
	}
	return fflush(a->rows) ? pd_fail_errno(e, "cannot write a temporary file") : PD_OK;
}

static int by_cluster(const void *x, const void *y)
{
	const struct answer *a = x, *b = y;
	if (a->cluster != b->cluster)
		return a->cluster < b->cluster ? -1 : 1;
	if (a->goes != b->goes)
		return a->goes ? 1 : -1;
	return a->at < b->at ? -1 : 1;
}

static int load(struct answers *a, const struct answer *answer, struct pd_err *e)
{
	pd_buf_clear(&a->line);
	char *p = pd_buf_reserve(&a->line, answer->bytes);
	if (fseeko(a->rows, (off_t)answer->at, SEEK_SET) < 0 || fread(p, 1, answer->bytes, a->rows) != answer->bytes)
		return pd_fail_errno(e, "cannot read a temporary file");
	a->line.n = answer->bytes;
	return PD_OK;
}

/* The page that the first of a cluster goes for, where that page was not asked about. */
static void write_kept(struct answers *a, uint64_t cluster, FILE *out)
{
	struct pd_span f[PD_VERDICTS_COLUMNS] = { 0 };
	pd_tsv_fields(pd_buf_span(&a->line), f, PD_VERDICTS_COLUMNS);
	fprintf(out, "%" PRIu64 "\t%.*s\t-\t0\t-\t-\t-\t-\t-\t1\tkept before\n", cluster, (int)f[PD_VERDICTS_DUP_OF].n,
		f[PD_VERDICTS_DUP_OF].p);
}

static int write_cluster(struct answers *a, const struct answer *v, size_t n, FILE *out, struct pd_err *e)
{
	bool any = v[n - 1].goes, kept = !v[0].goes;
	for (size_t i = 0; i < n && any; i++) {
		if (i && !v[i].goes)		/* asked about again */
			continue;
		int status = load(a, &v[i], e);
		if (status)
			return status;
		if (!i && !kept)
			write_kept(a, v[0].cluster, out);
		fwrite(a->line.p, 1, a->line.n, out);
	}
	return PD_OK;
}

static int write_sorted(struct answers *a, FILE *out, struct pd_err *e)
{
	int status = PD_OK;
	if (a->n)
		qsort(a->v, a->n, sizeof *a->v, by_cluster);
	for (size_t i = 0, n; i < a->n && !status; i += n) {
		for (n = 1; i + n < a->n && a->v[i + n].cluster == a->v[i].cluster;)
			n++;
		status = write_cluster(a, a->v + i, n, out, e);
	}
	if (!status && (ferror(out) || fflush(out)))
		status = pd_fail_errno(e, "cannot write a temporary file");
	return status;
}

int pd_report_answers_sort(struct pd_tsv_reader *in, const char *tmp_dir, void (*bad_row)(void *ctx, const char *why), void *ctx,
			   FILE **out, struct pd_err *e)
{
	struct answers a = { .rows = pd_tempfile_open(tmp_dir, e) };
	*out = a.rows ? pd_tempfile_open(tmp_dir, e) : NULL;
	int status = *out ? gather(&a, in, bad_row, ctx, e) : PD_ERR_SYSTEM;
	if (!status)
		status = write_sorted(&a, *out, e);
	if (a.rows)
		fclose(a.rows);
	if (status && *out)
		fclose(*out);
	free(a.v);
	pd_buf_release(&a.line);
	return status;
}
