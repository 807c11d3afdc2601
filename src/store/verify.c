/* SPDX-License-Identifier: MIT
 *
 * Every byte of a store, looked at: each damage goes to the caller with file and offset, and looking goes on behind it.
 */
#include <stdlib.h>

#include "join/bits.h"
#include "store/store.h"

static uint32_t bucket_of(const struct pd_store_segment *seg, const uint64_t *key, uint32_t table)
{
	int bits = (int)seg->f.table_bits;
	return bits ? (uint32_t)pd_bits_get(key, (int)table * bits, bits) : 0;
}

/* Does entry `at` of a table stand in this bucket by right, behind the row before it? */
static bool entry_holds(const struct pd_store_segment *seg, const struct pd_store_table_layout *l, const uint8_t *base,
			uint32_t table, uint32_t bucket, uint32_t at, int64_t *row)
{
	const uint64_t *keys = (const uint64_t *)(base + l->part[PD_STORE_TABLE_KEYS]);
	uint32_t words = seg->f.bits / 64, r = ((const uint32_t *)(base + l->part[PD_STORE_TABLE_ROWS]))[at];
	if (r >= seg->f.rows || r <= *row || !pd_store_in_tables(seg->section[PD_STORE_SEG_HAS][r]))
		return false;
	const uint64_t *key = (const uint64_t *)seg->section[PD_STORE_SEG_KEYS] + (size_t)r * words;
	for (uint32_t w = 0; w < words; w++)
		if (keys[l->stride * w + at] != key[w])
			return false;
	*row = r;
	return bucket_of(seg, key, table) == bucket;
}

/* Every table has every key once, where it belongs: the rows of a bucket ascend, and there are as many as fingerprints. */
static int look_at_table(struct pd_store_segment *seg, uint32_t table, struct pd_err *e)
{
	struct pd_store_table_layout layout;
	pd_store_table_layout(&seg->f, &layout);
	uint64_t at = seg->f.section[PD_STORE_SEG_TABLES].at + layout.bytes * table;
	const uint32_t *starts = (const uint32_t *)(seg->map.p + at), n = UINT32_C(1) << seg->f.table_bits;
	for (uint32_t v = 0; v < n; v++) {
		int64_t row = -1;
		if (starts[v] > starts[v + 1] || starts[v + 1] > seg->f.prints)
			return pd_store_segment_damaged(seg, at + v * UINT64_C(4), "a bucket leads out of its table", e);
		for (uint32_t i = starts[v]; i < starts[v + 1]; i++)
			if (!entry_holds(seg, &layout, seg->map.p + at, table, v, i, &row))
				return pd_store_segment_damaged(seg, at + layout.part[PD_STORE_TABLE_ROWS] + i * UINT64_C(4),
								"a table does not hold what the columns hold", e);
	}
	bool whole = starts[0] == 0 && starts[n] == seg->f.prints;
	return whole ? PD_OK : pd_store_segment_damaged(seg, at, "a table lacks a row", e);
}

static int look_at_tables(struct pd_store_segment *seg, struct pd_err *e)
{
	uint64_t prints = 0;
	int status = PD_OK;
	for (uint64_t row = 0; row < seg->f.rows; row++)
		prints += pd_store_in_tables(seg->section[PD_STORE_SEG_HAS][row]);
	if (prints != seg->f.prints)
		return pd_store_segment_damaged(seg, seg->f.section[PD_STORE_SEG_HAS].at,
						"there are more or fewer fingerprints than counted", e);
	for (uint32_t t = 0; !status && t < seg->f.tables; t++)
		status = look_at_table(seg, t, e);
	return status;
}

static int look_up_row(struct pd_store_segment *seg, enum pd_store_by by, uint64_t hash, uint32_t row, struct pd_err *e)
{
	struct pd_store_rows_found found = { 0 };
	bool there = false;
	int status = pd_store_segment_find(seg, by, hash, hash, &found, e);
	for (size_t i = 0; i < found.n; i++)
		there = there || found.v[i] == row;
	free(found.v);
	if (!status && !there)
		status = pd_store_segment_damaged(seg, seg->f.section[PD_STORE_SEG_HASHES + by].at,
						  "a list lacks a row", e);
	return status;
}

/* The rows of a segment, one by one: numbers that ascend, texts that unpack, lists that hold what the columns hold. */
static int look_at_rows(struct pd_store *s, struct pd_store_segment *seg, uint32_t index, struct pd_err *e)
{
	uint32_t bands[PD_STORE_BANDS];
	struct pd_store_page page;
	struct pd_store_place at = { .segment = index };
	const uint32_t *numbers = (const uint32_t *)seg->section[PD_STORE_SEG_NUMBERS];
	int status = PD_OK;
	for (uint32_t row = 0; !status && row < seg->f.rows; row++) {
		at.row = row;
		if (row && numbers[row] <= numbers[row - 1])
			status = pd_store_segment_damaged(seg, seg->f.section[PD_STORE_SEG_NUMBERS].at + row * UINT64_C(4),
							  "pages are out of order", e);
		if (!status)
			status = pd_store_page(s, &at, true, &page, e);
		for (int by = 0; !status && by < PD_STORE_BY_COUNT; by++)
			if (page.hash[by])
				status = look_up_row(seg, (enum pd_store_by)by, page.hash[by], row, e);
		for (size_t i = 0, n = status ? 0 : pd_store_page_bands(&page, bands); !status && i < n; i++)
			status = look_up_row(seg, PD_STORE_BY_TEXT, pd_store_band_hash(bands[i]), row, e);
	}
	return status;
}

static int look_at_segment(struct pd_store *s, uint32_t i, struct pd_err *e)
{
	struct pd_store_segment *seg = &s->segments[i];
	struct pd_store_damage damage = { .s = s, .file = seg->name };
	int status = PD_OK;
	for (uint64_t at = 0; at < seg->f.content; at += PD_STORE_BLOCK)
		if (pd_store_segment_check(seg, at, 1, e))
			pd_store_damage_tell(&damage, e->text);
	if (!damage.n)
		status = look_at_tables(seg, e);
	if (!damage.n && !status)
		status = look_at_rows(s, seg, i, e);
	if (status == PD_ERR_FORMAT)
		pd_store_damage_tell(&damage, e->text);
	pd_store_damage_end(&damage);
	return status == PD_ERR_FORMAT ? PD_OK : status;
}

/* Opening looks at the manifest, the log and the list of what is removed; a segment that it had to leave out is not mapped. */
int pd_store_verify(struct pd_store *s, const char *dir, struct pd_err *e)
{
	int status = pd_store_open(s, dir, PD_STORE_READ, e);
	if (status == PD_ERR_FORMAT) {
		s->damaged(s->damaged_ctx, e->text);
		return PD_OK;
	}
	for (uint32_t i = 0; !status && i < s->m.n_segments; i++)
		if (s->segments[i].map.p)
			status = look_at_segment(s, i, e);
	return status;
}
