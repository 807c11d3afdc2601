/* SPDX-License-Identifier: MIT */
#include "tools/eval.h"

#include <inttypes.h>
#include <math.h>

#include "pipeline.h"
#include "row/columns.h"
#include "row/write.h"

static bool has_measure(const struct pd_score_group *g, int measure)
{
	return !g->no_precision || measure == PD_RECALL;
}

/* Weighted counts may not be integers. */
static void add_weighted_count(struct pd_buf *out, double v)
{
	pd_buf_printf(out, v == floor(v) ? "%.0f" : "%.2f", v);
}

static void print_group(const struct pd_score_group *g, struct pd_buf *out)
{
	pd_local_buf name = { 0 };
	pd_buf_printf(&name, "%s%s%.*s", g->by, g->value.n ? " " : "", (int)g->value.n, g->value.p);
	pd_buf_printf(out, "%-16s", name.p);
	for (int m = 0; m < PD_MEASURES; m++) {
		if (!has_measure(g, m))
			pd_buf_printf(out, "  %-22s", "-");
		else if (isnan(g->low[m]))
			pd_buf_printf(out, "  %-22.4f", pd_measure(&g->counts, (enum pd_measure)m));
		else
			pd_buf_printf(out, "  %.4f (%.4f-%.4f)", pd_measure(&g->counts, (enum pd_measure)m), g->low[m], g->high[m]);
	}
	pd_buf_add_z(out, "  ");
	add_weighted_count(out, g->counts.hits);
	pd_buf_add_z(out, " / ");
	add_weighted_count(out, g->counts.wanted);
	if (!g->no_precision) {
		pd_buf_add_z(out, ", ");
		add_weighted_count(out, g->counts.wrong);
	}
	pd_buf_add_c(out, '\n');
}

static void add_figure(struct pd_buf *out, bool there, double v)
{
	if (there && !isnan(v))
		pd_buf_printf(out, "%.6f\t", v);
	else
		pd_buf_add_z(out, "-\t");
}

void pd_eval_print(const struct pd_score *s, enum pd_eval_format format, int samples, uint64_t seed, struct pd_buf *out)
{
	if (format == PD_EVAL_TEXT) {
		pd_buf_printf(out, "%-16s  %-22s  %-22s  %-22s  %s\n", "", "precision", "recall", "F1", "found true / true, false");
		for (size_t i = 0; i < s->n_groups; i++)
			print_group(&s->groups[i], out);
		if (s->truth->templates.n)
			pd_buf_printf(out, "false pairs that share a template: %" PRIu64 "\n", s->same_template);
		pd_buf_printf(out, "%s: %" PRIu64 "\n", s->truth->labels ? "pairs without a label" : "pairs naming an unknown page",
			      s->unknown);
	}
	if (format == PD_EVAL_TSV) {
		pd_buf_printf(out, "# pagededup eval 1 | true_level=%d bootstrap=%d seed=%" PRIu64 " unknown=%" PRIu64 "\n",
			      s->truth->o->true_level, samples, seed, s->unknown);
		pd_row_names(pd_eval_columns, out);
	}
	if (format != PD_EVAL_TEXT) {
		bool json = format == PD_EVAL_JSONL;
		struct pd_json *j = json ? pd_json_new() : NULL;
		for (size_t i = 0; i < s->n_groups; i++) {
			size_t at = out->n;
			pd_buf_printf(out, "%s\t%.*s\t", s->groups[i].by, s->groups[i].value.n ? (int)s->groups[i].value.n : 1,
				      s->groups[i].value.n ? s->groups[i].value.p : "-");
			for (int m = 0; m < PD_MEASURES; m++) {
				add_figure(out, has_measure(&s->groups[i], m),
					   pd_measure(&s->groups[i].counts, (enum pd_measure)m));
				add_figure(out, has_measure(&s->groups[i], m), s->groups[i].low[m]);
				add_figure(out, has_measure(&s->groups[i], m), s->groups[i].high[m]);
			}
			add_weighted_count(out, s->groups[i].counts.hits);
			pd_buf_add_c(out, '\t');
			add_weighted_count(out, s->groups[i].counts.wanted);
			pd_buf_add_c(out, '\t');
			if (s->groups[i].no_precision)
				pd_buf_add_c(out, '-');
			else
				add_weighted_count(out, s->groups[i].counts.wrong);
			pd_buf_add_c(out, '\n');
			if (json)
				pd_row_to_jsonl(j, pd_eval_columns, out, at);
		}
		pd_json_free(j);
	}
}

/* --- sweep --- */

enum { SHOWN = 9 };

static double f1_at(const struct pd_sweep_setting *s, int k)
{
	return pd_measure(&s->at[k], PD_F1);
}

void pd_sweep_print(const struct pd_sweep *s, enum pd_eval_format format, struct pd_buf *out)
{
	if (format == PD_EVAL_TEXT) {
		/* Print every n-th k, so that the table fits a screen. */
		int step = s->max_k / SHOWN + 1;
		pd_buf_printf(out, "%-5s %-8s %-8s %7s %10s %8s %8s   F1 at k =", "bits", "shingle", "weights", "best k",
			      "precision", "recall", "F1");
		for (int k = 0; k <= s->max_k; k += step)
			pd_buf_printf(out, " %6d", k);
		pd_buf_add_c(out, '\n');
		for (int i = 0; i < s->n_settings; i++) {
			const struct pd_sweep_setting *set = &s->settings[i];
			int best = 0;
			for (int k = 1; k <= s->max_k; k++)
				if (f1_at(set, k) > f1_at(set, best))
					best = k;
			pd_buf_printf(out, "%-5d %-8d %-8s %7d %10.4f %8.4f %8.4f            ", set->sign.bits, set->sign.shingle,
				      pd_weights_names[set->sign.weights], best, pd_measure(&set->at[best], PD_PRECISION),
				      pd_measure(&set->at[best], PD_RECALL), f1_at(set, best));
			for (int k = 0; k <= s->max_k; k += step)
				pd_buf_printf(out, " %6.4f", f1_at(set, k));
			pd_buf_add_c(out, '\n');
		}
	} else {
		bool json = format == PD_EVAL_JSONL;
		struct pd_json *j = pd_json_new();
		if (!json) {
			pd_buf_printf(out, "# pagededup sweep 1 | pages=%" PRIu64 " of=%zu true_level=%d verify=%s end=total\n",
				      s->n_seen, s->truth->pages.n, s->truth->o->true_level, s->verified ? "yes" : "no");
			pd_row_names(pd_sweep_columns, out);
		}
		for (int i = 0; i < s->n_settings; i++)
			for (int k = 0; k <= s->max_k; k++) {
				size_t at = out->n;
				pd_buf_printf(
					out, "%d\t%d\t%s\t%d\t%.6f\t%.6f\t%.6f\t%.10g\t%.10g\t%.10g\n", s->settings[i].sign.bits,
					s->settings[i].sign.shingle, pd_weights_names[s->settings[i].sign.weights], k,
					pd_measure(&s->settings[i].at[k], PD_PRECISION),
					pd_measure(&s->settings[i].at[k], PD_RECALL), pd_measure(&s->settings[i].at[k], PD_F1),
					s->settings[i].at[k].hits, s->settings[i].at[k].wanted, s->settings[i].at[k].wrong);
				if (json)
					pd_row_to_jsonl(j, pd_sweep_columns, out, at);
			}
		if (!json)
			pd_buf_printf(out, "# total rows=%d\n", s->n_settings * (s->max_k + 1));
		pd_json_free(j);
	}
}
