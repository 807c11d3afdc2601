/* SPDX-License-Identifier: MIT
 * pagededup store add, check: fp rows -> answers, batch by batch.  An answer is written when what it says is durable. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/threads.h"
#include "base/tsv.h"
#include "cmd/store.h"
#include "write/answer_row.h"
#include "write/jsonl.h"

enum { BATCH = 16384, BATCH_BYTES = 8 << 20 };	/* rows, and bytes of their texts, that are judged at once */

struct asking {
	struct pd_store_run *r;
	struct pd_tsv_reader in;
	struct pd_store_judge judge;
	struct pd_store_page *pages;
	size_t *text_at;
	size_t n, batch;
	struct pd_buf text, out;
	struct pd_json *json;		/* NULL: a table */
	bool header_written;
	uint64_t counts[PD_STORE_REPLACED + 1];
};

static int on_answer(void *ctx, const struct pd_store_answer *a)
{
	struct asking *q = ctx;
	q->counts[a->status]++;
	for (size_t i = 0; i < a->n_matches; i++)
		q->counts[PD_STORE_REPLACED] += a->matches[i].gone;
	pd_write_answers(a, q->json, &q->out);
	return PD_OK;
}

static int write_out(struct asking *q)
{
	size_t n = q->out.n;
	if (n && (fwrite(q->out.p, 1, n, stdout) != n || fflush(stdout)))
		return pd_fail_errno(&q->r->err, "cannot write standard output");
	pd_buf_clear(&q->out);
	return PD_OK;
}

static void write_header(struct asking *q)
{
	if (!q->header_written && !q->json)
		pd_write_answers_header(&q->r->store, &q->judge.o, &q->out);
	q->header_written = true;
}

static int answer_batch(struct asking *q)
{
	struct pd_store_run *r = q->r;
	write_header(q);
	for (size_t i = 0; i < q->n; i++)
		q->pages[i].text.p = q->text.p + q->text_at[i];
	int status = pd_store_judge_batch(&q->judge, q->pages, q->n, on_answer, q, &r->err);
	if (!status && q->judge.o.keep)
		status = pd_store_sync(&r->store, &r->err);
	if (!status)
		status = write_out(q);
	if (!status && q->judge.o.keep)
		status = pd_store_tend(&r->store, false, &r->err);
	q->n = 0;
	pd_buf_clear(&q->text);
	return status;
}

/* What is wrong with one row names it; other parameters end the run. */
static int in_row(struct asking *q, int status)
{
	struct pd_err *e = &q->r->err;
	char why[sizeof e->text];
	snprintf(why, sizeof why, "%s", e->text);
	return pd_fail(e, status, "%s:%" PRIu64 ": %.400s", q->in.path, q->in.line_no, why);
}

static int take_row(struct asking *q)
{
	struct pd_store *s = &q->r->store;
	q->text_at[q->n] = q->text.n;
	int status = pd_store_settle_row(s, q->in.fields[PD_FP_PARAMS], &q->r->err);
	if (!status)
		status = pd_store_page_take(&q->pages[q->n], q->in.fields, s->m.bits, &s->sketch, &q->text, &q->r->err);
	if (status)
		return in_row(q, status);
	q->n++;
	return PD_OK;
}

static int settle(struct asking *q)
{
	struct pd_tsv_header *h = &q->in.header;
	q->in.new_header = false;
	return pd_store_settle(&q->r->store, pd_buf_span(&h->must), pd_buf_span(&h->recorded), q->in.path, &q->r->err);
}

/* Rows without a header say nothing of their sketches: they are the usual ones, if any. */
static int assume_sketch(struct asking *q)
{
	struct pd_store *s = &q->r->store;
	struct pd_span column = q->in.fields[PD_FP_SKETCH];
	struct pd_buf name = { 0 };
	const struct pd_sketch_options usual = PD_SKETCH_DEFAULT;
	if (s->m.sketch[0] || !column.n || pd_span_is(column, "-") || q->in.header.recorded.n)
		return PD_OK;
	pd_buf_add_z(&name, "sketch=");
	pd_sketch_print(&usual, &name);
	int status = pd_store_settle(s, pd_span(NULL, 0), pd_buf_span(&name), q->in.path, &q->r->err);
	pd_buf_release(&name);
	return status;
}

static int ask_all(struct asking *q)
{
	struct pd_err *e = &q->r->err;
	int status;
	while ((status = pd_tsv_next(&q->in, e)) != 0) {
		if (status > 0 && q->in.new_header)
			status = settle(q);
		if (status >= 0)
			status = assume_sketch(q);
		if (status >= 0)
			status = take_row(q);
		if (status == PD_ERR_FORMAT)
			pd_store_run_damaged(q->r, e->text);
		else if (status)
			return status;
		status = q->n == q->batch || q->text.n > BATCH_BYTES ? answer_batch(q) : PD_OK;
		if (status)
			return status;
	}
	if (q->in.new_header)
		status = settle(q);
	return status ? status : answer_batch(q);
}

static void write_totals(struct asking *q)
{
	struct pd_span rest = pd_buf_span(&q->in.totals), line;
	while (!q->json && rest.n && pd_span_split(&rest, '\n', &line))
		pd_buf_printf(&q->out, "# total %.*s\n", (int)line.n, line.p);
}

static void close_run(struct asking *q)
{
	struct pd_buf line = { 0 };
	uint64_t n = q->counts[PD_STORE_NEW] + q->counts[PD_STORE_KEPT] + q->counts[PD_STORE_DUPLICATE];
	pd_buf_count(&line, n, "page");
	pd_buf_printf(&line, ", %" PRIu64 " new, %" PRIu64 " kept already, ", q->counts[PD_STORE_NEW], q->counts[PD_STORE_KEPT]);
	pd_buf_count(&line, q->counts[PD_STORE_DUPLICATE], "duplicate");
	if (q->counts[PD_STORE_REPLACED])
		pd_buf_printf(&line, ", %" PRIu64 " replaced", q->counts[PD_STORE_REPLACED]);
	if (q->r->bad) {
		pd_buf_add_z(&line, ", ");
		pd_buf_count(&line, q->r->bad, "bad row");
		pd_buf_add_z(&line, " left out");
	}
	pd_log_note(q->r->log, "%s, %.1f s", line.p, pd_wall_seconds() - q->r->started);
	pd_buf_release(&line);
}

static int judge_options(struct asking *q, bool keep)
{
	const struct pd_store_options *o = q->r->o;
	struct pd_store_judge_options *j = &q->judge.o;
	int k = q->r->store.m.k;
	*j = (struct pd_store_judge_options){ .keep = keep, .k = o->k >= 0 ? o->k : k };
	int status = pd_verify_settle(&o->second_look, o->preset == 1, &j->verify, &q->r->err);
	if (status)
		return status;
	if (j->k > k)
		return pd_fail(&q->r->err, PD_ERR_USAGE, "k %d: the store %s is made for distances up to %d", j->k, q->r->dir, k);
	j->on_duplicate = o->on_duplicate >= 0 ? (enum pd_store_on_duplicate)o->on_duplicate :
			  o->preset == 1 ? PD_STORE_REPLACE : PD_STORE_SKIP;
	j->same_url = o->same_url > 0 ? PD_STORE_SAME_URL_UPDATE : PD_STORE_SAME_URL_JUDGE;
	j->verify.k_unknown = q->r->store.m.alone < j->k ? q->r->store.m.alone : j->k;
	return PD_OK;
}

static int ask(struct asking *q, bool keep)
{
	struct pd_store_run *r = q->r;
	int status = pd_store_open(&r->store, r->dir, keep ? PD_STORE_WRITE : PD_STORE_READ, &r->err);
	if (!status)
		status = judge_options(q, keep);
	q->judge.s = &r->store;
	if (!status)
		status = ask_all(q);
	if (status)
		return status;
	write_totals(q);
	status = write_out(q);
	return status || !keep ? status : pd_store_tend(&r->store, true, &r->err);
}

static int run(struct pd_store_run *r, bool keep)
{
	bool live = r->o->line_buffered || (!r->n_operands && isatty(STDIN_FILENO));
	struct asking q = { .r = r,
			    .in = { .kind = "fp",
				    .columns = pd_fp_columns,
				    .v1_columns = pd_fp_columns,
				    .paths = r->operands,
				    .n_paths = r->n_operands },
			    .batch = live ? 1 : BATCH,
			    .json = r->o->format == PD_ROWS_JSONL ? pd_json_new() : NULL };
	q.pages = pd_alloc(q.batch * sizeof *q.pages);
	q.text_at = pd_alloc(q.batch * sizeof *q.text_at);
	int status = ask(&q, keep);
	if (!status)
		close_run(&q);
	pd_store_judge_release(&q.judge);
	pd_tsv_release(&q.in);
	pd_json_free(q.json);
	pd_buf_release(&q.text);
	pd_buf_release(&q.out);
	free(q.pages);
	free(q.text_at);
	return status;
}

int pd_store_run_add(struct pd_store_run *r)
{
	return run(r, true);
}

int pd_store_run_check(struct pd_store_run *r)
{
	return run(r, false);
}
