/* SPDX-License-Identifier: MIT */
#include "group/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/outfile.h"
#include "base/tsv.h"
#include "group/order.h"

/* Where the columns stand in a line; -1: nowhere. */
struct truth_columns {
	int page, content, level, template;
	int a, b, label, weight, distance;
	int by[PD_TRUTH_BY];
	size_t n;
};

struct truth_reader {
	struct pd_truth *t;
	const char *path;
	uint64_t line_no;
	struct truth_columns at;
	struct pd_names strata;
	struct pd_span f[PD_TSV_COLUMNS_MAX];
};

static int column_of(const struct truth_reader *in, const char *name)
{
	for (size_t i = 0; i < in->at.n; i++)
		if (pd_span_is(in->f[i], name))
			return (int)i;
	return -1;
}

static int either_column(const struct truth_reader *in, const char *first, const char *second)
{
	int at = column_of(in, first);
	return at >= 0 ? at : column_of(in, second);
}

static int find_group_columns(struct truth_reader *in, struct pd_err *e)
{
	const struct pd_truth_options *o = in->t->o;
	for (int i = 0; i < o->n_by; i++) {
		in->at.by[i] = column_of(in, o->by[i]);
		if (in->at.by[i] < 0)
			return pd_fail(e, PD_ERR_USAGE, "%s has no column '%s' to group by", in->path, o->by[i]);
	}
	return PD_OK;
}

static int read_names(struct truth_reader *in, struct pd_span line, struct pd_err *e)
{
	struct pd_truth *t = in->t;
	if (line.n && line.p[0] == '#')
		line = pd_span(line.p + 1, line.n - 1);
	in->at.n = pd_tsv_fields(line, in->f, PD_TSV_COLUMNS_MAX);
	in->at.label = column_of(in, "label");
	in->at.content = column_of(in, "content");
	in->at.level = column_of(in, "level");
	in->at.template = column_of(in, "template");
	in->at.weight = column_of(in, "weight");
	in->at.distance = column_of(in, "distance");
	in->at.page = either_column(in, "id", "url");
	in->at.a = either_column(in, "id_a", "url_a");
	t->labels = in->at.label >= 0;
	t->by_id = column_of(in, t->labels ? "id_a" : "id") >= 0;
	in->at.b = column_of(in, t->by_id ? "id_b" : "url_b");
	if (t->labels ? in->at.a < 0 || in->at.b < 0 : in->at.page < 0 || in->at.content < 0)
		return pd_fail(e, PD_ERR_VERSION, "%s is not a truth file: its first line must name the columns url (or id) and content, "
			       "or url_a, url_b (or id_a, id_b) and label", in->path);
	return find_group_columns(in, e);
}

static int fail_line(const struct truth_reader *in, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", in->path, in->line_no, why);
}

static uint32_t value_of(struct truth_reader *in, int i)
{
	return pd_names_add(&in->t->values[i], in->f[in->at.by[i]]);
}

/* Levels that are the same number are the same group, however they are written. */
static uint32_t level_value(struct truth_reader *in, int i, uint64_t level)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, level);
	return pd_names_add(&in->t->values[i], pd_span(digits, (size_t)n));
}

static int take_page(struct truth_reader *in, struct pd_err *e)
{
	struct pd_truth *t = in->t;
	size_t n = t->pages.n;
	uint64_t level = 0;
	if (in->at.level >= 0 && (!pd_span_u64(in->f[in->at.level], &level) || level >= PD_TRUTH_LEVELS))
		return fail_line(in, "level is not a number from 0 to 99", e);
	if (!in->f[in->at.page].n || !in->f[in->at.content].n)
		return fail_line(in, "a page without a name or without content", e);
	if (pd_names_add(&t->pages, in->f[in->at.page]) < n)
		return fail_line(in, "a page for the second time", e);
	t->content = pd_grow(t->content, n, &t->cap_content, sizeof *t->content);
	t->template = pd_grow(t->template, n, &t->cap_template, sizeof *t->template);
	t->level = pd_grow(t->level, n, &t->cap_level, sizeof *t->level);
	t->content[n] = pd_names_add(&t->contents, in->f[in->at.content]);
	t->template[n] = in->at.template < 0 ? PD_NO_NAME : pd_names_add(&t->templates, in->f[in->at.template]);
	t->level[n] = (int)level;
	for (int i = 0; i < t->o->n_by; i++) {
		t->by[i] = pd_grow(t->by[i], n, &t->cap_by[i], sizeof *t->by[i]);
		t->by[i][n] = in->at.by[i] == in->at.level ? level_value(in, i, level) : value_of(in, i);
	}
	return PD_OK;
}

static int kind_of_word(struct pd_span word)
{
	static const struct {
		const char *word;
		enum pd_truth_kind kind;
	} words[] = {
		{ "duplicate", PD_PAIR_TRUE }, { "different", PD_PAIR_FALSE }, { "unsure", PD_PAIR_GREY },
		{ "1", PD_PAIR_TRUE }, { "0", PD_PAIR_FALSE }, { "?", PD_PAIR_GREY },
		{ "yes", PD_PAIR_TRUE }, { "no", PD_PAIR_FALSE },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (pd_span_ieq(word, words[i].word))
			return (int)words[i].kind;
	return -1;
}

static bool read_weight(struct pd_span s, double *out)
{
	char z[40], *end;
	if (!s.n || s.n >= sizeof z)
		return false;
	memcpy(z, s.p, s.n);
	z[s.n] = 0;
	*out = strtod(z, &end);
	return !*end && isfinite(*out) && *out > 0;
}

static int take_label(struct truth_reader *in, struct pd_err *e)
{
	struct pd_truth *t = in->t;
	struct pd_label l = { .weight = 1 };
	int kind = kind_of_word(in->f[in->at.label]);
	if (kind < 0)
		return fail_line(in, "label is none of duplicate, different, unsure", e);
	if (!in->f[in->at.a].n || !in->f[in->at.b].n || pd_span_eq(in->f[in->at.a], in->f[in->at.b]))
		return fail_line(in, "not two pages", e);
	if (in->at.weight >= 0 && !read_weight(in->f[in->at.weight], &l.weight))
		return fail_line(in, "weight is not a number over 0", e);
	l.kind = (enum pd_truth_kind)kind;
	l.a = pd_names_add(&t->pages, in->f[in->at.a]);
	l.b = pd_names_add(&t->pages, in->f[in->at.b]);
	l.stratum = in->at.distance < 0 ? 0 : pd_names_add(&in->strata, in->f[in->at.distance]);
	for (int i = 0; i < t->o->n_by; i++)
		l.by[i] = value_of(in, i);
	t->label = pd_grow(t->label, t->n_labels, &t->cap_label, sizeof *t->label);
	t->label[t->n_labels++] = l;
	return PD_OK;
}

static int take_line(struct truth_reader *in, struct pd_span line, struct pd_err *e)
{
	if (!in->at.n)
		return read_names(in, line, e);
	if (line.p[0] == '#')
		return PD_OK;
	if (pd_tsv_fields(line, in->f, PD_TSV_COLUMNS_MAX) < in->at.n)
		return fail_line(in, "fewer columns than the first line names", e);
	return in->t->labels ? take_label(in, e) : take_page(in, e);
}

static int take_file(struct truth_reader *in, FILE *f, struct pd_err *e)
{
	struct pd_line_reader lines = { .f = f, .path = in->path };
	struct pd_span line;
	int status;
	while ((status = pd_line_next(&lines, &line, e)) > 0) {
		in->line_no = lines.no;
		while (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (!line.n || (line.p[0] == '#' && line.n > 1 && line.p[1] == ' '))
			continue;
		status = take_line(in, line, e);
		if (status == PD_ERR_FORMAT) {
			in->t->bad++;
			in->t->o->bad_row(in->t->o->ctx, e->text);
			status = PD_OK;
		}
		if (status)
			break;
	}
	pd_line_reader_release(&lines);
	return status;
}

static int by_name(const void *x, const void *y, void *ctx)
{
	const struct pd_names *names = ctx;
	return pd_span_cmp(names->v[*(const uint32_t *)x], names->v[*(const uint32_t *)y]);
}

static void place_pages(struct pd_truth *t)
{
	uint32_t *order = pd_order_new(t->pages.n);
	t->place = pd_alloc((t->pages.n + 1) * sizeof *t->place);
	qsort_r(order, t->pages.n, sizeof *order, by_name, &t->pages);
	for (size_t i = 0; i < t->pages.n; i++)
		t->place[order[i]] = (uint32_t)i;
	free(order);
}

static int by_pages(const void *x, const void *y)
{
	const struct pd_label *l = x, *m = y;
	if (l->a != m->a)
		return l->a < m->a ? -1 : 1;
	return (l->b > m->b) - (l->b < m->b);
}

/* A pair that was labelled twice, in whichever order: what agrees counts once, what does not is grey. */
static void settle_labels(struct pd_truth *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n_labels; i++) {
		struct pd_label *l = &t->label[i];
		if (t->place[l->a] > t->place[l->b]) {
			uint32_t a = l->a;
			l->a = l->b;
			l->b = a;
		}
	}
	if (t->n_labels)
		qsort(t->label, t->n_labels, sizeof *t->label, by_pages);
	for (size_t i = 0; i < t->n_labels; i++) {
		bool again = n && !by_pages(&t->label[n - 1], &t->label[i]);
		if (again && t->label[n - 1].kind != t->label[i].kind)
			t->label[n - 1].kind = PD_PAIR_GREY;
		if (!again)
			t->label[n++] = t->label[i];
	}
	t->n_labels = n;
}

int pd_truth_read(struct pd_truth *t, const char *path, const struct pd_truth_options *o, struct pd_err *e)
{
	struct truth_reader in = { .t = t, .path = path };
	*t = (struct pd_truth){ .o = o };
	FILE *f = pd_input_fopen(path, e);
	if (!f)
		return e->status;
	int status = take_file(&in, f, e);
	fclose(f);
	if (!status && !in.at.n)
		status = pd_fail(e, PD_ERR_VERSION, "%s is empty: TRUTH needs rows", path);
	t->n_strata = in.strata.n ? (uint32_t)in.strata.n : 1;
	if (!status) {
		place_pages(t);
		settle_labels(t);
	}
	pd_names_release(&in.strata);
	return status;
}

const struct pd_label *pd_truth_label(const struct pd_truth *t, uint32_t a, uint32_t b)
{
	bool turned = t->place[a] > t->place[b];
	struct pd_label key = { .a = turned ? b : a, .b = turned ? a : b };
	return t->n_labels ? bsearch(&key, t->label, t->n_labels, sizeof *t->label, by_pages) : NULL;
}

enum pd_truth_kind pd_truth_kind_of(const struct pd_truth *t, uint32_t a, uint32_t b)
{
	if (t->labels) {
		const struct pd_label *l = pd_truth_label(t, a, b);
		return l ? l->kind : PD_PAIR_UNKNOWN;
	}
	if (t->content[a] != t->content[b])
		return PD_PAIR_FALSE;
	return t->level[a] <= t->o->true_level && t->level[b] <= t->o->true_level ? PD_PAIR_TRUE : PD_PAIR_GREY;
}

void pd_truth_release(struct pd_truth *t)
{
	pd_names_release(&t->pages);
	pd_names_release(&t->contents);
	pd_names_release(&t->templates);
	for (int i = 0; i < PD_TRUTH_BY; i++) {
		pd_names_release(&t->values[i]);
		free(t->by[i]);
	}
	free(t->place);
	free(t->content);
	free(t->template);
	free(t->level);
	free(t->label);
	*t = (struct pd_truth){ 0 };
}
