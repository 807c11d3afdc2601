/* SPDX-License-Identifier: MIT */
#include "store/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tsv.h"

enum { BATCH = 16384, BATCH_BYTES = 8 << 20 };	/* rows, and bytes of their texts, that are judged at once */

struct asking {
	struct pd_store_ask *q;
	struct pd_tsv_reader in;
	struct pd_store_judge judge;
	struct pd_store_page *pages;
	size_t *text_at;
	size_t n, batch;
	struct pd_buf text;
	struct pd_err *e;
};

static int on_answer(void *ctx, const struct pd_store_answer *a)
{
	struct asking *g = ctx;
	g->q->counts[a->status]++;
	for (size_t i = 0; i < a->n_matches; i++)
		g->q->counts[PD_STORE_REPLACED] += a->matches[i].gone;
	return g->q->answer(g->q->ctx, a);
}

static int answer_batch(struct asking *g)
{
	struct pd_store_ask *q = g->q;
	for (size_t i = 0; i < g->n; i++)
		g->pages[i].text.p = g->text.p + g->text_at[i];
	int status = pd_store_judge_batch(&g->judge, g->pages, g->n, on_answer, g, g->e);
	if (!status && q->o.keep)
		status = pd_store_sync(q->s, g->e);
	if (!status)
		status = q->batch(q->ctx);
	if (!status && q->o.keep)
		status = pd_store_tend(q->s, false, g->e);
	g->n = 0;
	pd_buf_clear(&g->text);
	return status;
}

static void leave_out_row(struct asking *g)
{
	g->q->bad++;
	g->q->bad_row(g->q->ctx, g->in.path, g->e->text);
}

/* What is wrong with one row names it; other parameters end the run. */
static int fail_in_row(struct asking *g, int status)
{
	char why[sizeof g->e->text];
	snprintf(why, sizeof why, "%s", g->e->text);
	return pd_fail(g->e, status, "%s:%" PRIu64 ": %.400s", g->in.path, g->in.line_no, why);
}

static int take_row(struct asking *g)
{
	struct pd_store *s = g->q->s;
	g->text_at[g->n] = g->text.n;
	int status = pd_store_settle_row(s, g->in.fields[PD_FP_PARAMS], g->e);
	if (!status)
		status = pd_store_page_take(&g->pages[g->n], g->in.fields, s->m.bits, &s->sketch, &g->text, g->e);
	if (status)
		return fail_in_row(g, status);
	g->n++;
	return PD_OK;
}

static int settle(struct asking *g)
{
	struct pd_tsv_header *h = &g->in.header;
	g->in.new_header = false;
	return pd_store_settle(g->q->s, pd_buf_span(&h->must), pd_buf_span(&h->recorded), g->in.path, g->e);
}

/* Rows without a header say nothing of their sketches: they are the usual ones, if any. */
static int assume_sketch(struct asking *g)
{
	struct pd_store *s = g->q->s;
	struct pd_span column = g->in.fields[PD_FP_SKETCH];
	struct pd_buf name = { 0 };
	const struct pd_sketch_options usual = PD_SKETCH_DEFAULT;
	if (s->m.sketch[0] || !column.n || pd_span_is(column, "-") || g->in.header.recorded.n)
		return PD_OK;
	pd_buf_add_z(&name, "sketch=");
	pd_sketch_print(&usual, &name);
	int status = pd_store_settle(s, pd_span(NULL, 0), pd_buf_span(&name), g->in.path, g->e);
	pd_buf_release(&name);
	return status;
}

static int ask_all(struct asking *g)
{
	int status;
	while ((status = pd_tsv_next(&g->in, g->e)) != 0) {
		if (status > 0 && g->in.new_header)
			status = settle(g);
		if (status >= 0)
			status = assume_sketch(g);
		if (status >= 0)
			status = take_row(g);
		if (status == PD_ERR_FORMAT)
			leave_out_row(g);
		else if (status)
			return status;
		status = g->n == g->batch || g->text.n > BATCH_BYTES ? answer_batch(g) : PD_OK;
		if (status)
			return status;
	}
	if (g->in.new_header)
		status = settle(g);
	return status ? status : answer_batch(g);
}

int pd_store_ask(struct pd_store_ask *q, struct pd_err *e)
{
	struct asking g = { .q = q,
			    .in = { .kind = "fp",
				    .columns = pd_fp_columns,
				    .v1_columns = pd_fp_columns,
				    .paths = (char **)q->paths,
				    .n_paths = q->n_paths },
			    .judge = { .s = q->s, .o = q->o },
			    .batch = q->at_once ? 1 : BATCH,
			    .e = e };
	g.pages = pd_alloc(g.batch * sizeof *g.pages);
	g.text_at = pd_alloc(g.batch * sizeof *g.text_at);
	int status = ask_all(&g);
	pd_buf_set(&q->totals, pd_buf_span(&g.in.totals));
	pd_store_judge_release(&g.judge);
	pd_tsv_release(&g.in);
	pd_buf_release(&g.text);
	free(g.pages);
	free(g.text_at);
	return status;
}

void pd_store_ask_release(struct pd_store_ask *q)
{
	pd_buf_release(&q->totals);
}
