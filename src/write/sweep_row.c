/* SPDX-License-Identifier: MIT */
#include "write/sweep_row.h"

#include <inttypes.h>

#include "pipeline.h"
#include "write/jsonl.h"

enum { SHOWN = 9 };

const char *const pd_sweep_columns[] = {
	"bits", "shingle", "weights", "k", "precision", "recall", "f1", "found_true", "true", "false", NULL,
};

static double f1(const struct pd_sweep_setting *s, int k)
{
	return pd_measure(&s->at[k], PD_F1);
}

static int best_k(const struct pd_sweep *s, const struct pd_sweep_setting *set)
{
	int best = 0;
	for (int k = 1; k <= s->max_k; k++)
		if (f1(set, k) > f1(set, best))
			best = k;
	return best;
}

static void add_row(const struct pd_sign_options *o, const struct pd_counts *c, int k, struct pd_buf *out)
{
	pd_buf_printf(out, "%d\t%d\t%s\t%d\t%.6f\t%.6f\t%.6f\t%.10g\t%.10g\t%.10g\n", o->bits, o->shingle, pd_weights_names[o->weights], k,
		      pd_measure(c, PD_PRECISION), pd_measure(c, PD_RECALL), pd_measure(c, PD_F1), c->hits, c->wanted, c->wrong);
}

static void print_rows(const struct pd_sweep *s, const struct pd_sign_options *sign, bool json, struct pd_buf *out)
{
	struct pd_json *j = pd_json_new();
	if (!json) {
		pd_buf_printf(out, "# pagededup sweep 1 | pages=%" PRIu64 " of=%zu true_level=%d verify=%s\n", s->n_seen, s->truth->pages.n,
			      s->truth->o->true_level, s->verify.off ? "no" : "yes");
		for (int i = 0; pd_sweep_columns[i]; i++)
			pd_buf_printf(out, "%s%s", i ? "\t" : "#", pd_sweep_columns[i]);
		pd_buf_add_c(out, '\n');
	}
	for (int i = 0; i < s->n_settings; i++)
		for (int k = 0; k <= s->max_k; k++) {
			size_t at = out->n;
			add_row(&sign[i], &s->settings[i].at[k], k, out);
			if (json)
				pd_jsonl_row(j, pd_sweep_columns, out, at);
		}
	pd_json_free(j);
}

/* Every so many k, so that the table fits a screen. */
static void print_table(const struct pd_sweep *s, const struct pd_sign_options *sign, struct pd_buf *out)
{
	int step = s->max_k / SHOWN + 1;
	pd_buf_printf(out, "%-5s %-8s %-8s %7s %10s %8s %8s   F1 at k =", "bits", "shingle", "weights", "best k", "precision", "recall", "F1");
	for (int k = 0; k <= s->max_k; k += step)
		pd_buf_printf(out, " %6d", k);
	pd_buf_add_c(out, '\n');
	for (int i = 0; i < s->n_settings; i++) {
		const struct pd_sweep_setting *set = &s->settings[i];
		int best = best_k(s, set);
		pd_buf_printf(out, "%-5d %-8d %-8s %7d %10.4f %8.4f %8.4f            ", sign[i].bits, sign[i].shingle,
			      pd_weights_names[sign[i].weights], best, pd_measure(&set->at[best], PD_PRECISION),
			      pd_measure(&set->at[best], PD_RECALL), f1(set, best));
		for (int k = 0; k <= s->max_k; k += step)
			pd_buf_printf(out, " %6.4f", f1(set, k));
		pd_buf_add_c(out, '\n');
	}
}

void pd_sweep_print(const struct pd_sweep *s, const struct pd_sign_options *sign, enum pd_eval_format format, struct pd_buf *out)
{
	if (format == PD_EVAL_TEXT)
		print_table(s, sign, out);
	else
		print_rows(s, sign, format == PD_EVAL_JSONL, out);
}
