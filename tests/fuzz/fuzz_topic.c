/* SPDX-License-Identifier: MIT
 *
 * Send the bytes as a page through every stage, with both presets, to its row: features are in sequence in the
 * terms, the row has its columns, and the same page gives the same row.
 */
#include "row/table.h"
#include "fuzz.h"
#include "run/rows.h"

struct way {
	struct pd_options o;
	struct pd_tables tables;
	struct pd_pipeline pipeline;
};

static void open_way(struct way *w, enum pd_preset preset)
{
	struct pd_err e = { 0 };
	pd_options_init(&w->o, preset);
	w->o.topic.explain = true;
	HOLDS(pd_tables_open(&w->tables, &w->o, &e) == PD_OK);
	HOLDS(pd_pipeline_init(&w->pipeline, &w->o, &w->tables, &e) == PD_OK);
}

static void check(const struct pd_topic *t)
{
	size_t at = 0;
	for (size_t i = 0; i < t->n_features; i++) {
		HOLDS(t->features[i].kind < PD_FEATURE_COUNT && t->features[i].first >= at);
		HOLDS(t->features[i].first <= t->features[i].end && t->features[i].end <= t->terms.n);
		at = t->features[i].end;
	}
	HOLDS(t->confidence >= 0 && t->confidence <= 1);
	HOLDS(fuzz_utf8(pd_buf_span(&t->text)) && fuzz_utf8(pd_buf_span(&t->anchor_text)));
	for (size_t i = 0; i < t->n_decisions; i++)
		HOLDS(t->decisions[i].label && t->decisions[i].rule);
}

static void run(struct way *w, const struct pd_record *r, struct pd_buf *row)
{
	struct pd_span f[PD_TABLE_COLUMNS_MAX];
	if (pd_pipeline_run(&w->pipeline, r, NULL))
		return;
	check(&w->pipeline.topic);
	pd_page_fp_row(&w->pipeline, NULL, row);
	HOLDS(fuzz_utf8(pd_buf_span(row)) && memchr(row->p, '\n', row->n) == row->p + row->n - 1);
	HOLDS(pd_tsv_fields(pd_span(row->p, row->n - 1), f, PD_TABLE_COLUMNS_MAX) == PD_FP_COLUMNS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct way ways[2];
	struct pd_record r = { .kind = PD_RECORD_PAYLOAD, .length = n };
	struct pd_buf row = { 0 }, again = { 0 };
	pd_buf_add_z(&r.id, "page");
	pd_buf_add_z(&r.content_type, "text/html");
	pd_buf_add(&r.block, data, n);
	for (int i = 0; i < 2; i++) {
		if (!ways[i].tables.dict)
			open_way(&ways[i], (enum pd_preset)i);
		run(&ways[i], &r, &row);
		run(&ways[i], &r, &again);
		HOLDS(pd_span_eq(pd_buf_span(&row), pd_buf_span(&again)));
		pd_buf_clear(&row);
		pd_buf_clear(&again);
	}
	pd_buf_release(&row);
	pd_buf_release(&again);
	pd_record_release(&r);
	return 0;
}
