/* SPDX-License-Identifier: MIT
 *
 * Pages that are kept: by number, by hash, and all of them.
 */
#include <stdlib.h>

#include "store/store.h"

void pd_places_add(struct pd_places *p, struct pd_store_place at)
{
	p->v = pd_grow(p->v, p->n, &p->cap, sizeof *p->v);
	p->v[p->n++] = at;
}

static int by_number(const void *x, const void *y)
{
	const struct pd_store_place *a = x, *b = y;
	return a->number < b->number ? -1 : a->number > b->number;
}

void pd_places_unique(struct pd_places *p)
{
	size_t n = 0;
	if (p->n)
		qsort(p->v, p->n, sizeof *p->v, by_number);
	for (size_t i = 0; i < p->n; i++)
		if (!n || p->v[n - 1].number != p->v[i].number)
			p->v[n++] = p->v[i];
	p->n = n;
}

bool pd_store_gone(const struct pd_store *s, const struct pd_store_place *p)
{
	return pd_gone_has(&s->gone, p->number);
}

int pd_store_page(struct pd_store *s, const struct pd_store_place *at, bool text, struct pd_store_page *out, struct pd_err *e)
{
	if (at->segment == PD_IN_LOG) {
		*out = pd_recent_page(&s->recent, at->row);
		return PD_OK;
	}
	struct pd_segment *segment = &s->segments[at->segment];
	int status = pd_segment_page(segment, at->row, out, e);
	if (!status && text)
		status = pd_segment_text(segment, at->row, s->texts, &out->text, e);
	if (!status && text)
		pd_store_page_hash(out);
	return status;
}

/* Rows that were found in a segment -> places, without those that are gone. */
static int add_found(struct pd_store *s, uint32_t segment, size_t end, struct pd_places *out, struct pd_err *e)
{
	for (size_t i = 0; i < s->found.n && out->n < end; i++) {
		struct pd_store_place at = { .segment = segment, .row = s->found.v[i] };
		if (segment == PD_IN_LOG)
			at.number = s->recent.numbers[at.row];
		else if (pd_segment_number(&s->segments[segment], at.row, &at.number, e))
			return PD_ERR_FORMAT;
		if (!pd_store_gone(s, &at))
			pd_places_add(out, at);
	}
	s->found.n = 0;
	return PD_OK;
}

int pd_store_find(struct pd_store *s, enum pd_store_by by, uint64_t hash, uint64_t mask, struct pd_places *out, struct pd_err *e)
{
	int status = PD_OK;
	s->found.n = s->found.most = 0;
	for (uint32_t i = 0; !status && i < s->m.n_segments; i++) {
		status = pd_segment_find(&s->segments[i], by, hash & mask, hash | ~mask, &s->found, e);
		if (!status && s->found.n)
			status = add_found(s, i, SIZE_MAX, out, e);
	}
	if (status)
		return status;
	pd_recent_find(&s->recent, by, hash, mask, &s->found);
	return add_found(s, PD_IN_LOG, SIZE_MAX, out, e);
}

int pd_store_find_band(struct pd_store *s, uint32_t band, size_t most, struct pd_places *out, struct pd_err *e)
{
	uint64_t hash = pd_store_band_hash(band);
	size_t end = out->n + most;
	int status = PD_OK;
	s->found.n = 0;
	s->found.most = 4 * most;
	for (uint32_t i = 0; !status && out->n < end && i < s->m.n_segments; i++) {
		status = pd_segment_find(&s->segments[i], PD_BY_TEXT, hash, hash, &s->found, e);
		if (!status && s->found.n)
			status = add_found(s, i, end, out, e);
	}
	if (status)
		return status;
	pd_recent_find_band(&s->recent, band, &s->found);
	return add_found(s, PD_IN_LOG, end, out, e);
}

int pd_store_find_same(struct pd_store *s, const struct pd_store_page *page, struct pd_store_place *at, struct pd_err *e)
{
	struct pd_places places = { 0 };
	struct pd_store_page kept;
	int status = pd_store_find(s, PD_BY_ID, page->hash[PD_BY_ID], UINT64_MAX, &places, e), found = 0;
	for (size_t i = 0; !status && !found && i < places.n; i++) {
		status = pd_store_page(s, &places.v[i], true, &kept, e);
		found = !status && pd_store_same(page, &kept);
		if (found)
			*at = places.v[i];
	}
	free(places.v);
	return status ? status : found;
}

int pd_store_find_text(struct pd_store *s, enum pd_store_by by, struct pd_span value, struct pd_places *out, struct pd_err *e)
{
	uint64_t mask = by == PD_BY_ID ? ~UINT64_C(0xffffffff) : UINT64_MAX, hash = pd_hash64(value.p, value.n) | (by == PD_BY_URL);
	enum pd_store_column column = by == PD_BY_ID ? PD_TEXT_ID : PD_TEXT_URL;
	struct pd_store_page kept;
	size_t from = out->n, to = from;
	int status = pd_store_find(s, by, hash, mask, out, e);
	for (size_t i = from; !status && i < out->n; i++) {
		status = pd_store_page(s, &out->v[i], true, &kept, e);
		if (!status && pd_span_eq(pd_store_text(kept.text, column), value))
			out->v[to++] = out->v[i];
	}
	out->n = to;
	return status;
}

int pd_store_find_number(struct pd_store *s, uint64_t number, struct pd_store_place *at, struct pd_err *e)
{
	int64_t row = pd_recent_row(&s->recent, number);
	*at = (struct pd_store_place){ .number = number, .segment = PD_IN_LOG, .row = (uint32_t)row };
	if (pd_gone_has(&s->gone, number))
		return 0;
	if (row >= 0)
		return 1;
	for (uint32_t i = (uint32_t)s->m.n_segments; i-- > 0;)
		if (s->segments[i].f.first <= number) {
			at->segment = i;
			return pd_segment_row(&s->segments[i], number, &at->row, e);
		}
	return 0;
}

struct walk {
	struct pd_store *s;
	pd_store_each_fn *each;
	void *ctx;
};

static int each_in_block(const struct walk *w, uint32_t segment, size_t block, uint32_t first, uint32_t end, struct pd_err *e)
{
	struct pd_segment *seg = &w->s->segments[segment];
	struct pd_store_page page;
	struct pd_span rest, text;
	int status = pd_segment_texts(seg, block, w->s->texts, &rest, e);
	for (uint32_t row = first; !status && row < end; row++) {
		struct pd_store_place at = { .segment = segment, .row = row };
		status = pd_segment_number(seg, row, &at.number, e);
		if (!status)
			status = pd_segment_page(seg, row, &page, e);
		if (!status && (!pd_span_split(&rest, '\n', &text) || !rest.p))
			status = pd_segment_damaged(seg, seg->f.section[PD_SEG_ROWS].at, "a row is missing", e);
		page.text = text;
		if (!status && !pd_store_gone(w->s, &at))
			status = w->each(w->ctx, at.number, &page);
	}
	return status;
}

static int each_in_segment(const struct walk *w, uint32_t segment, struct pd_err *e)
{
	struct pd_segment *seg = &w->s->segments[segment];
	struct pd_store_damage damage = { .s = w->s, .file = seg->name };
	int status = PD_OK;
	for (size_t b = 0; !status && b < seg->f.row_blocks; b++) {
		const struct pd_row_block *block = pd_segment_at(seg, PD_SEG_ROW_BLOCKS, b, b + 1, sizeof *block, e);
		const struct pd_row_block *next = b + 1 < seg->f.row_blocks ?
			pd_segment_at(seg, PD_SEG_ROW_BLOCKS, b + 1, b + 2, sizeof *block, e) : NULL;
		uint64_t end = next ? next->first : seg->f.rows;
		status = !block || (!next && b + 1 < seg->f.row_blocks) ? PD_ERR_FORMAT :
			 each_in_block(w, segment, b, block->first, (uint32_t)end, e);
		if (status == PD_ERR_FORMAT && w->s->damaged) {
			pd_store_damage_tell(&damage, e->text);
			status = PD_OK;
		}
	}
	pd_store_damage_end(&damage);
	return status;
}

int pd_store_each(struct pd_store *s, pd_store_each_fn *each, void *ctx, struct pd_err *e)
{
	struct walk w = { s, each, ctx };
	int status = PD_OK;
	for (uint32_t i = 0; !status && i < s->m.n_segments; i++)
		status = each_in_segment(&w, i, e);
	for (uint32_t i = 0; !status && i < s->recent.n; i++) {
		struct pd_store_page page = pd_recent_page(&s->recent, i);
		if (!pd_gone_has(&s->gone, s->recent.numbers[i]))
			status = each(ctx, s->recent.numbers[i], &page);
	}
	return status;
}
