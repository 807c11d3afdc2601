/* SPDX-License-Identifier: MIT */
#include "store/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void pd_store_file_name(const struct pd_store *s, const char *kind, uint64_t file, char out[PD_STORE_IO_NAME_MAX],
			struct pd_buf *path)
{
	snprintf(out, PD_STORE_IO_NAME_MAX, "%s-%" PRIu64, kind, file);
	if (path) {
		pd_buf_clear(path);
		pd_buf_printf(path, "%s/%s", s->io.dir, out);
	}
}

int pd_store_open_segment(struct pd_store *s, size_t i, struct pd_store_segment *out, struct pd_err *e)
{
	const struct pd_store_manifest_segment *m = &s->m.segments[i];
	struct pd_store_io_map map;
	struct pd_buf path = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	pd_store_file_name(s, "seg", m->file, name, &path);
	int status = pd_store_io_map(&s->io, name, &map, e);
	if (!status && map.n != m->bytes) {
		status = pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %zu: it has %zu bytes, not %" PRIu64, path.p,
				 map.n < m->bytes ? map.n : (size_t)m->bytes, map.n, m->bytes);
		pd_store_io_unmap(&map);
	}
	if (!status)
		status = pd_store_segment_open(out, map, m->file, path.p, e);
	if (!status && (out->f.check != m->check || out->f.rows != m->rows || (int)out->f.bits != s->m.bits)) {
		status = pd_store_segment_damaged(out, out->f.content, "not the file that the manifest means", e);
		pd_store_segment_close(out);
	}
	pd_buf_release(&path);
	return status;
}

/* Damage ends the opening, unless somebody wants what can be saved. */
static int pass_over(struct pd_store *s, int status, const struct pd_err *e)
{
	if (!s->damaged || !(status == PD_ERR_FORMAT || (status == PD_ERR_NOT_FOUND && s->lost)))
		return status;
	pd_buf_add(&s->damage, e->text, strlen(e->text) + 1);
	return PD_OK;
}

static void tell_damage(struct pd_store *s)
{
	for (size_t at = 0; at < s->damage.n; at += strlen(s->damage.p + at) + 1)
		s->damaged(s->damaged_ctx, s->damage.p + at);
	pd_buf_release(&s->damage);
}

static int open_segments(struct pd_store *s, struct pd_err *e)
{
	int status = PD_OK;
	s->segments = pd_zalloc((s->m.n_segments + 1) * sizeof *s->segments);
	for (size_t i = 0; !status && i < s->m.n_segments; i++)
		status = pass_over(s, pd_store_open_segment(s, i, &s->segments[i], e), e);
	return status;
}

int pd_store_open_tombstones(struct pd_store *s, uint64_t file, struct pd_store_tombstones *out, struct pd_err *e)
{
	struct pd_store_io_map map;
	struct pd_buf path = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	*out = (struct pd_store_tombstones){ 0 };
	if (!file)
		return PD_OK;
	pd_store_file_name(s, "gone", file, name, &path);
	int status = pd_store_io_map(&s->io, name, &map, e);
	if (!status)
		status = pd_store_tombstones_open(out, map, file, path.p, e);
	pd_buf_release(&path);
	return status;
}

static void take_record(struct pd_store *s, const struct pd_store_log_record *r)
{
	for (uint32_t i = 0; i < r->n_removed; i++) {
		uint64_t number = pd_store_get64(r->removed + i * (size_t)8);
		pd_store_tombstones_add(&s->tombstones, number);
		pd_store_recent_drop(&s->recent, number);
	}
	if (r->kind != PD_STORE_LOG_ADD)
		return;
	pd_store_recent_add(&s->recent, r->number, &r->page);
	if (r->number >= s->m.next)
		s->m.next = r->number + 1;
}

static int read_records(struct pd_store *s, struct pd_store_log_reader *r, struct pd_err *e)
{
	struct pd_store_log_record record;
	uint64_t last = 0;
	int more;
	while ((more = pd_store_log_next(r, &record, e)) > 0) {
		if (record.kind == PD_STORE_LOG_ADD && (record.number <= last || s->recent.n >= UINT32_MAX / 2))
			return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": pages are out of order",
				       r->name, r->at);
		if (record.kind == PD_STORE_LOG_ADD)
			last = record.number;
		take_record(s, &record);
	}
	s->log_synced = r->at;
	return more;
}

static int read_log(struct pd_store *s, struct pd_err *e)
{
	struct pd_buf path = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	pd_store_file_name(s, "log", s->m.log, name, &path);
	pd_store_recent_init(&s->recent, s->m.bits, s->m.k);
	int status = pd_store_io_read(&s->io, name, &s->recent.text, e);
	struct pd_store_log_reader r = { .bytes = pd_buf_span(&s->recent.text), .file = s->m.log, .name = path.p,
					 .bits = s->m.bits };
	if (!status)
		status = read_records(s, &r, e);
	if (!status && s->lock >= 0)
		status = pd_store_io_reopen(&s->io, name, s->log_synced, &s->log, e);
	if (!status && s->lock >= 0)	/* a writer may have died between writing and syncing */
		status = pd_store_io_sync(&s->log, e);
	pd_buf_release(&path);
	return status;
}

void pd_store_unload(struct pd_store *s)
{
	for (size_t i = 0; s->segments && i < s->m.n_segments; i++)
		pd_store_segment_close(&s->segments[i]);
	free(s->segments);
	s->segments = NULL;
	pd_store_recent_release(&s->recent);
	pd_store_tombstones_release(&s->tombstones);
	pd_store_manifest_release(&s->m);
	pd_buf_clear(&s->damage);
}

static int load(struct pd_store *s, struct pd_err *e)
{
	int status = pd_store_manifest_load(&s->m, &s->io, e);
	if (status)
		return status == PD_ERR_NOT_FOUND ? PD_ERR_USAGE : status;
	if (s->m.sketch[0] && pd_sketch_read(&s->sketch, pd_span_z(s->m.sketch), e))
		return pd_fail(e, PD_ERR_FORMAT, "%s/manifest: damaged: no sketch is called '%s'", s->io.dir,
			       s->m.sketch);
	s->dirty = s->m.version < PD_STORE_VERSION;	/* before it gets what an older program would misread */
	status = open_segments(s, e);
	if (!status)
		status = pass_over(s, pd_store_open_tombstones(s, s->m.tombstones, &s->tombstones, e), e);
	return status ? status : pass_over(s, read_log(s, e), e);
}

/* A writer removes a file only after a manifest that does not name it has taken the place of the one that does.  So a file
 * that is missing is looked for again by the manifest as it is now; when that is still the same, the file is lost. */
int pd_store_load(struct pd_store *s, struct pd_err *e)
{
	uint64_t before = 0;
	int status;
	while ((status = load(s, e)) == PD_ERR_NOT_FOUND && !s->lost) {
		s->lost = s->m.check == before;
		before = s->m.check;
		pd_store_unload(s);
	}
	if (!status)
		tell_damage(s);
	return status;
}

void pd_store_damage_tell(struct pd_store_damage *d, const char *what)
{
	if (d->n++ < PD_STORE_TOLD)
		d->s->damaged(d->s->damaged_ctx, what);
}

void pd_store_damage_end(const struct pd_store_damage *d)
{
	struct pd_buf line = { 0 };
	if (d->n <= PD_STORE_TOLD)
		return;
	pd_buf_printf(&line, "%s: damaged in ", d->file);
	pd_buf_count(&line, d->n - PD_STORE_TOLD, "more place");
	d->s->damaged(d->s->damaged_ctx, line.p);
	pd_buf_release(&line);
}

static void add_place(struct pd_store_places *p, struct pd_store_place at)
{
	p->v = pd_grow(p->v, p->n, &p->cap, sizeof *p->v);
	p->v[p->n++] = at;
}

bool pd_store_is_removed(const struct pd_store *s, const struct pd_store_place *p)
{
	return pd_store_tombstones_has(&s->tombstones, p->number);
}

int pd_store_page(struct pd_store *s, const struct pd_store_place *at, bool text, struct pd_store_page *out,
		  struct pd_err *e)
{
	if (at->segment == PD_STORE_IN_LOG) {
		*out = pd_store_recent_page(&s->recent, at->row);
		return PD_OK;
	}
	struct pd_store_segment *segment = &s->segments[at->segment];
	int status = pd_store_segment_page(segment, at->row, out, e);
	if (!status && text)
		status = pd_store_segment_text(segment, at->row, s->texts, &out->text, e);
	if (!status && text)
		pd_store_page_hash(out);
	return status;
}

/* Rows that were found in a segment -> places, without those with tombstones. */
static int add_found(struct pd_store *s, uint32_t segment, size_t end, struct pd_store_places *out, struct pd_err *e)
{
	for (size_t i = 0; i < s->found.n && out->n < end; i++) {
		struct pd_store_place at = { .segment = segment, .row = s->found.v[i] };
		if (segment == PD_STORE_IN_LOG)
			at.number = s->recent.numbers[at.row];
		else if (pd_store_segment_number(&s->segments[segment], at.row, &at.number, e))
			return PD_ERR_FORMAT;
		if (!pd_store_is_removed(s, &at))
			add_place(out, at);
	}
	s->found.n = 0;
	return PD_OK;
}

int pd_store_find(struct pd_store *s, enum pd_store_by by, uint64_t hash, uint64_t mask, struct pd_store_places *out,
		  struct pd_err *e)
{
	int status = PD_OK;
	s->found.n = s->found.most = 0;
	for (uint32_t i = 0; !status && i < s->m.n_segments; i++) {
		status = pd_store_segment_find(&s->segments[i], by, hash & mask, hash | ~mask, &s->found, e);
		if (!status && s->found.n)
			status = add_found(s, i, SIZE_MAX, out, e);
	}
	if (status)
		return status;
	pd_store_recent_find(&s->recent, by, hash, mask, &s->found);
	return add_found(s, PD_STORE_IN_LOG, SIZE_MAX, out, e);
}

static int by_number(const void *x, const void *y)
{
	const struct pd_store_place *a = x, *b = y;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int find_band(struct pd_store *s, uint32_t band, size_t end, struct pd_store_places *out, struct pd_err *e)
{
	uint64_t hash = pd_store_band_hash(band);
	int status = PD_OK;
	for (uint32_t i = 0; !status && out->n < end && i < s->m.n_segments; i++) {
		status = pd_store_segment_find(&s->segments[i], PD_STORE_BY_TEXT, hash, hash, &s->found, e);
		if (!status && s->found.n)
			status = add_found(s, i, end, out, e);
	}
	if (status)
		return status;
	pd_store_recent_find_band(&s->recent, band, &s->found);
	return add_found(s, PD_STORE_IN_LOG, end, out, e);
}

int pd_store_find_bands(struct pd_store *s, const uint32_t *bands, size_t n, size_t most, struct pd_store_places *out,
			struct pd_err *e)
{
	size_t unique = 0;
	int status = PD_OK;
	out->n = s->found.n = 0;
	s->found.most = 4 * most;
	for (size_t i = 0; !status && i < n; i++)
		status = find_band(s, bands[i], out->n + most, out, e);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, by_number);
	for (size_t i = 0; i < out->n; i++)
		if (!unique || out->v[unique - 1].number != out->v[i].number)
			out->v[unique++] = out->v[i];
	out->n = unique;
	return status;
}

int pd_store_find_same(struct pd_store *s, const struct pd_store_page *page, struct pd_store_place *at,
		       struct pd_err *e)
{
	struct pd_store_places places = { 0 };
	struct pd_store_page kept;
	int status = pd_store_find(s, PD_STORE_BY_ID, page->hash[PD_STORE_BY_ID], UINT64_MAX, &places, e), found = 0;
	for (size_t i = 0; !status && !found && i < places.n; i++) {
		status = pd_store_page(s, &places.v[i], true, &kept, e);
		found = !status && pd_store_same(page, &kept);
		if (found)
			*at = places.v[i];
	}
	free(places.v);
	return status ? status : found;
}

int pd_store_find_text(struct pd_store *s, enum pd_store_by by, struct pd_span value, struct pd_store_places *out,
		       struct pd_err *e)
{
	uint64_t mask = by == PD_STORE_BY_ID ? ~UINT64_C(0xffffffff) : UINT64_MAX;
	uint64_t hash = pd_hash64(value.p, value.n) | (by == PD_STORE_BY_URL);
	enum pd_store_column column = by == PD_STORE_BY_ID ? PD_STORE_TEXT_ID : PD_STORE_TEXT_URL;
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

/* Where a number lies, kept or not: 1, 0, or negative. */
static int find_row(struct pd_store *s, uint64_t number, struct pd_store_place *at, struct pd_err *e)
{
	int64_t row = pd_store_recent_row(&s->recent, number);
	*at = (struct pd_store_place){ .number = number, .segment = PD_STORE_IN_LOG, .row = (uint32_t)row };
	if (row >= 0)
		return 1;
	for (uint32_t i = (uint32_t)s->m.n_segments; i-- > 0;)
		if (s->segments[i].f.first <= number) {
			at->segment = i;
			return pd_store_segment_row(&s->segments[i], number, &at->row, e);
		}
	return 0;
}

int pd_store_find_number(struct pd_store *s, uint64_t number, struct pd_store_place *at, struct pd_err *e)
{
	return pd_store_tombstones_has(&s->tombstones, number) ? 0 : find_row(s, number, at, e);
}

struct store_walk {
	struct pd_store *s;
	pd_store_each_fn *each;
	void *ctx;
};

static int each_in_block(const struct store_walk *w, uint32_t segment, size_t block, uint32_t first, uint32_t end,
			 struct pd_err *e)
{
	struct pd_store_segment *seg = &w->s->segments[segment];
	struct pd_store_page page;
	struct pd_span rest, text;
	int status = pd_store_segment_texts(seg, block, w->s->texts, &rest, e);
	for (uint32_t row = first; !status && row < end; row++) {
		struct pd_store_place at = { .segment = segment, .row = row };
		status = pd_store_segment_number(seg, row, &at.number, e);
		if (!status)
			status = pd_store_segment_page(seg, row, &page, e);
		if (!status && (!pd_span_split(&rest, '\n', &text) || !rest.p))
			status = pd_store_segment_damaged(seg, seg->f.section[PD_STORE_SEG_ROWS].at, "a row is missing",
							  e);
		page.text = text;
		if (!status && !pd_store_is_removed(w->s, &at))
			status = w->each(w->ctx, at.number, &page);
	}
	return status;
}

static int each_in_segment(const struct store_walk *w, uint32_t segment, struct pd_err *e)
{
	struct pd_store_segment *seg = &w->s->segments[segment];
	struct pd_store_damage damage = { .s = w->s, .file = seg->name };
	int status = PD_OK;
	for (size_t b = 0; !status && b < seg->f.row_blocks; b++) {
		const struct pd_store_row_block *block = pd_store_segment_at(seg, PD_STORE_SEG_ROW_BLOCKS, b, b + 1,
									     sizeof *block, e);
		const struct pd_store_row_block *next = b + 1 < seg->f.row_blocks ?
			pd_store_segment_at(seg, PD_STORE_SEG_ROW_BLOCKS, b + 1, b + 2, sizeof *block, e) : NULL;
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
	struct store_walk w = { s, each, ctx };
	int status = PD_OK;
	for (uint32_t i = 0; !status && i < s->m.n_segments; i++)
		status = each_in_segment(&w, i, e);
	for (uint32_t i = 0; !status && i < s->recent.n; i++) {
		struct pd_store_page page = pd_store_recent_page(&s->recent, i);
		if (!pd_store_tombstones_has(&s->tombstones, s->recent.numbers[i]))
			status = each(ctx, s->recent.numbers[i], &page);
	}
	return status;
}

/* A tombstone may stand longer than what lay under it. */
int pd_store_measure(struct pd_store *s, struct pd_store_size *out, struct pd_err *e)
{
	size_t n;
	uint64_t *all = pd_store_tombstones_all(&s->tombstones, &n);
	int status = PD_OK;
	*out = (struct pd_store_size){ .pages = s->recent.n, .bytes = s->log_synced + s->tombstones.map.n };
	for (size_t i = 0; i < s->m.n_segments; i++) {
		out->pages += s->m.segments[i].rows;
		out->bytes += s->m.segments[i].bytes;
	}
	for (size_t i = 0; status >= 0 && i < n; i++) {
		struct pd_store_place at;
		status = find_row(s, all[i], &at, e);
		out->tombstones += status > 0;
	}
	free(all);
	out->pages -= out->tombstones;
	return status < 0 ? status : PD_OK;
}
