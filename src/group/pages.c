/* SPDX-License-Identifier: MIT */
#include "group/pages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/columns.h"
#include "base/hash.h"
#include "base/params.h"
#include "base/tsv.h"

enum { FIRST_TABLE = 1 << 12 };

static size_t slot_of(const struct pd_pages *p, struct pd_span id)
{
	size_t i = pd_hash64(id.p, id.n) & (p->table_cap - 1);
	while (p->table[i] != PD_NO_CLUSTER && !pd_span_eq(p->v[p->table[i]].id, id))
		i = (i + 1) & (p->table_cap - 1);
	return i;
}

static void grow_table(struct pd_pages *p)
{
	if (2 * (p->n + 1) <= p->table_cap)
		return;
	free(p->table);
	p->table_cap = p->table_cap ? 2 * p->table_cap : FIRST_TABLE;
	p->table = pd_alloc(p->table_cap * sizeof *p->table);
	memset(p->table, 0xFF, p->table_cap * sizeof *p->table);
	for (size_t i = 0; i < p->n; i++)
		p->table[slot_of(p, p->v[i].id)] = (uint32_t)i;
}

static struct pd_span keep(struct pd_pages *p, struct pd_span s)
{
	return s.n ? pd_arena_copy(p->arena, s) : pd_span("-", 1);
}

/* The page of this id; the first row that names it says what it is. */
static uint32_t page_of(struct pd_pages *p, const struct pd_span *f, int id, int url, int fetch_time, int text_bytes)
{
	grow_table(p);
	size_t slot = slot_of(p, f[id]);
	if (p->table[slot] != PD_NO_CLUSTER)
		return p->table[slot];
	p->v = pd_grow(p->v, p->n, &p->cap, sizeof *p->v);
	struct pd_group_page *page = &p->v[p->n];
	*page = (struct pd_group_page){ keep(p, f[id]), keep(p, f[url]), keep(p, f[fetch_time]), 0 };
	pd_span_u64(f[text_bytes], &page->text_bytes);
	p->table[slot] = (uint32_t)p->n;
	return (uint32_t)p->n++;
}

static int bad_row(const struct pd_tsv_reader *in, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", in->path, in->line_no, why);
}

static int take_row(struct pd_pages *p, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	uint64_t distance = 0;
	bool text = pd_span_is(f[PD_PAIRS_DISTANCE], "-") || !f[PD_PAIRS_DISTANCE].n;
	if (!f[PD_PAIRS_ID_A].n || !f[PD_PAIRS_ID_B].n)
		return bad_row(in, "a pair without two ids", e);
	if (pd_span_eq(f[PD_PAIRS_ID_A], f[PD_PAIRS_ID_B]))
		return bad_row(in, "a page paired with itself", e);
	if (!text && (!pd_span_u64(f[PD_PAIRS_DISTANCE], &distance) || distance > PD_BITS_MAX))
		return bad_row(in, "distance is no number of bits", e);
	if (p->n_edges == UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u pairs", UINT32_MAX / 2);
	uint32_t a = page_of(p, f, PD_PAIRS_ID_A, PD_PAIRS_URL_A, PD_PAIRS_FETCH_TIME_A, PD_PAIRS_TEXT_BYTES_A);
	uint32_t b = page_of(p, f, PD_PAIRS_ID_B, PD_PAIRS_URL_B, PD_PAIRS_FETCH_TIME_B, PD_PAIRS_TEXT_BYTES_B);
	p->edges = pd_grow(p->edges, p->n_edges, &p->cap_edges, sizeof *p->edges);
	p->similarity = pd_grow(p->similarity, p->n_edges, &p->cap_similarity, sizeof *p->similarity);
	p->similarity[p->n_edges] = pd_span_is(f[PD_PAIRS_SIMILARITY], "-") ? pd_span("-", 1) : keep(p, f[PD_PAIRS_SIMILARITY]);
	p->edges[p->n_edges] = (struct pd_edge){ a, b, text ? -1 : (int32_t)distance, p->same_is_one && (text || !distance),
						 (uint32_t)p->n_edges };
	p->n_edges++;
	return PD_OK;
}

/* A second header must say the same as the first. */
static int check_header(struct pd_pages *p, struct pd_tsv_reader *in, struct pd_err *e)
{
	struct pd_span must = pd_buf_span(&in->header.must);
	struct pd_buf differ = { 0 };
	in->new_header = false;
	if (!p->must.n) {
		pd_buf_set(&p->must, must);
		p->same_is_one = !pd_span_is(pd_param(must, "scope"), "other-hosts");
		return PD_OK;
	}
	pd_params_differ(pd_buf_span(&p->must), must, &differ);
	int status = !differ.n ? PD_OK :
				 pd_fail(e, PD_ERR_PARAMS, "%s: pairs made with other parameters cannot be clustered together (%s)",
					 in->path, differ.p);
	pd_buf_release(&differ);
	return status;
}

static int take_all(struct pd_pages *p, struct pd_tsv_reader *in, const struct pd_pages_options *o, struct pd_err *e)
{
	int status;
	while ((status = pd_tsv_next(in, e)) != 0) {
		if (status > 0 && in->new_header)
			status = check_header(p, in, e);
		if (status >= 0)
			status = take_row(p, in, e);
		if (status == PD_ERR_FORMAT) {
			p->bad++;
			o->bad_row(o->ctx, e->text);
		} else if (status) {
			return status;
		}
	}
	return in->new_header ? check_header(p, in, e) : PD_OK;
}

int pd_pages_read(struct pd_pages *p, const struct pd_pages_options *o, struct pd_err *e)
{
	struct pd_tsv_reader in = { .kind = "pairs",
				    .columns = pd_pairs_columns,
				    .v1_columns = pd_pairs_columns,
				    .paths = o->paths,
				    .n_paths = o->n_paths };
	*p = (struct pd_pages){ .arena = pd_zalloc(sizeof *p->arena), .same_is_one = true };
	int status = take_all(p, &in, o, e);
	pd_buf_add_span(&p->totals, pd_buf_span(&in.totals));
	pd_tsv_release(&in);
	return status;
}

void pd_pages_release(struct pd_pages *p)
{
	if (p->arena)
		pd_arena_release(p->arena);
	free(p->arena);
	free(p->v);
	free(p->edges);
	free(p->similarity);
	free(p->table);
	pd_buf_release(&p->must);
	pd_buf_release(&p->totals);
	*p = (struct pd_pages){ 0 };
}
