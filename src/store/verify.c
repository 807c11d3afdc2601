/* SPDX-License-Identifier: MIT
 *
 * Every byte of a store, looked at: each damage goes to the caller with file and offset, and looking goes on behind it.
 */
#include <stdlib.h>

#include "join/permute.h"
#include "store/store.h"

struct looking {
	struct pd_store s;
	void (*damaged)(void *ctx, const char *what);
	void *ctx;
	struct pd_err e;
};

/* What is wrong with a file is told; what keeps us from looking is not passed over. */
static int tell(struct looking *l, int status)
{
	if (status == PD_ERR_FORMAT || status == PD_ERR_NOT_FOUND)
		l->damaged(l->ctx, l->e.text);
	return status == PD_ERR_NOT_FOUND || status == PD_ERR_FORMAT ? PD_OK : status;
}

static uint32_t bucket_of(const struct pd_segment *seg, const uint64_t *key, uint32_t table)
{
	int bits = (int)seg->f.table_bits;
	return bits ? (uint32_t)pd_bits_get(key, (int)table * bits, bits) : 0;
}

/* Does entry `at` of a table stand in this bucket by right, behind the row before it? */
static bool entry_holds(const struct pd_segment *seg, const struct pd_table_layout *l, const uint8_t *base, uint32_t table,
			uint32_t bucket, uint32_t at, int64_t *row)
{
	const uint64_t *keys = (const uint64_t *)(base + l->part[PD_TABLE_KEYS]);
	uint32_t words = seg->f.bits / 64, r = ((const uint32_t *)(base + l->part[PD_TABLE_ROWS]))[at];
	if (r >= seg->f.rows || r <= *row || !(seg->section[PD_SEG_HAS][r] & PD_HAS_PRINT))
		return false;
	const uint64_t *key = (const uint64_t *)seg->section[PD_SEG_KEYS] + (size_t)r * words;
	for (uint32_t w = 0; w < words; w++)
		if (keys[l->stride * w + at] != key[w])
			return false;
	*row = r;
	return bucket_of(seg, key, table) == bucket;
}

/* Every table has every key once, where it belongs: the rows of a bucket ascend, and there are as many as fingerprints. */
static int look_at_table(struct looking *l, struct pd_segment *seg, uint32_t table)
{
	struct pd_table_layout layout;
	pd_table_layout(&seg->f, &layout);
	uint64_t at = seg->f.section[PD_SEG_TABLES].at + layout.bytes * table;
	const uint32_t *starts = (const uint32_t *)(seg->map.p + at), n = UINT32_C(1) << seg->f.table_bits;
	for (uint32_t v = 0; v < n; v++) {
		int64_t row = -1;
		if (starts[v] > starts[v + 1] || starts[v + 1] > seg->f.prints)
			return pd_segment_damaged(seg, at + v * UINT64_C(4), "a bucket leads out of its table", &l->e);
		for (uint32_t i = starts[v]; i < starts[v + 1]; i++)
			if (!entry_holds(seg, &layout, seg->map.p + at, table, v, i, &row))
				return pd_segment_damaged(seg, at + layout.part[PD_TABLE_ROWS] + i * UINT64_C(4),
							  "a table does not hold what the columns hold", &l->e);
	}
	return starts[0] == 0 && starts[n] == seg->f.prints ? PD_OK : pd_segment_damaged(seg, at, "a table lacks a row", &l->e);
}

static int look_at_tables(struct looking *l, struct pd_segment *seg)
{
	uint64_t prints = 0;
	int status = PD_OK;
	for (uint64_t row = 0; row < seg->f.rows; row++)
		prints += seg->section[PD_SEG_HAS][row] & PD_HAS_PRINT;
	if (prints != seg->f.prints)
		return pd_segment_damaged(seg, seg->f.section[PD_SEG_HAS].at, "there are more or fewer fingerprints than counted", &l->e);
	for (uint32_t t = 0; !status && t < seg->f.tables; t++)
		status = look_at_table(l, seg, t);
	return status;
}

/* The rows of a segment, one by one: numbers that ascend, texts that unpack, lists that hold what the columns hold. */
static int look_at_rows(struct looking *l, struct pd_segment *seg, uint32_t index)
{
	struct pd_rows_found found = { 0 };
	struct pd_store_page page;
	struct pd_store_place at = { .segment = index };
	const uint32_t *numbers = (const uint32_t *)seg->section[PD_SEG_NUMBERS];
	int status = PD_OK;
	for (uint32_t row = 0; !status && row < seg->f.rows; row++) {
		at.row = row;
		if (row && numbers[row] <= numbers[row - 1])
			status = pd_segment_damaged(seg, seg->f.section[PD_SEG_NUMBERS].at + row * UINT64_C(4), "pages are out of order", &l->e);
		if (!status)
			status = pd_store_page(&l->s, &at, true, &page, &l->e);
		for (int by = 0; !status && by < PD_BY_COUNT; by++) {
			bool there = !page.hash[by];
			found.n = 0;
			if (!there)
				status = pd_segment_find(seg, (enum pd_store_by)by, page.hash[by], page.hash[by], &found, &l->e);
			for (size_t i = 0; i < found.n; i++)
				there = there || found.v[i] == row;
			if (!status && !there)
				status = pd_segment_damaged(seg, seg->f.section[PD_SEG_HASHES + by].at, "a list lacks a row", &l->e);
		}
	}
	free(found.v);
	return status;
}

static int look_at_segment(struct looking *l, size_t i)
{
	struct pd_segment *seg = &l->s.segments[i];
	int status = pd_store_open_segment(&l->s, i, seg, &l->e), bad = 0;
	if (status)
		return tell(l, status);
	for (uint64_t at = 0; at < seg->f.content; at += PD_STORE_BLOCK)
		if (pd_segment_check(seg, at, 1, &l->e)) {
			bad++;
			tell(l, PD_ERR_FORMAT);
		}
	if (!bad)
		status = look_at_tables(l, seg);
	if (!bad && !status)
		status = look_at_rows(l, seg, (uint32_t)i);
	return tell(l, status);
}

static int look_at_gone(struct looking *l)
{
	struct pd_io_map map;
	struct pd_buf path = { 0 };
	char name[PD_IO_NAME_MAX];
	pd_store_name(&l->s, "gone", l->s.m.gone, name, &path);
	int status = l->s.m.gone ? pd_io_map(&l->s.io, name, &map, &l->e) : PD_OK;
	if (!status && l->s.m.gone)
		status = pd_gone_open(&l->s.gone, map, l->s.m.gone, path.p, &l->e);
	pd_buf_release(&path);
	return tell(l, status);
}

static int look_at_log(struct looking *l)
{
	struct pd_buf path = { 0 }, bytes = { 0 };
	struct pd_log_record record;
	char name[PD_IO_NAME_MAX];
	pd_store_name(&l->s, "log", l->s.m.log, name, &path);
	int status = pd_io_read(&l->s.io, name, &bytes, &l->e);
	struct pd_log_reader r = { .bytes = pd_buf_span(&bytes), .file = l->s.m.log, .name = path.p, .bits = l->s.m.bits };
	if (!status)
		status = pd_log_begin(&r, &l->e);
	while (!status && (status = pd_log_next(&r, &record, &l->e)) > 0)
		status = PD_OK;
	pd_buf_release(&bytes);
	pd_buf_release(&path);
	return tell(l, status);
}

int pd_store_verify(const char *dir, void (*damaged)(void *ctx, const char *what), void *ctx, struct pd_err *e)
{
	struct looking l = { .s = { .lock = -1, .log.fd = -1 }, .damaged = damaged, .ctx = ctx };
	int status = pd_io_open_dir(&l.s.io, dir, &l.e);
	if (!status)
		status = pd_manifest_load(&l.s.m, &l.s.io, &l.e);
	if (status == PD_ERR_FORMAT) {
		tell(&l, status);
		pd_store_close(&l.s);
		return PD_OK;
	}
	l.s.texts = pd_text_cache_new();
	l.s.segments = pd_zalloc((l.s.m.n_segments + 1) * sizeof *l.s.segments);
	for (size_t i = 0; !status && i < l.s.m.n_segments; i++)
		status = look_at_segment(&l, i);
	if (!status)
		status = look_at_gone(&l);
	if (!status)
		status = look_at_log(&l);
	pd_store_close(&l.s);
	if (status && e)
		*e = l.e;
	return status;
}
