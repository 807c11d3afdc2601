/* SPDX-License-Identifier: MIT */
#include "match/row.h"

#include "row/tsv.h"

const int pd_row_kept[PD_ROW_FIELDS] = { PD_FP_ID,	   PD_FP_URL,	     PD_FP_FETCH_TIME,
					 PD_FP_TEXT_BYTES, PD_FP_QUALITY,    PD_FP_CONTENT_DIGEST,
					 PD_FP_TERMS,	   PD_FP_CONFIDENCE, PD_FP_LANGUAGES,
					 PD_FP_SUBJECT };

static int fail_fingerprint(struct pd_span hex, struct pd_err *e)
{
	struct pd_buf shown = { 0 };
	pd_tsv_add(&shown, pd_span(hex.p, hex.n < 64 ? hex.n : 64));
	int status = pd_fail(e, PD_ERR_FORMAT, "'%s' is not a fingerprint of 16, 32 or 64 hex digits", shown.p);
	pd_buf_release(&shown);
	return status;
}

int pd_row_parse(struct pd_row *row, const struct pd_sketch_options *sketch, struct pd_err *e)
{
	struct pd_span hex = row->f[PD_FP_FINGERPRINT], value = row->f[PD_FP_SKETCH];
	int bits;
	if (!hex.n || !pd_tsv_has(row->f[PD_FP_ID]))
		return pd_fail(e, PD_ERR_FORMAT, "a row without fingerprint or id");
	row->bits = 0;
	row->has_fingerprint = pd_tsv_has(hex);
	if (row->has_fingerprint && !pd_key_parse(hex, &row->bits, &row->key))
		return fail_fingerprint(hex, e);
	/* A page without a fingerprint is identified only by its text; "-" matches nothing. */
	row->has_digest = !row->has_fingerprint && pd_key_parse(row->f[PD_FP_TEXT_DIGEST], &bits, &row->key) && bits == 128;
	bool has = pd_tsv_has(value), ours = has && sketch && sketch->minima && value.n == (size_t)pd_sketch_words(sketch) * 16;
	row->other_sketch = has && !ours;
	row->sketch.present = false;
	if (ours && !pd_sketch_parse(sketch, value, &row->sketch))
		return pd_fail(e, PD_ERR_FORMAT, "the sketch is not hexadecimal");
	return PD_OK;
}

uint64_t pd_row_hash_language(struct pd_span languages)
{
	return pd_tsv_has(languages) ? pd_hash64(languages.p, languages.n) | 1 : 0;
}

struct pd_facts pd_facts_read(const struct pd_span f[PD_FP_COLUMNS])
{
	struct pd_facts facts = PD_FACTS_UNKNOWN;
	uint64_t n;
	double v;
	if (pd_span_u64(f[PD_FP_TERMS], &n) && n <= INT64_MAX)
		facts.terms = (int64_t)n;
	if (pd_span_real(f[PD_FP_CONFIDENCE], &v) && v >= 0 && v <= 1)
		facts.confidence = v;
	facts.language = pd_row_hash_language(f[PD_FP_LANGUAGES]);
	facts.subject = pd_subject_parse(f[PD_FP_SUBJECT]);
	if (f[PD_FP_URL].p)
		pd_subject_set_url(&facts.subject, f[PD_FP_URL]);
	return facts;
}
