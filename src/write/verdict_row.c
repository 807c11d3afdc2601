/* SPDX-License-Identifier: MIT */
#include "write/verdict_row.h"

#include <inttypes.h>

#include "base/columns.h"

void pd_verdicts_header(const struct pd_pages *pages, const char *linkage, const char *keep, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup verdicts 1 %s%slinkage=%s keep=%s |\n#", pd_buf_z(&pages->must), pages->must.n ? " " : "",
		      linkage, keep);
	for (int i = 0; i < PD_VERDICTS_COLUMNS; i++)
		pd_buf_printf(out, "%s%c", pd_verdicts_columns[i], i + 1 < PD_VERDICTS_COLUMNS ? '\t' : '\n');
}

static void add_distance(const struct pd_pages *pages, const struct pd_verdict *m, struct pd_buf *out)
{
	const struct pd_edge *edge = &pages->edges[m->edge];
	struct pd_span similarity = pages->similarity[m->edge];
	bool nothing_new = edge->distance <= 0 && pd_span_is(similarity, "1.000");
	if (edge->distance < 0)
		pd_buf_add_z(out, "same text");
	else if (edge->distance == 0)
		pd_buf_add_z(out, "same fingerprint");
	else
		pd_buf_printf(out, "distance %d", edge->distance);
	if (!nothing_new && !pd_span_is(similarity, "-"))
		pd_buf_printf(out, " and similarity %.*s", (int)similarity.n, similarity.p);
}

/* The edge need not touch the page itself: a page with the same fingerprint as another shares that one's neighbours. */
static void add_reason(const struct pd_pages *pages, const struct pd_verdict *m, uint32_t page, struct pd_buf *out)
{
	const struct pd_edge *edge = &pages->edges[m->edge];
	struct pd_span via = pages->v[m->via].id;
	bool own = edge->a == page || edge->b == page;
	if (!own && m->via != m->keep)
		pd_buf_printf(out, "same as %.*s, which has ", (int)via.n, via.p);
	add_distance(pages, m, out);
	if (own && m->via != m->keep)
		pd_buf_printf(out, " to %.*s, which leads to the page kept", (int)via.n, via.p);
}

static void add_edge(const struct pd_pages *pages, const struct pd_verdict *m, struct pd_buf *out)
{
	const struct pd_edge *edge = &pages->edges[m->edge];
	if (edge->distance < 0)
		pd_buf_add_c(out, '-');
	else
		pd_buf_printf(out, "%d", edge->distance);
	pd_buf_add_c(out, '\t');
	pd_buf_add_span(out, pages->similarity[m->edge]);
}

void pd_verdict_row(const struct pd_pages *pages, const struct pd_verdict *m, uint32_t page, const char *keep, uint32_t size,
		    struct pd_buf *out)
{
	const struct pd_group_page *p = &pages->v[page];
	bool kept = m->keep == page;
	pd_buf_printf(out, "%" PRIu32 "\t%.*s\t%.*s\t%d\t", m->cluster + 1, (int)p->id.n, p->id.p, (int)p->url.n, p->url.p, !kept);
	if (kept) {
		pd_buf_add_z(out, "-\t-\t-\t-");
	} else {
		struct pd_span dup_of = pages->v[m->keep].id, via = pages->v[m->via].id;
		pd_buf_printf(out, "%.*s\t%.*s\t", (int)dup_of.n, dup_of.p, (int)via.n, via.p);
		add_edge(pages, m, out);
	}
	pd_buf_printf(out, "\t%" PRIu64 "\t%d\t", p->text_bytes, kept);
	if (kept)
		pd_buf_printf(out, "kept: %s of %" PRIu32 " pages", keep, size);
	else
		add_reason(pages, m, page, out);
	pd_buf_add_c(out, '\n');
}
