/* SPDX-License-Identifier: MIT */
#include "report/sweep.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/tsv.h"
#include "report/markup.h"
#include "write/eval_rows.h"

enum { BITS, SHINGLE, WEIGHTS, K, PRECISION, RECALL, F1 };

/* --- reading --- */

static int fail_cell(const struct pd_tsv_reader *in, const char *what, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", in->path, in->line_no, what);
}

/* A number from 0 to 1. */
static bool share_of(struct pd_span s, double *out)
{
	char z[32], *end;
	if (!s.n || s.n >= sizeof z)
		return false;
	memcpy(z, s.p, s.n);
	z[s.n] = 0;
	*out = strtod(z, &end);
	return !*end && *out >= 0 && *out <= 1;
}

/* A setting begins with k = 0. */
static struct pd_report_setting *setting_of(struct pd_report_sweep *s, uint64_t bits, uint64_t shingle,
					    struct pd_span weights,
					    uint64_t k)
{
	for (int i = 0; i < s->n; i++)
		if (s->v[i]->bits == bits && s->v[i]->shingle == shingle && pd_span_is(weights, s->v[i]->weights))
			return s->v[i];
	if (k || s->n == PD_REPORT_SETTINGS || weights.n >= sizeof s->v[0]->weights)
		return NULL;
	struct pd_report_setting *v = pd_zalloc(sizeof *v);
	v->bits = bits;
	v->shingle = shingle;
	memcpy(v->weights, weights.p, weights.n);
	return s->v[s->n++] = v;
}

static int read_setting(struct pd_report_sweep *s, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	uint64_t bits, shingle, k;
	double precision, recall, f1;
	if (!pd_span_u64(f[BITS], &bits) || !pd_span_u64(f[SHINGLE], &shingle) || !f[WEIGHTS].n)
		return fail_cell(in, "no setting", e);
	if (!pd_span_u64(f[K], &k) || k > PD_BITS_MAX)
		return fail_cell(in, "invalid k", e);
	if (!share_of(f[PRECISION], &precision) || !share_of(f[RECALL], &recall) || !share_of(f[F1], &f1))
		return fail_cell(in, "precision, recall and f1 are not from 0 to 1", e);
	struct pd_report_setting *v = setting_of(s, bits, shingle, f[WEIGHTS], k);
	if (!v)
		return fail_cell(in, "a setting that does not begin with k 0, or one more than can be shown", e);
	if (k != (uint64_t)v->n_k)
		return fail_cell(in, "rows of a setting do not follow k", e);
	v->precision[k] = precision;
	v->recall[k] = recall;
	v->f1[k] = f1;
	v->best = f1 > v->f1[v->best] ? (int)k : v->best;
	v->n_k++;
	return PD_OK;
}

static double best_of(const struct pd_report_setting *v)
{
	return v->f1[v->best];
}

/* There are few. */
static void best_first(struct pd_report_sweep *s)
{
	for (int i = 1; i < s->n; i++)
		for (int j = i; j > 0 && best_of(s->v[j]) > best_of(s->v[j - 1]); j--) {
			struct pd_report_setting *v = s->v[j];
			s->v[j] = s->v[j - 1];
			s->v[j - 1] = v;
		}
}

int pd_report_sweep_read(struct pd_report_sweep *s, const struct pd_report_reading *o, struct pd_err *e)
{
	char *path = (char *)o->path;
	struct pd_tsv_reader in = { .kind = "sweep",
				    .columns = pd_write_sweep_columns,
				    .v1_columns = pd_write_sweep_columns,
				    .paths = &path,
				    .n_paths = 1 };
	int status;
	while ((status = pd_tsv_next(&in, e)) != 0) {
		if (status > 0)
			status = read_setting(s, &in, e);
		if (status && status != PD_ERR_FORMAT)
			break;
		if (status) {
			s->bad++;
			o->bad_row(o->ctx, e->text);
		}
	}
	pd_tsv_release(&in);
	best_first(s);
	return status;
}

void pd_report_sweep_release(struct pd_report_sweep *s)
{
	for (int i = 0; i < s->n; i++)
		free(s->v[i]);
	s->n = 0;
}

/* --- the curves --- */

enum { WIDTH = 720, HEIGHT = 340, LEFT = 70, RIGHT = 20, TOP = 16, BOTTOM = 56, CURVES = 12, COLOURS = 6 };
enum { ACROSS = WIDTH - LEFT - RIGHT, DOWN = HEIGHT - TOP - BOTTOM };

struct sweep_scale {
	int n_k, n_drawn;
	double low;			/* F1 at the bottom */
};

static double across(const struct sweep_scale *c, int k)
{
	return c->n_k > 1 ? (double)ACROSS * k / (c->n_k - 1) : 0;
}

static double down(const struct sweep_scale *c, double f1)
{
	return (1 - f1) / (1 - c->low) * DOWN;
}

/* What lies deep below the best of every setting is not what anybody chooses by. */
static struct sweep_scale scale_of(const struct pd_report_sweep *s)
{
	struct sweep_scale c = { .n_drawn = s->n < CURVES ? s->n : CURVES, .low = 1 };
	for (int i = 0; i < c.n_drawn; i++) {
		c.n_k = s->v[i]->n_k > c.n_k ? s->v[i]->n_k : c.n_k;
		c.low = best_of(s->v[i]) < c.low ? best_of(s->v[i]) : c.low;
	}
	c.low = (int)(c.low * 10 - 1.5) / 10.;
	c.low = c.low < 0 ? 0 : c.low;
	return c;
}

static void add_axes(const struct sweep_scale *c, int k, struct pd_buf *out)
{
	int lines = (int)((1 - c->low) * 10 + .5), every = lines > 5 ? 2 : 1;
	int step = c->n_k > 40 ? 16 : c->n_k > 16 ? 4 : 2;
	for (int i = 0; i <= lines; i += every) {
		double y = TOP + down(c, 1 - i / 10.);
		pd_buf_printf(out, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>", LEFT, y, ACROSS);
		pd_buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", LEFT - 8, y + 5, 1 - i / 10.);
	}
	for (int x = 0; x < c->n_k; x += step)
		pd_buf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s%d</text>\n", LEFT + across(c, x),
			      TOP + DOWN + 28, x ? "" : "k = ", x);
	if (k >= 0 && k < c->n_k)
		pd_buf_printf(out, "<path class=\"at\" d=\"M%.1f %dv%d\"/>\n", LEFT + across(c, k), TOP, DOWN);
}

/* Six colours, and then the same with gaps. */
static void add_class(int i, struct pd_buf *out)
{
	pd_buf_printf(out, " class=\"line c%d%s\"", i % COLOURS, i >= COLOURS ? " gaps" : "");
}

static void add_line(const struct sweep_scale *c, const struct pd_report_setting *v, int i, struct pd_buf *out)
{
	pd_buf_add_z(out, "<path");
	add_class(i, out);
	pd_buf_add_z(out, " d=\"");
	for (int k = 0; k < v->n_k; k++)
		pd_buf_printf(out, "%c%.1f %.1f", k ? 'L' : 'M', across(c, k), down(c, v->f1[k]));
	pd_buf_add_z(out, "\"/><circle");
	add_class(i, out);
	pd_buf_printf(out, " cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", across(c, v->best), down(c, best_of(v)));
}

/* Lines that leave the window at the bottom are clipped by an inner svg. */
static void add_curves(const struct pd_report_sweep *s, const struct sweep_scale *c, int k, struct pd_buf *out)
{
	pd_buf_printf(out, "<svg class=\"curves\" viewBox=\"0 0 %d %d\" role=\"img\" ", WIDTH, HEIGHT);
	pd_buf_add_z(out, "aria-label=\"Curves of F1 over k, one for each setting; the table has their numbers\">\n");
	add_axes(c, k, out);
	pd_buf_printf(out, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"-6 -6 %d %d\">\n", LEFT - 6, TOP - 6,
		      ACROSS + 12, DOWN + 6, ACROSS + 12, DOWN + 6);
	for (int i = c->n_drawn; i-- > 0;)
		add_line(c, s->v[i], i, out);
	pd_buf_add_z(out, "</svg>\n</svg>\n");
}

/* --- the table --- */

static void add_setting(const struct pd_report_setting *v, int i, int k, struct pd_buf *out)
{
	pd_buf_add_z(out, "<tr><th scope=\"row\">");
	if (i < CURVES) {
		pd_buf_add_z(out, "<svg class=\"key\" viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path");
		add_class(i, out);
		pd_buf_add_z(out, " d=\"M0 4h28\"/></svg> ");
	}
	pd_buf_printf(out, "%" PRIu64 " bits, shingle %" PRIu64 ", ", v->bits, v->shingle);
	pd_markup_text(out, pd_span_z(v->weights));
	pd_buf_printf(out, "</th><td class=\"n\">%d</td><td class=\"n\">%.4f</td><td class=\"n\">%.4f</td><td class=\"n\">%.4f</td>", v->best,
		      v->precision[v->best], v->recall[v->best], best_of(v));
	pd_buf_add_z(out, "<td class=\"n\">");
	if (k >= 0 && k < v->n_k)
		pd_buf_printf(out, "%.4f</td></tr>\n", v->f1[k]);
	else
		pd_buf_add_z(out, "–</td></tr>\n");
}

void pd_report_sweep_page(const struct pd_report_sweep *s, int k, struct pd_buf *out)
{
	struct sweep_scale c = scale_of(s);
	pd_buf_add_z(out, "<h2>Other settings</h2>\n");
	if (!s->n) {
		pd_buf_add_z(out, "<p>The table of settings has no rows.</p>\n");
		return;
	}
	pd_buf_add_z(out, "<p>F1 against labelled pages at each k, as <code>eval --sweep</code> measured it, each with its best k "
			  "marked");
	pd_buf_add_z(out, k >= 0 && k < c.n_k ? "; the upright line is the k of these verdicts.</p>\n" : ".</p>\n");
	add_curves(s, &c, k, out);
	pd_buf_add_z(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Settings\">\n<table>\n<caption>Each setting at "
			  "its best k, the best first.</caption>\n<thead><tr><th scope=\"col\">setting</th><th scope=\"col\" class=\"n\">"
			  "best k</th><th scope=\"col\" class=\"n\">precision</th><th scope=\"col\" class=\"n\">recall</th>"
			  "<th scope=\"col\" class=\"n\">F1</th><th scope=\"col\" class=\"n\">F1 now</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < s->n; i++)
		add_setting(s->v[i], i, k, out);
	pd_buf_add_z(out, "</tbody>\n</table>\n</div>\n");
	if (s->n > CURVES)
		pd_buf_printf(out, "<p>The curves show the %d best of %d.</p>\n", CURVES, s->n);
	if (s->bad)
		pd_buf_printf(out, "<p>%" PRIu64 " rows of settings could not be read and are not shown.</p>\n", s->bad);
}
