/* SPDX-License-Identifier: MIT */
#include "group/draw.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/tsv.h"

static int by_order(const void *x, const void *y)
{
	const struct pd_drawn *a = x, *b = y;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* Keeps the `want` first; a pair that came twice is one. */
static void shorten(struct pd_draw_stratum *s, size_t want)
{
	size_t n = 0;
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, by_order);
	for (size_t i = 0; i < s->n; i++) {
		if (n < want && (!n || by_order(&s->v[n - 1], &s->v[i])))
			s->v[n++] = s->v[i];
		else
			free(s->v[i].text);
	}
	s->n = n;
}

static int stratum_of(const struct pd_draw *d, const struct pd_tsv_reader *in, struct pd_err *e)
{
	uint64_t distance;
	struct pd_span f = in->fields[PD_PAIRS_DISTANCE];
	if (!in->fields[PD_PAIRS_ID_A].n || !in->fields[PD_PAIRS_ID_B].n)
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": a pair without two ids", in->path, in->line_no);
	if (!f.n || pd_span_is(f, "-"))
		return 0;
	if (!pd_span_u64(f, &distance) || distance > PD_BITS_MAX)
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": distance is no number of bits", in->path, in->line_no);
	return (int)distance > d->max_k ? PD_DRAW_STRATA : (int)distance + 1;
}

static int take_row(struct pd_draw *d, const struct pd_tsv_reader *in, struct pd_err *e)
{
	static const int kept[] = { PD_PAIRS_ID_A, PD_PAIRS_ID_B, PD_PAIRS_URL_A, PD_PAIRS_URL_B };
	int stratum = stratum_of(d, in, e);
	if (stratum < 0 || stratum == PD_DRAW_STRATA)
		return stratum < 0 ? stratum : PD_OK;
	struct pd_draw_stratum *s = &d->strata[stratum];
	struct pd_buf text = { 0 };
	for (int i = 0; i < 4; i++) {
		struct pd_span f = in->fields[kept[i]];
		if (i)
			pd_buf_add_c(&text, '\t');
		pd_buf_add_span(&text, f.n ? f : pd_span("-", 1));
	}
	d->seen++;
	s->seen++;
	s->v = pd_grow(s->v, s->n, &s->cap, sizeof *s->v);
	s->v[s->n++] = (struct pd_drawn){ pd_hash64_seed(text.p, text.n, d->seed), stratum, 0, text.p };
	if (s->n >= 2 * d->want + 1000)
		shorten(s, d->want);
	return PD_OK;
}

/* One for each distance, again and again, until there are enough. */
static void share_out(struct pd_draw *d)
{
	size_t take[PD_DRAW_STRATA] = { 0 };
	bool more = true;
	while (more && d->n < d->want) {
		more = false;
		for (int i = 0; i < PD_DRAW_STRATA && d->n < d->want; i++) {
			if (take[i] == d->strata[i].n)
				continue;
			take[i]++;
			d->n++;
			more = true;
		}
	}
	d->drawn = pd_alloc((d->n + 1) * sizeof *d->drawn);
	d->n = 0;
	for (int i = 0; i < PD_DRAW_STRATA; i++)
		for (size_t k = 0; k < take[i]; k++) {
			d->strata[i].v[k].weight = (double)d->strata[i].seen / (double)take[i];
			d->drawn[d->n++] = d->strata[i].v[k];
		}
	if (d->n)
		qsort(d->drawn, d->n, sizeof *d->drawn, by_order);
}

int pd_draw(struct pd_draw *d, const struct pd_draw_options *o, struct pd_err *e)
{
	struct pd_tsv_reader in = { .kind = "pairs", .columns = pd_pairs_columns, .v1_columns = pd_pairs_columns, .paths = o->paths,
				    .n_paths = o->n_paths };
	int status;
	*d = (struct pd_draw){ .want = o->want, .max_k = o->max_k, .seed = o->seed };
	while ((status = pd_tsv_next(&in, e)) != 0) {
		if (status > 0)
			status = take_row(d, &in, e);
		if (status == PD_ERR_FORMAT) {
			d->bad++;
			o->bad_row(o->ctx, e->text);
		} else if (status) {
			break;
		}
	}
	pd_tsv_release(&in);
	for (int i = 0; i < PD_DRAW_STRATA; i++)
		shorten(&d->strata[i], d->want);
	if (!status)
		share_out(d);
	return status;
}

void pd_draw_release(struct pd_draw *d)
{
	for (int i = 0; i < PD_DRAW_STRATA; i++) {
		for (size_t k = 0; k < d->strata[i].n; k++)
			free(d->strata[i].v[k].text);
		free(d->strata[i].v);
	}
	free(d->drawn);
	*d = (struct pd_draw){ 0 };
}
