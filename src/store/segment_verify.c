/* SPDX-License-Identifier: MIT
 *
 * Full verification of a segment. Each damage is reported with its offset, and verification continues.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "store/segment.h"

/* Return whether entry `at` of a table belongs to this bucket, and its row is greater than the previous one. */
static bool entry_holds(const struct pd_store_segment *s, const struct pd_store_table_layout *l, const uint8_t *base,
			uint32_t table, uint32_t bucket, uint32_t at, int64_t *row)
{
	const uint64_t *keys = (const uint64_t *)(base + l->part[PD_STORE_TABLE_KEYS]);
	uint32_t words = s->f.bits / 64, r = ((const uint32_t *)(base + l->part[PD_STORE_TABLE_ROWS]))[at];
	if (r >= s->f.rows || r <= *row || !pd_store_in_tables((uint8_t)s->c.section[PD_STORE_SEG_HAS].p[r]))
		return false;
	const uint64_t *key = (const uint64_t *)pd_container_at(&s->c, PD_STORE_SEG_KEYS) + (size_t)r * words;
	for (uint32_t w = 0; w < words; w++)
		if (keys[l->stride * w + at] != key[w])
			return false;
	*row = r;
	struct pd_index_even even = { .n_blocks = (int)s->f.tables, .n_bits = (int)s->f.table_bits };
	return pd_index_even_block(&even, key, (int)table) == bucket;
}

/* Check that every table has every key once, in its bucket: the rows of a bucket ascend, and the table has one row
 * per fingerprint. */
static int verify_table(struct pd_store_segment *s, uint32_t table, struct pd_err *e)
{
	struct pd_store_table_layout layout;
	pd_store_lay_out_table(&s->f, &layout);
	uint64_t at = pd_store_segment_at(s, PD_STORE_SEG_TABLES) + layout.bytes * table;
	const uint32_t *starts = (const uint32_t *)(s->map.p + at), n = UINT32_C(1) << s->f.table_bits;
	for (uint32_t v = 0; v < n; v++) {
		int64_t row = -1;
		if (starts[v] > starts[v + 1] || starts[v + 1] > s->f.fingerprints)
			return pd_store_segment_damaged(s, at + v * UINT64_C(4), "a bucket points outside its table", e);
		for (uint32_t i = starts[v]; i < starts[v + 1]; i++)
			if (!entry_holds(s, &layout, s->map.p + at, table, v, i, &row))
				return pd_store_segment_damaged(s, at + layout.part[PD_STORE_TABLE_ROWS] + i * UINT64_C(4),
								"a table and the columns have different contents", e);
	}
	bool whole = starts[0] == 0 && starts[n] == s->f.fingerprints;
	return whole ? PD_OK : pd_store_segment_damaged(s, at, "a table lacks a row", e);
}

/* Check that every order has every dense page once, in its position. */
static int verify_order(struct pd_store_segment *s, int order, struct pd_err *e)
{
	struct pd_index_order o = pd_store_order_at(s, order);
	uint64_t at = (uint64_t)((const uint8_t *)o.start - s->map.p), entries = (uint64_t)((const uint8_t *)o.v - s->map.p);
	uint64_t n = UINT64_C(1) << pd_store_order_bits(s->f.dense);
	uint8_t *found = pd_zalloc(s->f.rows + 1);
	struct pd_store_page page, last;
	int status = o.start[0] || o.start[n] != s->f.dense ? pd_store_segment_damaged(s, at, "an order lacks a page", e) : PD_OK;
	for (uint64_t v = 0; !status && v < n; v++) {
		if (o.start[v] > o.start[v + 1] || o.start[v + 1] > s->f.dense)
			status = pd_store_segment_damaged(s, at + v * 4, "an order points outside itself", e);
		for (uint64_t i = o.start[v]; !status && i < o.start[v + 1]; i++) {
			uint32_t row = (uint32_t)o.v[i], begin = (uint32_t)(o.v[i] >> 32);
			status = row >= s->f.rows ? PD_ERR_FORMAT : pd_store_segment_page(s, row, NULL, &page, e);
			int c = status || !i ? 1 : pd_index_order_compare(page.sketch, last.sketch, order);
			if (status || !(page.has & PD_STORE_HAS_BANDS) || found[row] ||
			    begin != pd_index_order_begin(page.sketch, order) || (uint64_t)begin >> o.shift != v || c < 0 ||
			    (c == 0 && row < (uint32_t)o.v[i - 1]))
				status = pd_store_segment_damaged(s, entries + i * 8,
								  "an order and the columns have different contents", e);
			else
				found[row] = 1;
			last = page;
		}
	}
	free(found);
	return status;
}

/* Check tables and orders, and their numbers of pages. */
static int verify_tables(struct pd_store_segment *s, struct pd_err *e)
{
	uint64_t fingerprints = 0, dense = 0;
	int status = PD_OK;
	for (uint64_t row = 0; row < s->f.rows; row++) {
		fingerprints += pd_store_in_tables((uint8_t)s->c.section[PD_STORE_SEG_HAS].p[row]);
		dense += (s->c.section[PD_STORE_SEG_HAS].p[row] & PD_STORE_HAS_BANDS) > 0;
	}
	if (fingerprints != s->f.fingerprints || (s->c.version > PD_STORE_BANDS_BY_HASH && dense != s->f.dense))
		return pd_store_segment_damaged(s, pd_store_segment_at(s, PD_STORE_SEG_HAS),
						fingerprints != s->f.fingerprints
							? "the number of fingerprints is not the number in the footer"
							: "the number of dense pages is not the number in the footer",
						e);
	for (uint32_t t = 0; !status && t < s->f.tables; t++)
		status = verify_table(s, t, e);
	for (int i = 0; !status && i < s->orders.n; i++)
		status = verify_order(s, i, e);
	return status;
}

/* Rows with the same hash ascend. */
static int verify_listed(struct pd_store_segment *s, enum pd_store_by by, uint64_t hash, uint32_t row, struct pd_err *e)
{
	uint64_t from, to;
	int status = pd_store_segment_narrow(s, by, hash, hash, &from, &to, e);
	const uint64_t *hashes = status ? NULL : pd_store_segment_items(s, PD_STORE_SEG_HASHES + (int)by, from, to, 8, e);
	const uint32_t *rows = hashes ? pd_store_segment_items(s, PD_STORE_SEG_LIST_ROWS + (int)by, from, to, 4, e) : NULL;
	if (!rows)
		return PD_ERR_FORMAT;
	uint64_t at = PD_LOWER_BOUND(i, 0, to - from, hashes[i] < hash || (hashes[i] == hash && rows[i] < row));
	bool there = at < to - from && hashes[at] == hash && rows[at] == row;
	return there ? PD_OK
		     : pd_store_segment_damaged(s, pd_store_segment_at(s, PD_STORE_SEG_HASHES + by), "a list lacks a row", e);
}

/* Check the rows one by one: numbers ascend, texts decompress, and lists agree with the columns. */
static int verify_rows(struct pd_store_segment *s, struct pd_store_text_cache *texts, struct pd_err *e)
{
	uint32_t bands[PD_STORE_BANDS];
	uint64_t keys[PD_STORE_KEYS_MAX + PD_STORE_SUBJECTS_MAX];
	struct pd_store_page page;
	const uint32_t *numbers = pd_container_at(&s->c, PD_STORE_SEG_NUMBERS);
	int status = PD_OK;
	for (uint32_t row = 0; !status && row < s->f.rows; row++) {
		if (row && numbers[row] <= numbers[row - 1])
			status = pd_store_segment_damaged(s, pd_store_segment_at(s, PD_STORE_SEG_NUMBERS) + row * UINT64_C(4),
							  "pages are out of order", e);
		if (!status)
			status = pd_store_segment_page(s, row, texts, &page, e);
		if (!status)
			pd_store_page_hash(&page);
		for (int by = 0; !status && by < PD_STORE_BY_COUNT; by++)
			if (page.hash[by])
				status = verify_listed(s, (enum pd_store_by)by, page.hash[by], row, e);
		for (size_t i = 0, n = status || s->c.version > PD_STORE_BANDS_BY_HASH ? 0 : pd_store_page_bands(&page, bands);
		     !status && i < n; i++)
			status = verify_listed(s, PD_STORE_BY_TEXT, pd_store_band_hash(bands[i]), row, e);
		size_t n_keys = status ? 0 : pd_store_page_keys(&page, keys);
		if (!status)
			n_keys += pd_store_page_subjects(&page, keys + n_keys);
		for (size_t i = 0; !status && i < n_keys; i++)
			status = verify_listed(s, PD_STORE_BY_TEXT, keys[i], row, e);
	}
	return status;
}

/* Check the sums first.  The tables and rows are only checked if the sums agree; otherwise they would report the same
 * damage again. */
int pd_store_segment_verify(struct pd_store_segment *s, struct pd_store_text_cache *texts, pd_store_damage_fn *damaged,
			    void *damaged_ctx, struct pd_err *e)
{
	struct pd_store_damage damage = { .s = s, .damaged = damaged, .ctx = damaged_ctx };
	int status = PD_OK;
	for (uint64_t at = 0; at < s->c.sums.n; at += PD_STORE_BLOCK)
		if (pd_store_segment_check(s, at, 1, e))
			pd_store_damage_report(&damage, e->text);
	if (!damage.n)
		status = verify_tables(s, e);
	if (!damage.n && !status)
		status = verify_rows(s, texts, e);
	if (status == PD_ERR_FORMAT)
		pd_store_damage_report(&damage, e->text);
	pd_store_damage_end(&damage);
	return status == PD_ERR_FORMAT ? PD_OK : status;
}
