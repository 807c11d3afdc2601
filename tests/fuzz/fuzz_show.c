/* SPDX-License-Identifier: MIT
 *
 * Show the bytes as a page in every form; the first byte is the preset: each stage of `show`, and the record of
 * `text`, a line of JSON.
 */
#include "fuzz.h"
#include "tools/inspect.h"
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
	w->o.topic.explain = w->o.html.keep_xhtml = true;
	HOLDS(pd_tables_open(&w->tables, &w->o, &e) == PD_OK);
	HOLDS(pd_pipeline_init(&w->pipeline, &w->o, &w->tables, &e) == PD_OK);
}

static void check_json(struct pd_pipeline *p, struct pd_buf *out)
{
	struct pd_json *j = pd_json_new();
	pd_buf_clear(out);
	pd_page_text_row(p, j, out);
	pd_json_free(j);
	HOLDS(out->n > 2 && out->p[0] == '{' && memchr(out->p, '\n', out->n) == out->p + out->n - 1);
	HOLDS(out->p[out->n - 2] == '}' && fuzz_utf8(pd_buf_span(out)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct way ways[2];
	unsigned preset = fuzz_first(&data, &n) & 1;
	struct way *w = &ways[preset];
	struct pd_record r = { .kind = PD_RECORD_PAYLOAD, .length = n };
	struct pd_buf out = { 0 };
	pd_buf_add_z(&r.content_type, "text/html");
	pd_buf_add(&r.id, data, n < 20 ? n : 20);
	pd_buf_add(&r.url, data, n < 50 ? n : 50);
	pd_buf_add(&r.block, data, n);
	if (!w->tables.dict)
		open_way(w, (enum pd_preset)preset);
	if (!pd_pipeline_run(&w->pipeline, &r, NULL)) {
		for (int i = 0; pd_stage_names[i]; i++)
			pd_show(&w->pipeline, (enum pd_stage)i, &out);
		HOLDS(fuzz_sum(pd_buf_span(&out)) != 1);
		check_json(&w->pipeline, &out);
	}
	pd_buf_release(&out);
	pd_record_release(&r);
	return 0;
}
