/* SPDX-License-Identifier: MIT */
#include "sign/shingle.h"

void pd_shingler_init(struct pd_shingler *s, const struct pd_sign_options *o)
{
	*s = (struct pd_shingler){ .o = *o };
}

void pd_shingler_release(struct pd_shingler *s)
{
	pd_map_release(&s->terms);
	pd_map_release(&s->seen);
}

static int64_t weight(const struct pd_shingler *s, const struct pd_topic *in, enum pd_feature_kind kind, size_t first)
{
	if (s->o.weights != PD_WEIGHTS_TF)
		return 1;
	int64_t sum = s->o.feature_weights[kind];
	for (size_t t = first; t < first + (size_t)s->o.shingle; t++)
		sum += *pd_map_find(&s->terms, in->terms.v[t].hash); /* count_terms counted all of them */
	return sum;
}

/* Return whether this shingle was counted before: in its feature, because S(f, w) is a set; with `set` weights, in
 * the page. */
static bool repeated(struct pd_shingler *s, enum pd_feature_kind kind, struct pd_span text)
{
	if (s->o.weights == PD_WEIGHTS_COUNT)
		return false;
	uint64_t seed = s->o.weights == PD_WEIGHTS_TF ? (uint64_t)kind + 1 : 0;
	return !pd_map_add(&s->seen, pd_hash64_seed(text.p, text.n, seed));
}

uint64_t pd_shingles(struct pd_shingler *s, const struct pd_topic *in, pd_shingle_fn *each, void *ctx)
{
	uint64_t n = 0;
	size_t w = (size_t)s->o.shingle;
	if (s->o.weights == PD_WEIGHTS_TF) {
		/* tf(t): the raw count among the page's kept terms. */
		pd_map_clear(&s->terms, in->terms.n);
		for (size_t i = 0; i < in->n_features; i++)
			if (s->o.features[in->features[i].kind])
				for (size_t t = in->features[i].first; t < in->features[i].end; t++)
					++*pd_map_put(&s->terms, in->terms.v[t].hash);
	}
	if (s->o.weights != PD_WEIGHTS_COUNT)
		pd_map_clear(&s->seen, in->terms.n);
	for (size_t i = 0; i < in->n_features; i++) {
		const struct pd_feature *f = &in->features[i];
		for (size_t t = f->first; s->o.features[f->kind] && t + w <= f->end; t++) {
			const struct pd_term *a = &in->terms.v[t], *z = &in->terms.v[t + (size_t)s->o.shingle - 1];
			struct pd_span text = pd_span(in->terms.text.p + a->at, z->at + z->n - a->at);
			if (repeated(s, f->kind, text))
				continue;
			each(ctx, f->kind, text, weight(s, in, f->kind, t));
			n++;
		}
	}
	return n;
}
