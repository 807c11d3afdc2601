/* SPDX-License-Identifier: MIT */
#include "report/reach.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/map.h"
#include "base/tsv.h"

struct reach_link {
	uint32_t a, b;
	int distance;			/* -1: the same text */
};

/* Pages are known by a hash of their id: two of ten million share one in fewer than one run of 100,000. */
struct reach_pages {
	struct pd_map numbers;		/* hash -> number + 1 */
	uint32_t n;
	uint32_t *parent;
	size_t cap_parent;
	struct reach_link *links;
	size_t n_links, cap_links;
};

static uint32_t page_of(struct reach_pages *p, struct pd_span id)
{
	uint32_t *number = pd_map_put(&p->numbers, pd_hash64(id.p, id.n));
	if (!*number) {
		p->parent = pd_grow(p->parent, p->n, &p->cap_parent, sizeof *p->parent);
		p->parent[p->n] = p->n;
		*number = ++p->n;
	}
	return *number - 1;
}

static uint32_t root_of(struct reach_pages *p, uint32_t i)
{
	while (p->parent[i] != i)
		i = p->parent[i] = p->parent[p->parent[i]];
	return i;
}

static int by_distance(const void *x, const void *y)
{
	const struct reach_link *a = x, *b = y;
	return (a->distance > b->distance) - (a->distance < b->distance);
}

static void join_all(struct reach_pages *p, struct pd_report_reach *r)
{
	if (p->n_links)
		qsort(p->links, p->n_links, sizeof *p->links, by_distance);
	for (size_t i = 0; i < p->n_links; i++) {
		uint32_t a = root_of(p, p->links[i].a), b = root_of(p, p->links[i].b);
		if (a == b)
			continue;
		p->parent[a < b ? b : a] = a < b ? a : b;
		r->removed[p->links[i].distance + 1]++;
	}
}

static int add_pair_row(struct reach_pages *p, struct pd_report_reach *r, const struct pd_tsv_reader *in, struct pd_err *e)
{
	struct pd_span a = in->fields[PD_PAIRS_ID_A], b = in->fields[PD_PAIRS_ID_B], d = in->fields[PD_PAIRS_DISTANCE];
	uint64_t distance = 0;
	bool text = pd_span_is(d, "-");
	if (!a.p || !b.p || !d.p)
		return pd_fail(e, PD_ERR_VERSION, "%s: no column %s", in->path, !a.p ? "id_a" : !b.p ? "id_b" : "distance");
	if (!text && (!pd_span_u64(d, &distance) || distance > PD_BITS_MAX))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": invalid distance", in->path, in->line_no);
	if (p->n_links == UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u pairs", UINT32_MAX / 2);
	p->links = pd_grow(p->links, p->n_links, &p->cap_links, sizeof *p->links);
	p->links[p->n_links] = (struct reach_link){ page_of(p, a), page_of(p, b), text ? -1 : (int)distance };
	r->pairs[p->links[p->n_links++].distance + 1]++;
	r->all++;
	return PD_OK;
}

static void close_reach(struct pd_report_reach *r, struct reach_pages *p, const struct pd_tsv_reader *in)
{
	uint64_t n;
	struct pd_span must = pd_buf_span(&in->header.must);
	if (pd_span_u64(pd_param(must, "k"), &n) && n <= PD_BITS_MAX)
		r->k = (int)n;
	if (pd_span_u64(pd_param(must, "bits"), &n) && n <= PD_BITS_MAX)
		r->most = (int)n / 4;
	join_all(p, r);
}

int pd_report_reach_read(struct pd_report_reach *r, const struct pd_report_reading *o, struct pd_err *e)
{
	char *path = (char *)o->path;
	struct pd_tsv_reader in = { .kind = "pairs", .columns = pd_pairs_columns, .v1_columns = pd_pairs_columns, .paths = &path,
				    .n_paths = 1 };
	struct reach_pages p = { 0 };
	int status;
	*r = (struct pd_report_reach){ .k = -1, .most = -1 };
	while ((status = pd_tsv_next(&in, e)) != 0) {
		if (status > 0)
			status = add_pair_row(&p, r, &in, e);
		if (status == PD_ERR_FORMAT) {
			r->bad++;
			o->bad_row(o->ctx, e->text);
		} else if (status) {
			break;
		}
	}
	if (!status)
		close_reach(r, &p, &in);
	pd_tsv_release(&in);
	pd_map_release(&p.numbers);
	free(p.parent);
	free(p.links);
	return status;
}
