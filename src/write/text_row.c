/* SPDX-License-Identifier: MIT */
#include "write/text_row.h"

void pd_text_row(struct pd_pipeline *p, struct pd_json *j, struct pd_buf *out)
{
	const struct pd_meta *m = &p->blocks.meta;
	pd_json_str(j, "id", p->page.id);
	pd_json_str_or_null(j, "url", p->page.url);
	pd_json_str_or_null(j, "title", m->title);
	pd_json_str_or_null(j, "timestamp", m->timestamp);
	pd_json_str(j, "text", pd_buf_span(&p->topic.text));
	pd_json_str_or_null(j, "keywords", m->keywords);
	pd_json_str_or_null(j, "description", m->description);
	pd_json_str_or_null(j, "anchor_text", pd_buf_span(&p->topic.anchor_text));
	pd_json_write(j, out);
	pd_buf_add_c(out, '\n');
}
