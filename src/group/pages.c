/* SPDX-License-Identifier: MIT */
#include "group/pages.h"

#include <stdlib.h>

#include "base/tsv.h"
#include "group/offsets.h"
#include "group/order.h"
#include "base/memory.h"

struct pd_page_view pd_pages_view(struct pd_pages *p, uint32_t page)
{
	struct pd_span f[5];
	pd_spool_trim(&p->spool);
	pd_tsv_fields(pd_spool_line(&p->spool, pd_offset_get(p->at, page)), f, 5);
	return (struct pd_page_view){ f[0], f[1], f[2], f[3], f[4] };
}

void pd_pages_expect(const struct pd_pages *p, uint32_t page)
{
	uint64_t at = pd_offset_get(p->at, page);
	if (at < p->spool.written)
		__builtin_prefetch(p->spool.map + at);
}

struct pd_span pd_pages_similarity(const struct pd_pages *p, const struct pd_edge *edge)
{
	return p->similarity.v[edge->tag];
}

static void renumber_edges(struct pd_pages *p, const uint32_t *place)
{
	for (size_t i = 0; i < p->n_edges; i++) {
		const struct pd_edge *soon = &p->edges[i + PD_AHEAD < p->n_edges ? i + PD_AHEAD : i];
		__builtin_prefetch(&place[soon->a]);
		__builtin_prefetch(&place[soon->b]);
		p->edges[i].a = place[p->edges[i].a];
		p->edges[i].b = place[p->edges[i].b];
	}
}

static void renumber_lines(struct pd_pages *p, const uint32_t *order)
{
	uint8_t *at = pd_big_alloc((p->n + 1) * PD_OFFSET_BYTES);
	for (size_t i = 0; i < p->n; i++) {
		__builtin_prefetch(p->at + (size_t)order[i + PD_AHEAD < p->n ? i + PD_AHEAD : i] * PD_OFFSET_BYTES);
		pd_offset_put(at, i, pd_offset_get(p->at, order[i]));
	}
	free(p->at);
	p->at = at;
}

void pd_pages_renumber(struct pd_pages *p, const uint32_t *order)
{
	renumber_lines(p, order);
	uint32_t *place = pd_big_alloc((p->n + 1) * sizeof *place);
	for (size_t i = 0; i < p->n; i++)
		place[order[i]] = (uint32_t)i;
	renumber_edges(p, place);
	for (size_t i = 0; p->by_id && i < p->n; i++)
		p->by_id[i] = place[p->by_id[i]];
	free(place);
}

void pd_pages_release(struct pd_pages *p)
{
	pd_ids_release(&p->ids);
	pd_names_release(&p->similarity);
	pd_spool_release(&p->spool);
	free(p->edges);
	free(p->at);
	free(p->by_id);
	pd_buf_release(&p->must);
	pd_buf_release(&p->totals);
	*p = (struct pd_pages){ 0 };
}
