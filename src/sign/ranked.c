/* SPDX-License-Identifier: MIT */
#include "sign/ranked.h"

#include <stdlib.h>

void pd_ranked_count(struct pd_ranked *r, const struct pd_words *w)
{
	r->n = 0;
	pd_map_clear(&r->place, w->terms.n);
	for (size_t i = 0; i < w->terms.n; i++) {
		const struct pd_term *t = &w->terms.v[i];
		if (w->v[i].stop)
			continue;
		uint32_t *place = pd_map_put(&r->place, t->hash);
		if (*place) {
			r->v[*place - 1].count++;
			continue;
		}
		r->v = pd_grow(r->v, r->n, &r->cap, sizeof *r->v);
		r->v[r->n++] = (struct pd_ranked_term){ pd_term_text(&w->terms, t), t->hash, 1, 0 };
		*place = (uint32_t)r->n;
	}
}

static int by_text(const void *x, const void *y)
{
	return pd_span_cmp(((const struct pd_ranked_term *)x)->text, ((const struct pd_ranked_term *)y)->text);
}

static int by_weight(const void *x, const void *y)
{
	const struct pd_ranked_term *a = x, *b = y;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return by_text(x, y);
}

void pd_ranked_sort(struct pd_ranked *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, by_weight);
}

void pd_ranked_sort_text(struct pd_ranked *r, size_t n)
{
	if (n)
		qsort(r->v, n, sizeof *r->v, by_text);
}

void pd_ranked_join(const struct pd_ranked *r, size_t n, struct pd_buf *out)
{
	for (size_t i = 0; i < n; i++)
		pd_buf_add_span(out, r->v[i].text);
}

void pd_ranked_explain(const struct pd_ranked *r, size_t n, struct pd_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		pd_buf_printf(out, "%.6g\t%u\t", r->v[i].weight, r->v[i].count);
		pd_buf_add_span(out, r->v[i].text);
		pd_buf_add_c(out, '\n');
	}
}

void pd_ranked_release(struct pd_ranked *r)
{
	free(r->v);
	pd_map_release(&r->place);
	*r = (struct pd_ranked){ 0 };
}
