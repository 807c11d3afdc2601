/* SPDX-License-Identifier: MIT
 *
 * Rows in, pages and edges out.
 */
#include "group/pages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/hash.h"
#include "base/params.h"
#include "base/tsv.h"
#include "group/offsets.h"
#include "group/order.h"
#include "base/memory.h"

enum { VIEW_FIELDS = 5, BATCH = 128 };

#define NO_END SIZE_MAX

static const int fields_of_a[VIEW_FIELDS] = { PD_PAIRS_ID_A, PD_PAIRS_URL_A, PD_PAIRS_FETCH_TIME_A, PD_PAIRS_TEXT_BYTES_A,
					      PD_PAIRS_QUALITY_A };
static const int fields_of_b[VIEW_FIELDS] = { PD_PAIRS_ID_B, PD_PAIRS_URL_B, PD_PAIRS_FETCH_TIME_B, PD_PAIRS_TEXT_BYTES_B,
					      PD_PAIRS_QUALITY_B };

/* An end of a pair that waits for its page. */
struct pages_end {
	struct pd_id_place id;
	size_t line, n;			/* in the text of the batch */
	uint32_t page;
};

/* Ids are looked up many at a time, since each look-up alone waits for memory (ids.h). */
struct pages_batch {
	struct pages_end ends[2 * BATCH];
	size_t n;
	struct pd_buf text;		/* what rows say of their ends, as lines of the spool without the newline */
	size_t first_edge;		/* of the batch; their ends are numbers of `ends` so far */
	size_t last_a;			/* the end that the last row had first; NO_END: none in this batch */
};

static int add_new(struct pd_pages *p, const struct pages_batch *batch, const struct pages_end *end, struct pd_err *e)
{
	uint64_t at = pd_spool_end(&p->spool);
	if (at >= PD_OFFSET_MAX)
		return pd_fail(e, PD_ERR_LIMIT, "over a terabyte of rows about pages");
	p->at = pd_big_grow(p->at, p->n, &p->cap, PD_OFFSET_BYTES);
	pd_offset_put(p->at, p->n++, at);
	pd_buf_add(&p->spool.tail, batch->text.p + end->line, end->n);
	return pd_spool_line_done(&p->spool, e);
}

/* The page of an end; the first row that names it says what it is. */
static int find_page(struct pd_pages *p, const struct pages_batch *batch, struct pages_end *end, struct pd_err *e)
{
	bool is_new;
	end->page = pd_ids_add_place(&p->ids, end->id, &is_new);
	if (end->page == PD_NO_NAME)
		return pd_fail(e, PD_ERR_LIMIT, "pages of over a thousand million files");
	return is_new ? add_new(p, batch, end, e) : PD_OK;
}

static int settle_batch(struct pd_pages *p, struct pages_batch *batch, struct pd_err *e)
{
	int status = PD_OK;
	for (size_t i = 0; i < batch->n; i++)
		pd_ids_expect(&p->ids, batch->ends[i].id);
	for (size_t i = 0; i < batch->n; i++)
		pd_ids_expect_more(&p->ids, batch->ends[i].id);
	for (size_t i = 0; i < batch->n && !status; i++)
		status = find_page(p, batch, &batch->ends[i], e);
	for (size_t i = batch->first_edge; i < p->n_edges; i++) {
		p->edges[i].a = batch->ends[p->edges[i].a].page;
		p->edges[i].b = batch->ends[p->edges[i].b].page;
	}
	batch->n = 0;
	batch->first_edge = p->n_edges;
	batch->last_a = NO_END;
	pd_buf_clear(&batch->text);
	return status;
}

static size_t add_end(struct pd_pages *p, struct pages_batch *batch, const struct pd_span *f, const int *fields)
{
	struct pages_end *end = &batch->ends[batch->n];
	struct pd_buf *line = &batch->text;
	*end = (struct pages_end){ .id = pd_ids_place(&p->ids, f[fields[0]]), .line = line->n };
	for (int i = 0; i < VIEW_FIELDS; i++) {
		if (i)
			pd_buf_add_c(line, '\t');
		pd_buf_add_span(line, f[fields[i]].n ? f[fields[i]] : pd_span("-", 1));
	}
	end->n = line->n - end->line;
	return batch->n++;
}

/* Rows that match writes come with all pairs of a page one after the other. */
static bool is_last_a(const struct pages_batch *batch, struct pd_span id)
{
	if (batch->last_a == NO_END)
		return false;
	const struct pages_end *end = &batch->ends[batch->last_a];
	const char *line = batch->text.p + end->line;
	return end->n > id.n && line[id.n] == '\t' && !memcmp(line, id.p, id.n);
}

static int bad_row(const struct pd_tsv_reader *in, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", in->path, in->line_no, why);
}

static int check_row(const struct pd_pages *p, const struct pd_tsv_reader *in, uint64_t *distance, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	bool text = !f[PD_PAIRS_DISTANCE].n || pd_span_is(f[PD_PAIRS_DISTANCE], "-");
	*distance = UINT64_MAX;
	if (!f[PD_PAIRS_ID_A].n || !f[PD_PAIRS_ID_B].n)
		return bad_row(in, "a pair without two ids", e);
	if (pd_span_eq(f[PD_PAIRS_ID_A], f[PD_PAIRS_ID_B]))
		return bad_row(in, "a page paired with itself", e);
	if (!text && (!pd_span_u64(f[PD_PAIRS_DISTANCE], distance) || *distance > PD_BITS_MAX))
		return bad_row(in, "distance is no number of bits", e);
	if (p->n_edges == UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u pairs", UINT32_MAX / 2);
	return PD_OK;
}

static int take_row(struct pd_pages *p, struct pages_batch *batch, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	uint64_t distance;
	int status = check_row(p, in, &distance, e);
	if (status)
		return status;
	struct pd_span similarity = f[PD_PAIRS_SIMILARITY].n ? f[PD_PAIRS_SIMILARITY] : pd_span("-", 1);
	uint32_t tag = pd_names_add(&p->similarity, similarity);
	if (tag >= PD_EDGE_TAGS)
		return pd_fail(e, PD_ERR_LIMIT, "over %d different similarities", PD_EDGE_TAGS);
	bool text = distance == UINT64_MAX;
	if (!is_last_a(batch, f[PD_PAIRS_ID_A]))
		batch->last_a = add_end(p, batch, f, fields_of_a);
	p->edges = pd_big_grow(p->edges, p->n_edges, &p->cap_edges, sizeof *p->edges);
	p->edges[p->n_edges++] = (struct pd_edge){ .a = (uint32_t)batch->last_a,
						   .b = (uint32_t)add_end(p, batch, f, fields_of_b),
						   .distance = text ? -1 : (int)distance,
						   .same = p->same_is_one && (text || !distance),
						   .tag = tag };
	return batch->n + 2 > 2 * BATCH ? settle_batch(p, batch, e) : PD_OK;
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
	struct pages_batch batch = { .last_a = NO_END };
	int status;
	while ((status = pd_tsv_next(in, e)) != 0) {
		if (status > 0 && in->new_header)
			status = check_header(p, in, e);
		if (status >= 0)
			status = take_row(p, &batch, in, e);
		if (status && status != PD_ERR_FORMAT)
			break;
		if (status) {
			p->bad++;
			o->bad_row(o->ctx, e->text);
		}
	}
	if (!status)
		status = settle_batch(p, &batch, e);
	pd_buf_release(&batch.text);
	if (!status && in->new_header)
		status = check_header(p, in, e);
	return status;
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
