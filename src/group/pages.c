/* SPDX-License-Identifier: MIT */
#include "group/pages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/hash.h"
#include "base/params.h"
#include "base/tsv.h"
#include "group/order.h"

enum { VIEW_FIELDS = 5 };

static const int fields_of_a[VIEW_FIELDS] = { PD_PAIRS_ID_A, PD_PAIRS_URL_A, PD_PAIRS_FETCH_TIME_A, PD_PAIRS_TEXT_BYTES_A,
					      PD_PAIRS_QUALITY_A };
static const int fields_of_b[VIEW_FIELDS] = { PD_PAIRS_ID_B, PD_PAIRS_URL_B, PD_PAIRS_FETCH_TIME_B, PD_PAIRS_TEXT_BYTES_B,
					      PD_PAIRS_QUALITY_B };

static int spool_page(struct pd_pages *p, const struct pd_span *f, const int *fields, struct pd_err *e)
{
	struct pd_buf *line = &p->spool.tail;
	for (int i = 0; i < VIEW_FIELDS; i++) {
		if (i)
			pd_buf_add_c(line, '\t');
		pd_buf_add_span(line, f[fields[i]].n ? f[fields[i]] : pd_span("-", 1));
	}
	return pd_spool_line_done(&p->spool, e);
}

/* The page of this id; the first row that names it says what it is. */
static int page_of(struct pd_pages *p, const struct pd_span *f, const int *fields, uint32_t *page, struct pd_err *e)
{
	bool is_new;
	*page = pd_ids_add(&p->ids, f[fields[0]], &is_new);
	if (*page == PD_NO_NAME)
		return pd_fail(e, PD_ERR_LIMIT, "pages of over a thousand million files");
	if (!is_new)
		return PD_OK;
	p->at = pd_grow(p->at, p->n, &p->cap, sizeof *p->at);
	p->at[p->n++] = pd_spool_end(&p->spool);
	return spool_page(p, f, fields, e);
}

static int bad_row(const struct pd_tsv_reader *in, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", in->path, in->line_no, why);
}

static int take_row(struct pd_pages *p, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	struct pd_span similarity = f[PD_PAIRS_SIMILARITY].n ? f[PD_PAIRS_SIMILARITY] : pd_span("-", 1);
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
	struct pd_edge edge = { .distance = text ? -1 : (int16_t)distance,
				.same = p->same_is_one && (text || !distance),
				.tag = pd_names_add(&p->similarity, similarity) };
	int status = page_of(p, f, fields_of_a, &edge.a, e);
	if (!status)
		status = page_of(p, f, fields_of_b, &edge.b, e);
	if (status)
		return status;
	p->edges = pd_grow(p->edges, p->n_edges, &p->cap_edges, sizeof *p->edges);
	p->edges[p->n_edges++] = edge;
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

static double number_of(struct pd_span s)
{
	char z[40];
	snprintf(z, sizeof z, "%.*s", (int)(s.n < sizeof z ? s.n : sizeof z - 1), s.p);
	return pd_span_is(s, "-") ? -1 : strtod(z, NULL);
}

static int most_similar_first(const void *x, const void *y, void *ctx)
{
	const struct pd_names *names = ctx;
	struct pd_span a = names->v[*(const uint32_t *)x], b = names->v[*(const uint32_t *)y];
	double da = number_of(a), db = number_of(b);
	return da > db ? -1 : da < db ? 1 : pd_span_cmp(a, b);
}

/* Numbers of similarities that do not depend on the order of rows: ties between pairs are settled by them. */
static void order_similarities(struct pd_pages *p)
{
	size_t n = p->similarity.n;
	uint32_t *order = pd_order_new(n), *place = pd_alloc((n + 1) * sizeof *place);
	struct pd_span *sorted = pd_alloc((n + 1) * sizeof *sorted);
	qsort_r(order, n, sizeof *order, most_similar_first, &p->similarity);
	for (size_t i = 0; i < n; i++) {
		place[order[i]] = (uint32_t)i;
		sorted[i] = p->similarity.v[order[i]];
	}
	for (size_t i = 0; i < p->n_edges; i++)
		p->edges[i].tag = place[p->edges[i].tag];
	free(p->similarity.v);
	p->similarity.v = sorted;
	free(order);
	free(place);
}

int pd_pages_read(struct pd_pages *p, const struct pd_pages_options *o, struct pd_err *e)
{
	struct pd_tsv_reader in = { .kind = "pairs",
				    .columns = pd_pairs_columns,
				    .v1_columns = pd_pairs_columns,
				    .paths = o->paths,
				    .n_paths = o->n_paths };
	*p = (struct pd_pages){ .same_is_one = true };
	int status = pd_spool_init(&p->spool, o->tmp_dir, e);
	if (!status)
		status = take_all(p, &in, o, e);
	pd_ids_close(&p->ids);
	if (!status)
		order_similarities(p);
	pd_buf_add_span(&p->totals, pd_buf_span(&in.totals));
	pd_tsv_release(&in);
	return status;
}

struct pd_page_view pd_pages_view(struct pd_pages *p, uint32_t page)
{
	struct pd_span f[VIEW_FIELDS];
	pd_spool_trim(&p->spool);
	pd_tsv_fields(pd_spool_line(&p->spool, p->at[page]), f, VIEW_FIELDS);
	return (struct pd_page_view){ f[0], f[1], f[2], f[3], f[4] };
}

struct pd_span pd_pages_similarity(const struct pd_pages *p, const struct pd_edge *edge)
{
	return p->similarity.v[edge->tag];
}

void pd_pages_renumber(struct pd_pages *p, const uint32_t *order)
{
	uint32_t *place = pd_alloc((p->n + 1) * sizeof *place);
	uint64_t *at = pd_alloc((p->n + 1) * sizeof *at);
	for (size_t i = 0; i < p->n; i++) {
		place[order[i]] = (uint32_t)i;
		at[i] = p->at[order[i]];
	}
	free(p->at);
	p->at = at;
	for (size_t i = 0; i < p->n_edges; i++) {
		p->edges[i].a = place[p->edges[i].a];
		p->edges[i].b = place[p->edges[i].b];
	}
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
