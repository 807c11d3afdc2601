/* SPDX-License-Identifier: MIT */
#include "write/pair_row.h"

#include "base/columns.h"

const char *const pd_scope_names[] = { "all", "same-host", "other-hosts", NULL };
const char *const pd_candidates_names[] = { "hamming", "bands", "both", NULL };
const char *const pd_plan_names[] = { "auto", "paper", "blocks", "all", NULL };

void pd_pairs_header(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_plan *plan, struct pd_buf *out)
{
	pd_buf_add_z(out, "# pagededup pairs 1 ");
	if (rows->must.n)
		pd_buf_printf(out, "%s ", rows->must.p);
	pd_buf_printf(out, "k=%d scope=%s links=%s ", o->k, pd_scope_names[o->scope], o->all_pairs ? "all" : "first");
	pd_buf_printf(out, "candidates=%s ", pd_candidates_names[o->candidates]);
	if (o->verify.off)
		pd_buf_add_z(out, "similarity=none");
	else
		pd_buf_printf(out, "similarity=%g similarity_same_host=%g k_unknown=%d", o->verify.least, o->verify.least_same_host,
			      o->verify.k_unknown);
	pd_buf_printf(out, " | plan=%s\n#", pd_plan_names[plan->kind]);
	for (int i = 0; i < PD_PAIRS_COLUMNS; i++)
		pd_buf_printf(out, "%s%c", pd_pairs_columns[i], i + 1 < PD_PAIRS_COLUMNS ? '\t' : '\n');
}

static void add(struct pd_buf *out, struct pd_span s)
{
	pd_buf_add_span(out, s);
	pd_buf_add_c(out, '\t');
}

static void add_end(struct pd_buf *out, const struct pd_row_view *v)
{
	add(out, v->fetch_time);
	add(out, v->text_bytes);
	add(out, v->quality);
}

void pd_pair_row(const struct pd_rows *rows, const struct pd_match_pair *pair, struct pd_buf *out)
{
	struct pd_row_view x = pd_rows_view(rows, pair->a), y = pd_rows_view(rows, pair->b);
	add(out, x.id);
	add(out, y.id);
	if (pair->distance < 0)
		pd_buf_add_z(out, "-\t");
	else
		pd_buf_printf(out, "%d\t", pair->distance);
	if (pair->similarity < 0)
		pd_buf_add_z(out, "-\t");
	else
		pd_buf_printf(out, "%.3f\t", pair->similarity);
	pd_buf_add_z(out, pair->distance < 0 ? "text_digest\t" : "simhash\t");
	add(out, x.url);
	add(out, y.url);
	add_end(out, &x);
	add_end(out, &y);
	out->p[out->n - 1] = '\n';
}
