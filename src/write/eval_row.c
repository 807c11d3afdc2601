/* SPDX-License-Identifier: MIT */
#include "write/eval_row.h"

#include <inttypes.h>
#include <math.h>

#include "write/jsonl.h"

const char *const pd_eval_formats[] = { "text", "tsv", "jsonl", NULL };
const char *const pd_eval_columns[] = {
	"by", "value", "precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high",
	"f1", "f1_low", "f1_high", "found_true", "true", "false", NULL,
};

static bool has(const struct pd_score_group *g, int measure)
{
	return !g->no_precision || measure == PD_RECALL;
}

/* Weighted counts may be no whole numbers. */
static void add_count(struct pd_buf *out, double v)
{
	pd_buf_printf(out, v == floor(v) ? "%.0f" : "%.2f", v);
}

static void text_measure(const struct pd_score_group *g, int m, struct pd_buf *out)
{
	if (!has(g, m))
		pd_buf_printf(out, "  %-22s", "-");
	else if (isnan(g->low[m]))
		pd_buf_printf(out, "  %-22.4f", pd_measure(&g->counts, (enum pd_measure)m));
	else
		pd_buf_printf(out, "  %.4f (%.4f-%.4f)", pd_measure(&g->counts, (enum pd_measure)m), g->low[m], g->high[m]);
}

static void text_group(const struct pd_score_group *g, struct pd_buf *out)
{
	struct pd_buf name = { 0 };
	pd_buf_printf(&name, "%s%s%.*s", g->by, g->value.n ? " " : "", (int)g->value.n, g->value.p);
	pd_buf_printf(out, "%-16s", name.p);
	for (int m = 0; m < PD_MEASURES; m++)
		text_measure(g, m, out);
	pd_buf_add_z(out, "  ");
	add_count(out, g->counts.hits);
	pd_buf_add_z(out, " / ");
	add_count(out, g->counts.wanted);
	if (!g->no_precision) {
		pd_buf_add_z(out, ", ");
		add_count(out, g->counts.wrong);
	}
	pd_buf_add_c(out, '\n');
	pd_buf_release(&name);
}

static void text(const struct pd_score *s, struct pd_buf *out)
{
	pd_buf_printf(out, "%-16s  %-22s  %-22s  %-22s  %s\n", "", "precision", "recall", "F1", "found true / true, false");
	for (size_t i = 0; i < s->n_groups; i++)
		text_group(&s->groups[i], out);
	if (s->truth->templates.n)
		pd_buf_printf(out, "false pairs that share a template: %" PRIu64 "\n", s->same_template);
	pd_buf_printf(out, "%s: %" PRIu64 "\n", s->truth->labels ? "pairs without a label" : "pairs naming an unknown page", s->unknown);
}

static void tsv_number(struct pd_buf *out, bool there, double v)
{
	if (there && !isnan(v))
		pd_buf_printf(out, "%.6f\t", v);
	else
		pd_buf_add_z(out, "-\t");
}

static void tsv_group(const struct pd_score_group *g, struct pd_buf *out)
{
	pd_buf_printf(out, "%s\t%.*s\t", g->by, g->value.n ? (int)g->value.n : 1, g->value.n ? g->value.p : "-");
	for (int m = 0; m < PD_MEASURES; m++) {
		tsv_number(out, has(g, m), pd_measure(&g->counts, (enum pd_measure)m));
		tsv_number(out, has(g, m), g->low[m]);
		tsv_number(out, has(g, m), g->high[m]);
	}
	add_count(out, g->counts.hits);
	pd_buf_add_c(out, '\t');
	add_count(out, g->counts.wanted);
	pd_buf_add_c(out, '\t');
	if (g->no_precision)
		pd_buf_add_c(out, '-');
	else
		add_count(out, g->counts.wrong);
	pd_buf_add_c(out, '\n');
}

static void rows(const struct pd_score *s, bool json, struct pd_buf *out)
{
	struct pd_json *j = json ? pd_json_new() : NULL;
	for (size_t i = 0; i < s->n_groups; i++) {
		size_t at = out->n;
		tsv_group(&s->groups[i], out);
		if (json)
			pd_jsonl_row(j, pd_eval_columns, out, at);
	}
	pd_json_free(j);
}

static void header(const struct pd_score *s, int draws, uint64_t seed, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup eval 1 | true_level=%d bootstrap=%d seed=%" PRIu64 " unknown=%" PRIu64 "\n",
		      s->truth->o->true_level, draws, seed, s->unknown);
	for (int i = 0; pd_eval_columns[i]; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "#", pd_eval_columns[i]);
	pd_buf_add_c(out, '\n');
}

void pd_eval_print(const struct pd_score *s, enum pd_eval_format format, int draws, uint64_t seed, struct pd_buf *out)
{
	if (format == PD_EVAL_TEXT)
		text(s, out);
	if (format == PD_EVAL_TSV)
		header(s, draws, seed, out);
	if (format != PD_EVAL_TEXT)
		rows(s, format == PD_EVAL_JSONL, out);
}
