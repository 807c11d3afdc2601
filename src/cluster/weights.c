/* SPDX-License-Identifier: MIT */
#include "cluster/weights.h"

#include <math.h>
#include <stdlib.h>

#include "row/fields.h"
#include "row/tsv.h"
#include "row/write.h"

const char *const pd_sample_weights_names[] = { "none", "fineweb2", "log", "soft", NULL };

/* Return the weight of a cluster of n pages; not for PD_SAMPLE_WEIGHTS_SOFT. */
static double weight_of_size(enum pd_sample_weights by, size_t n)
{
	static const struct {
		size_t from;
		double weight;
	} steps[] = { { 1000, 1 }, { 100, 8 }, { 5, 5 }, { 3, 3 }, { 2, 2 }, { 0, 1 } };
	if (by == PD_SAMPLE_WEIGHTS_LOG)
		return 1 + log((double)n);
	for (size_t i = 0;; i++)
		if (n >= steps[i].from)
			return steps[i].weight;
}

void pd_weights_header(const struct pd_group *g, enum pd_sample_weights by, bool ends, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup weights 1 %s%slinkage=%s keep=", pd_buf_z(&g->pages.must), g->pages.must.n ? " " : "",
		      pd_linkage_names[g->o->linkage]);
	pd_keep_print(&g->o->keep, ",", out);
	pd_buf_printf(out, " max_loss=%g sample_weights=%s |%s\n", g->o->max_loss, pd_sample_weights_names[by],
		      ends ? PD_ROW_ENDS : "");
	pd_row_names(pd_weights_columns, out);
}

/* Facts about all pages of a cluster. */
struct captures {
	struct pd_names hosts;
	struct pd_buf first, last; /* fetch times as in rows; empty: no page has one */
	uint64_t first_key, last_key;
};

/* Set the first or last capture; of equal moments, to the text that is smaller bytewise. */
static void set_capture(struct pd_buf *capture, uint64_t *key, uint64_t new_key, struct pd_span text)
{
	if (capture->n && (new_key > *key || (new_key == *key && pd_span_cmp(text, pd_buf_span(capture)) >= 0)))
		return;
	*key = new_key;
	pd_buf_set(capture, text);
}

static void add_captures(struct captures *c, const struct pd_row *row)
{
	pd_local_buf url = { 0 }, host = { 0 };
	pd_tsv_value(row->f[PD_FP_URL], &url);
	pd_url_host(pd_buf_span(&url), &host);
	if (host.n)
		pd_names_add(&c->hosts, pd_buf_span(&host));
	uint64_t oldest = pd_keep_criterion_key(row, PD_KEEP_OLDEST);
	if (oldest == PD_KEY_LAST)
		return;
	set_capture(&c->first, &c->first_key, oldest, row->f[PD_FP_FETCH_TIME]);
	set_capture(&c->last, &c->last_key, ~oldest, row->f[PD_FP_FETCH_TIME]);
}

int pd_weights_add(struct pd_group *g, enum pd_sample_weights by, const struct pd_group_member *members, size_t n,
		   struct pd_json *j, struct pd_buf *out, struct pd_err *e)
{
	struct captures c = { .hosts = { 0 } };
	pd_local_mem double *weight = pd_big_alloc((n + 1) * sizeof *weight);
	double of_cluster = 0;
	int status = PD_OK;
	struct pd_row row;
	for (size_t i = 0; i < n; i++) {
		pd_pages_get(&g->pages, members[i].page, &row);
		add_captures(&c, &row);
	}
	if (by == PD_SAMPLE_WEIGHTS_SOFT) {
		pd_local_mem uint32_t *pages = pd_big_alloc((n + 1) * sizeof *pages);
		for (size_t i = 0; i < n; i++)
			pages[i] = members[i].page;
		status = pd_group_commonness(g, pages, n, weight, e);
	}
	for (size_t i = 0; i < n; i++) {
		weight[i] = by == PD_SAMPLE_WEIGHTS_SOFT ? 1 / weight[i] : weight_of_size(by, n) / (double)n;
		of_cluster += weight[i];
	}
	for (size_t i = 0; i < n && !status; i++) {
		size_t at = out->n;
		pd_pages_get(&g->pages, members[i].page, &row);
		pd_buf_printf(out, "%u\t", members[i].cluster);
		pd_buf_add_span(out, row.f[PD_FP_ID]);
		pd_buf_add_c(out, '\t');
		pd_buf_add_span(out, row.f[PD_FP_URL]);
		pd_buf_printf(out, "\t%d\t%.6g\t%.6g\t%zu\t%zu\t%s\t%s\n", members[i].keep != members[i].page, weight[i],
			      of_cluster, n, c.hosts.n, c.first.n ? pd_buf_z(&c.first) : "-", c.last.n ? pd_buf_z(&c.last) : "-");
		if (j)
			pd_row_to_jsonl(j, pd_weights_columns, out, at);
	}
	pd_names_release(&c.hosts);
	pd_buf_release(&c.first);
	pd_buf_release(&c.last);
	return status;
}
