/* SPDX-License-Identifier: MIT */
#include "store/segment.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/sort.h"
#include "index/plan.h"

static int fail_damaged(const struct pd_store_segment *s, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": %s", s->name, at, what);
}

static uint64_t aligned(uint64_t n)
{
	return (n + PD_STORE_ALIGN - 1) / PD_STORE_ALIGN * PD_STORE_ALIGN;
}

/* The parts of a table, in sequence: 0 starts, 1 keys of one word, 2 rows. */
enum table_part { TABLE_STARTS, TABLE_KEYS, TABLE_ROWS };
struct table_layout {
	uint64_t part[3], bytes; /* where each begins, from the table's beginning; all of it */
	uint64_t stride;	 /* keys of a word, including padding that makes scanning safe */
};

static void lay_out_table(const struct pd_store_segment_footer *f, struct table_layout *l)
{
	l->stride = aligned((f->fingerprints + PD_STORE_SEGMENT_PAD) * 8) / 8;
	l->part[TABLE_STARTS] = 0;
	l->part[TABLE_KEYS] = aligned(((UINT64_C(1) << f->table_bits) + 1) * 4);
	l->part[TABLE_ROWS] = l->part[TABLE_KEYS] + l->stride * 8 * (f->bits / 64);
	l->bytes = l->part[TABLE_ROWS] + aligned(f->fingerprints * 4);
}

/* The orders of sketches, one for each band, follow the tables of keys: the starts by prefix, then prefixes and
 * rows, a word each. */
enum { ORDER_BUCKET_BITS = 3, ORDER_BITS_MAX = 24 };

static int order_bits(uint32_t dense)
{
	int bits = 0;
	while (bits < ORDER_BITS_MAX && dense >> (bits + ORDER_BUCKET_BITS))
		bits++;
	return bits;
}

static int n_orders(const struct pd_store_segment_footer *f)
{
	return f->dense ? (int)f->sketch_words * 64 / PD_STORE_BAND_BITS : 0;
}

static struct pd_store_segment_orders lay_out_orders(const struct pd_store_segment_footer *f)
{
	struct table_layout l;
	lay_out_table(f, &l);
	uint64_t head = aligned(((UINT64_C(1) << order_bits(f->dense)) + 1) * 4);
	return (struct pd_store_segment_orders){ n_orders(f), 32 - order_bits(f->dense),
						 f->section[PD_STORE_SEG_TABLES].at + l.bytes * f->tables, head,
						 head + aligned(f->dense * UINT64_C(8)) };
}

/* The required size of a section; UINT64_MAX: any. */
static uint64_t section_size(const struct pd_store_segment_footer *f, int section)
{
	struct table_layout l;
	switch (section) {
	case PD_STORE_SEG_NUMBERS: return f->rows * 4;
	case PD_STORE_SEG_HAS: return f->rows;
	case PD_STORE_SEG_KEYS: return f->rows * f->bits / 8;
	case PD_STORE_SEG_SKETCHES: return f->rows * f->sketch_words * 8;
	case PD_STORE_SEG_TABLES:
		lay_out_table(f, &l);
		return l.bytes * f->tables + lay_out_orders(f).bytes * (unsigned)n_orders(f);
	case PD_STORE_SEG_ROW_BLOCKS: return f->row_blocks * sizeof(struct pd_store_row_block);
	case PD_STORE_SEG_ROWS: return UINT64_MAX;
	}
	if (section >= PD_STORE_SEG_STARTS)
		return ((UINT64_C(1) << f->start_bits[section - PD_STORE_SEG_STARTS]) + 1) * 4;
	if (section >= PD_STORE_SEG_LIST_ROWS)
		return f->listed[section - PD_STORE_SEG_LIST_ROWS] * 4;
	return f->listed[section - PD_STORE_SEG_HASHES] * 8;
}

static bool counts_hold(const struct pd_store_segment_footer *f)
{
	if (f->rows > PD_STORE_SEGMENT_ROWS)
		return false;
	for (int i = 0; i < PD_STORE_BY_COUNT; i++)
		if (f->listed[i] > f->rows * (i == PD_STORE_BY_TEXT ? PD_STORE_BANDS + PD_STORE_KEYS_MAX : 1) ||
		    f->listed[i] > UINT32_MAX || f->start_bits[i] > 30)
			return false;
	return f->fingerprints <= f->rows && f->dense <= f->rows && (f->version >= 4 || !f->dense) && f->row_blocks <= f->rows &&
	       f->first <= UINT64_MAX / 2 && (f->bits == 64 || f->bits == 128 || f->bits == 256) &&
	       f->sketch_words <= PD_SKETCH_WORDS && f->tables > 0 && f->tables <= PD_STORE_TABLES_MAX &&
	       f->table_bits <= PD_STORE_BLOCK_BITS_MAX && f->tables * f->table_bits <= f->bits;
}

static bool sections_hold(const struct pd_store_segment *s)
{
	const struct pd_store_segment_footer *f = &s->f;
	uint64_t end = 0;
	for (int i = 0; i < PD_STORE_SEG_SECTIONS; i++) {
		uint64_t want = section_size(f, i), at = f->section[i].at, n = f->section[i].n;
		if (at % PD_STORE_ALIGN || at < end || at > f->content || n > f->content - at || (want != UINT64_MAX && n != want))
			return false;
		end = at + n;
	}
	return true;
}

static uint64_t n_checks(const struct pd_store_segment_footer *f)
{
	return (f->content + PD_STORE_BLOCK - 1) / PD_STORE_BLOCK;
}

static int read_footer(struct pd_store_segment *s, uint64_t file, struct pd_err *e)
{
	struct pd_store_segment_footer *f = &s->f;
	uint64_t at = s->map.n - sizeof *f;
	if (s->map.n < sizeof *f)
		return fail_damaged(s, s->map.n, "too short for a segment", e);
	memcpy(f, s->map.p + at, sizeof *f);
	if (memcmp(f->magic, PD_STORE_SEGMENT_MAGIC, 8))
		return fail_damaged(s, at, "not the end of a segment", e);
	if (f->version > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s: a segment of version %" PRIu32 "; this program knows version %d", s->name,
			       f->version, PD_STORE_VERSION);
	if (f->check != pd_hash64_seed(f, sizeof *f - 8, file))
		return fail_damaged(s, at, "the checksum of the footer does not match", e);
	if (f->file != file || f->block != PD_STORE_BLOCK || f->content > at || !counts_hold(f) || !sections_hold(s) ||
	    at - f->content != n_checks(f) * 8)
		return fail_damaged(s, at, "the footer contradicts itself", e);
	return PD_OK;
}

int pd_store_segment_open(struct pd_store_segment *s, struct pd_store_io_map map, uint64_t file, const char *name, struct pd_err *e)
{
	*s = (struct pd_store_segment){ .map = map, .name = pd_strdup(name) };
	int status = read_footer(s, file, e);
	uint64_t n = status ? 0 : n_checks(&s->f) * 8;
	if (!status)
		s->checks = map.p + s->f.content;
	if (!status && s->f.checks_check != pd_hash64_seed(s->checks, n, file))
		status = fail_damaged(s, s->f.content, "the checksum of the checksums does not match", e);
	if (status) {
		pd_store_segment_close(s);
		return status;
	}
	s->seen = pd_zalloc(n / 8 + 1);
	s->orders = lay_out_orders(&s->f);
	for (int i = 0; i < PD_STORE_SEG_SECTIONS; i++)
		s->section[i] = map.p + s->f.section[i].at;
	return PD_OK;
}

void pd_store_segment_close(struct pd_store_segment *s)
{
	pd_store_io_unmap(&s->map);
	free(s->name);
	free(s->seen);
	*s = (struct pd_store_segment){ 0 };
}

int pd_store_segment_load(struct pd_store_segment *s, const struct pd_store_io *io, const struct pd_store_manifest_segment *m,
			  int bits, struct pd_err *e)
{
	struct pd_store_io_map map;
	struct pd_buf path = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	pd_store_io_name(io, "seg", m->file, name, &path);
	int status = pd_store_io_map(io, name, &map, e);
	if (!status && map.n != m->bytes) {
		status = pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %zu: it has %zu bytes, not %" PRIu64, path.p,
				 map.n < m->bytes ? map.n : (size_t)m->bytes, map.n, m->bytes);
		pd_store_io_unmap(&map);
	}
	if (!status)
		status = pd_store_segment_open(s, map, m->file, path.p, e);
	if (!status && (s->f.check != m->check || s->f.rows != m->rows || (int)s->f.bits != bits)) {
		status = fail_damaged(s, s->f.content, "not the file that the manifest means", e);
		pd_store_segment_close(s);
	}
	pd_buf_release(&path);
	return status;
}

static int check_block(struct pd_store_segment *s, uint64_t block, struct pd_err *e)
{
	uint64_t at = block * PD_STORE_BLOCK, n = s->f.content - at;
	if (n > PD_STORE_BLOCK)
		n = PD_STORE_BLOCK;
	if (pd_hash64_seed(s->map.p + at, n, s->f.file << 32 ^ block) != pd_store_get64(s->checks + block * 8))
		return fail_damaged(s, at, "the checksum of this block does not match", e);
	s->seen[block] = 1;
	return PD_OK;
}

static int check_unseen(struct pd_store_segment *s, uint64_t first, uint64_t last, struct pd_err *e)
{
	for (uint64_t b = first; b <= last; b++)
		if (!s->seen[b] && check_block(s, b, e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

/* Verify the checksums of the blocks that contain n bytes from `at` on, at their first use.  It is nearly always one
 * block that was verified before: a query calls this thousands of times. */
static inline int check(struct pd_store_segment *s, uint64_t at, uint64_t n, struct pd_err *e)
{
	uint64_t first = at / PD_STORE_BLOCK, last = n ? (at + n - 1) / PD_STORE_BLOCK : 0;
	return !n || (first == last && s->seen[first]) ? PD_OK : check_unseen(s, first, last, e);
}

static inline const void *items_at(struct pd_store_segment *s, int section, uint64_t from, uint64_t to, size_t size,
				   struct pd_err *e)
{
	uint64_t at = s->f.section[section].at;
	if (from > to || to * size > s->f.section[section].n) {
		fail_damaged(s, at, "it points outside a section", e);
		return NULL;
	}
	return check(s, at + from * size, (to - from) * size, e) ? NULL : s->map.p + at + from * size;
}

int pd_store_segment_number(struct pd_store_segment *s, uint32_t row, uint64_t *number, struct pd_err *e)
{
	const uint32_t *p = items_at(s, PD_STORE_SEG_NUMBERS, row, row + UINT64_C(1), 4, e);
	if (p)
		*number = s->f.first + *p;
	return p ? PD_OK : PD_ERR_FORMAT;
}

/* Is the number of the row less?  *status: could it be read? */
static bool is_before(struct pd_store_segment *s, uint64_t row, uint64_t number, int *status, struct pd_err *e)
{
	uint64_t at = 0;
	if (!*status)
		*status = pd_store_segment_number(s, (uint32_t)row, &at, e);
	return at < number;
}

int pd_store_segment_row(struct pd_store_segment *s, uint64_t number, uint32_t *row, struct pd_err *e)
{
	int status = PD_OK;
	uint64_t at = 0;
	size_t found = PD_LOWER_BOUND(i, 0, s->f.rows, is_before(s, i, number, &status, e));
	*row = (uint32_t)found;
	if (!status && found < s->f.rows)
		status = pd_store_segment_number(s, *row, &at, e);
	return status ? PD_ERR_FORMAT : found < s->f.rows && at == number;
}

/* Search of hashes: the highest bits give a range of a few hashes. */

/* The range of hashes with these highest bits: from *from to *to - 1. */
static int narrow(struct pd_store_segment *s, enum pd_store_by by, uint64_t low, uint64_t high, uint64_t *from, uint64_t *to,
		  struct pd_err *e)
{
	int shift = 64 - (int)s->f.start_bits[by], section = PD_STORE_SEG_STARTS + (int)by;
	uint64_t a = shift == 64 ? 0 : low >> shift, b = shift == 64 ? 0 : high >> shift;
	const uint32_t *first = items_at(s, section, a, a + 1, 4, e);
	const uint32_t *last = first ? items_at(s, section, b + 1, b + 2, 4, e) : NULL;
	if (!last)
		return PD_ERR_FORMAT;
	*from = *first;
	*to = *last;
	if (*from > *to || *to > s->f.listed[by])
		return fail_damaged(s, s->f.section[section].at, "a list points outside itself", e);
	return PD_OK;
}

/* These bytes are only prefetched, so no checksum is verified. */
void pd_store_segment_find_soon(const struct pd_store_segment *s, enum pd_store_by by, uint64_t hash, int step)
{
	int shift = 64 - (int)s->f.start_bits[by];
	const uint32_t *starts = (const uint32_t *)s->section[PD_STORE_SEG_STARTS + by];
	const uint32_t *start = starts + (shift == 64 ? 0 : hash >> shift);
	if (step == 0)
		pd_prefetch(start);
	else if (*start < s->f.listed[by])
		for (uint64_t line = 0; line < 2; line++)
			pd_prefetch((const uint64_t *)s->section[PD_STORE_SEG_HASHES + by] + *start + line * 8);
}

int pd_store_segment_find(struct pd_store_segment *s, enum pd_store_by by, uint64_t low, uint64_t high,
			  struct pd_store_rows_found *out, struct pd_err *e)
{
	uint64_t from, to;
	int status = narrow(s, by, low, high, &from, &to, e);
	if (status || from == to)
		return status;
	const uint64_t *hash = items_at(s, PD_STORE_SEG_HASHES + (int)by, from, to, 8, e);
	if (!hash)
		return PD_ERR_FORMAT;
	for (uint64_t i = PD_LOWER_BOUND(at, 0, to - from, hash[at] < low);
	     i < to - from && hash[i] <= high && (!out->most || out->n < out->most); i++) {
		const uint32_t *row = items_at(s, PD_STORE_SEG_LIST_ROWS + (int)by, from + i, from + i + 1, 4, e);
		if (!row)
			return PD_ERR_FORMAT;
		if (*row >= s->f.rows)
			return fail_damaged(s, s->f.section[PD_STORE_SEG_LIST_ROWS + by].at, "a list points outside the segment",
					    e);
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
		out->v[out->n++] = *row;
	}
	return PD_OK;
}

/* --- sketches in their orders --- */

enum { BANDS_BY_HASH = 3 }; /* up to this version bands are in a list */

/* For an older segment: sort the pages in the list of the band into their order. */
static int beside_by_hash(struct pd_store_segment *s, const struct pd_store_beside_question *q, struct pd_store_beside *out,
			  struct pd_err *e)
{
	struct pd_store_rows_found rows = { .most = PD_STORE_BESIDE_MAX };
	uint64_t hash = pd_store_band_hash(q->band);
	struct pd_store_page page;
	int status = pd_store_segment_find(s, PD_STORE_BY_TEXT, hash, hash, &rows, e);
	for (size_t i = 0; !status && i < rows.n; i++) {
		status = pd_store_segment_page(s, rows.v[i], NULL, &page, e);
		int side = pd_store_order_compare(page.sketch, q->sketch, q->order) >= 0;
		out->v[side][out->n[side]++] =
			(struct pd_store_beside_page){ pd_store_order_begin(page.sketch, q->order), rows.v[i] };
	}
	free(rows.v);
	return status;
}

struct order_place {
	uint64_t at, entries; /* offset of the order in the file, and its entries */
	const uint32_t *starts;
	const uint64_t *v; /* beginning << 32 | row */
	int shift;
};

static inline struct order_place order_place(const struct pd_store_segment *s, int order)
{
	uint64_t at = s->orders.at + s->orders.bytes * (unsigned)order, entries = at + s->orders.head;
	return (struct order_place){ at, entries, (const uint32_t *)(s->map.p + at), (const uint64_t *)(s->map.p + entries),
				     s->orders.shift };
}

static inline uint64_t order_bucket(const struct order_place *o, uint32_t begin)
{
	return (uint64_t)begin >> o->shift;
}

void pd_store_segment_beside_soon(const struct pd_store_segment *s, const struct pd_store_beside_question *q, int step)
{
	if (q->order >= s->orders.n)
		return;
	struct order_place o = order_place(s, q->order);
	const uint32_t *start = o.starts + order_bucket(&o, q->begin);
	if (step == 0)
		pd_prefetch(start);
	else if (*start < s->f.dense)
		for (int line = -1; line < 2; line++)
			pd_prefetch(o.v + *start + line * 8);
}

/* The entry, after its checksum was verified; NULL: it cannot be read. */
static inline const uint64_t *order_entry(struct pd_store_segment *s, const struct order_place *o, uint64_t i, struct pd_err *e)
{
	uint64_t at = o->entries + i * 8;
	if (check(s, at, 8, e))
		return NULL;
	if ((uint32_t)o->v[i] >= s->f.rows) {
		fail_damaged(s, at, "an order points outside the segment", e);
		return NULL;
	}
	return &o->v[i];
}

static bool order_before(struct pd_store_segment *s, const struct order_place *o, uint64_t i,
			 const struct pd_store_beside_question *q, int *status, struct pd_err *e)
{
	uint64_t room[PD_SKETCH_WORDS];
	const uint64_t *v = *status ? NULL : order_entry(s, o, i, e), *kept;
	if (!v)
		*status = PD_ERR_FORMAT;
	if (!v || *v >> 32 != q->begin)
		return v && *v >> 32 < q->begin;
	*status = pd_store_segment_sketch(s, (uint32_t)*v, room, &kept, e);
	return !*status && kept && pd_store_order_compare(kept, q->sketch, q->order) < 0;
}

int pd_store_segment_beside(struct pd_store_segment *s, const struct pd_store_beside_question *q, struct pd_store_beside *out,
			    struct pd_err *e)
{
	int status = PD_OK;
	out->n[0] = out->n[1] = 0;
	if (s->f.version <= BANDS_BY_HASH)
		return beside_by_hash(s, q, out, e);
	if (q->order >= s->orders.n)
		return PD_OK;
	struct order_place o = order_place(s, q->order);
	uint64_t bucket = order_bucket(&o, q->begin);
	if (check(s, o.at + bucket * 4, 8, e))
		return PD_ERR_FORMAT;
	if (o.starts[bucket] > o.starts[bucket + 1] || o.starts[bucket + 1] > s->f.dense)
		return fail_damaged(s, o.at + bucket * 4, "an order points outside itself", e);
	uint64_t at = PD_LOWER_BOUND(i, o.starts[bucket], o.starts[bucket + 1], order_before(s, &o, i, q, &status, e));
	for (int side = 0; !status && side < 2; side++)
		for (uint64_t i = at; out->n[side] < q->most && (side ? i < s->f.dense : i > 0); i += side ? 1 : -UINT64_C(1)) {
			const uint64_t *v = order_entry(s, &o, side ? i : i - 1, e);
			if (!v)
				return PD_ERR_FORMAT;
			if ((uint32_t)(*v >> 32 ^ q->begin) >> PD_STORE_ORDER_SHIFT)
				break;
			out->v[side][out->n[side]++] = (struct pd_store_beside_page){ (uint32_t)(*v >> 32), (uint32_t)*v };
		}
	return status;
}

/* Texts of rows, decompressed block by block.  Neighbouring rows are often read together, so the last blocks are
 * cached, each in the slot of its number. */

enum { TEXTS_MAX = 64 << 20 }; /* bytes of a block of rows, unpacked */

void pd_store_text_cache_release(struct pd_store_text_cache *c)
{
	for (size_t i = 0; i < sizeof c->v / sizeof *c->v; i++)
		pd_buf_release(&c->v[i].text);
	pd_unpacker_free(c->unpacker);
	*c = (struct pd_store_text_cache){ 0 };
}

static const struct pd_store_row_block *row_block(struct pd_store_segment *s, uint64_t i, struct pd_err *e)
{
	return items_at(s, PD_STORE_SEG_ROW_BLOCKS, i, i + 1, sizeof(struct pd_store_row_block), e);
}

/* Return whether the block begins at the row or before it. *status: whether it could be read. */
static bool begins_by(struct pd_store_segment *s, uint64_t block, uint32_t row, int *status, struct pd_err *e)
{
	const struct pd_store_row_block *b = *status ? NULL : row_block(s, block, e);
	if (!b)
		*status = PD_ERR_FORMAT;
	return b && b->first <= row;
}

/* The block of the row if all blocks had equal numbers of rows, which is nearly always true. */
static inline uint64_t likely_block(const struct pd_store_segment *s, uint32_t row)
{
	return row * s->f.row_blocks / s->f.rows;
}

/* Find the last block that begins at the row or before it, by galloping from the estimated one. */
static int block_of_row(struct pd_store_segment *s, uint32_t row, size_t *block, struct pd_err *e)
{
	uint64_t low = likely_block(s, row), high = low + 1, n = s->f.row_blocks;
	int status = PD_OK;
	for (uint64_t step = 1; low > 0 && !begins_by(s, low, row, &status, e); step *= 2)
		low -= step < low ? step : low;
	for (uint64_t step = 1; high < n && begins_by(s, high, row, &status, e); step *= 2)
		high += step;
	*block = PD_LOWER_BOUND(i, low + 1, high < n ? high : n, begins_by(s, i, row, &status, e)) - 1;
	return status;
}

static int unpack(struct pd_store_segment *s, size_t block, struct pd_store_text_cache *c, struct pd_buf *out, struct pd_err *e)
{
	const struct pd_store_row_block *b = row_block(s, block, e);
	size_t used;
	if (!b)
		return PD_ERR_FORMAT;
	uint64_t at = s->f.section[PD_STORE_SEG_ROWS].at + b->at;
	if (b->at > s->f.section[PD_STORE_SEG_ROWS].n)
		return fail_damaged(s, at, "a block of rows points outside its section", e);
	const char *p = items_at(s, PD_STORE_SEG_ROWS, b->at, b->at + b->bytes, 1, e);
	if (!p)
		return PD_ERR_FORMAT;
	pd_buf_clear(out);
	if (!c->unpacker)
		c->unpacker = pd_unpacker_new();
	if (pd_unpack_whole(c->unpacker, PD_CODEC_ZSTD, pd_span(p, b->bytes), TEXTS_MAX, out, &used))
		return fail_damaged(s, at, "these rows cannot be unpacked", e);
	return PD_OK;
}

static int block_texts(struct pd_store_segment *s, size_t block, struct pd_store_text_cache *c, struct pd_span *out,
		       struct pd_err *e)
{
	size_t i = (block * 7 + s->f.file) % (sizeof c->v / sizeof *c->v);
	bool here = c->v[i].used && c->v[i].file == s->f.file && c->v[i].block == block;
	if (!here && (c->v[i].used = false, unpack(s, block, c, &c->v[i].text, e)))
		return PD_ERR_FORMAT;
	c->v[i].used = true;
	c->v[i].file = s->f.file;
	c->v[i].block = block;
	*out = pd_buf_span(&c->v[i].text);
	return PD_OK;
}

static int row_text(struct pd_store_segment *s, uint32_t row, struct pd_store_text_cache *c, struct pd_span *out, struct pd_err *e)
{
	size_t block;
	struct pd_span rest;
	int status = block_of_row(s, row, &block, e);
	if (!status)
		status = block_texts(s, block, c, &rest, e);
	if (status)
		return status;
	const struct pd_store_row_block *b = row_block(s, block, e);
	const char *line = NULL, *end = NULL;
	for (uint64_t i = b->first; rest.n && i <= row && (i == b->first || end); i++) {
		line = end ? end + 1 : rest.p;
		end = memchr(line, '\n', (size_t)(rest.p + rest.n - line));
	}
	if (!end)
		return fail_damaged(s, s->f.section[PD_STORE_SEG_ROWS].at + b->at, "a row is missing", e);
	*out = pd_span(line, (size_t)(end - line));
	return PD_OK;
}

/* Everything of a page but its text and hashes. */
static int read_columns(struct pd_store_segment *s, uint32_t row, struct pd_store_page *p, struct pd_err *e)
{
	size_t words = s->f.bits / 64, sketch = s->f.sketch_words;
	uint64_t next = row + UINT64_C(1);
	const uint8_t *has = items_at(s, PD_STORE_SEG_HAS, row, next, 1, e);
	const uint64_t *key = has ? items_at(s, PD_STORE_SEG_KEYS, row, next, words * 8, e) : NULL;
	const uint64_t *sk = key ? items_at(s, PD_STORE_SEG_SKETCHES, row, next, sketch * 8, e) : NULL;
	*p = (struct pd_store_page){ 0 };
	if (!sk)
		return PD_ERR_FORMAT;
	p->has = *has;
	memcpy(p->key.w, key, words * 8);
	memcpy(p->sketch, sk, sketch * 8);
	return PD_OK;
}

int pd_store_segment_read_sketch(struct pd_store_segment *s, uint32_t row, uint64_t room[PD_SKETCH_WORDS], const uint64_t **out,
				 struct pd_err *e)
{
	size_t words = s->f.sketch_words;
	uint64_t next = row + UINT64_C(1);
	const uint8_t *has = items_at(s, PD_STORE_SEG_HAS, row, next, 1, e);
	const uint64_t *sketch =
		has && *has & PD_STORE_HAS_SKETCH ? items_at(s, PD_STORE_SEG_SKETCHES, row, next, words * 8, e) : NULL;
	*out = sketch;
	if (!has || (*has & PD_STORE_HAS_SKETCH && !sketch))
		return PD_ERR_FORMAT;
	if (!sketch || words == PD_SKETCH_WORDS)
		return PD_OK;
	memset(room, 0, PD_SKETCH_WORDS * sizeof *room);
	memcpy(room, sketch, words * sizeof *room);
	*out = room;
	return PD_OK;
}

int pd_store_segment_page(struct pd_store_segment *s, uint32_t row, struct pd_store_text_cache *texts, struct pd_store_page *p,
			  struct pd_err *e)
{
	int status = read_columns(s, row, p, e);
	if (!status && texts)
		status = row_text(s, row, texts, &p->text, e);
	return status;
}

/* --- questions by key --- */

enum {
	WINDOW = 32,	   /* probes that wait for memory together */
	LINE = 8,	   /* keys of a cache line */
	FETCH = 32 * LINE, /* keys of a bucket that are prefetched */
	PROBES = 1 << 16,  /* that are sorted at a time, about */
	SORTED_BITS = 20,  /* bits of a block whose probes are sorted: one counter for each bucket */
	TOGETHER = 256,	   /* questions that are compared with a bucket at once */
	TILE = 240,	   /* keys that they are compared with at once */
	TILE_PARTS = 16,   /* of different segments */
	HALVES_FROM = 3,   /* number of queries from which comparing halves of keys first is faster */
	CLASSES_FROM = 16, /* questions from which on it pays to part a bucket's keys into classes */
	CLASS_BITS_MAX = 3,
	CLASS_KEYS = 8,	   /* that a class has at least, on average */
	ORDERED_FROM = 64, /* number of queries from which they are processed in the order of their blocks */
	HALF = 32,	   /* bits of a key that are compared first */
	BLOCK_DIGIT = PD_STORE_BLOCK_BITS_MAX / 2,
	RING_SHIFT = 24 /* of a searcher: which ring of its buckets this one is in, then the question */
};

/* Use the 32-bit prefilter only if fewer than 1 in 50 random pairs pass it. */
#define HALVES_CHANCE (1.0 / 50)

static const struct pd_index_masks *masks_within(struct pd_store_near *near, int n_bits, int radius)
{
	struct pd_index_masks **m = &near->masks[n_bits][radius < n_bits ? radius : n_bits];
	if (!*m) {
		*m = pd_zalloc(sizeof **m);
		pd_index_masks_fill(*m, n_bits, radius);
	}
	return *m;
}

static void compare_runs(struct pd_store_near *near, enum pd_index_scan_width width, struct pd_index_run a, struct pd_index_run b,
			 int k)
{
	near->hits.n = 0;
	near->scan->by[width].cross(a, b, k, &near->hits);
}

/* Sharing of pairs between tables.  Let k + 1 = n_blocks * least + rest.
 *
 * For two keys within k there are two cases.  (1) Some block differs in fewer than `least` bits.  By the pigeonring
 * principle (J. Qin, C. Xiao, "Pigeonring: A Principle for Faster Thresholded Similarity Search", PVLDB 12 (1),
 * 2018) there is such a block for which every window that starts at it (cyclic, of any length) differs in at most
 * its share of k.  (Proof: start at the block of fewer than `least` bits before which the prefix sum of excesses
 * over `least` is highest; from there on it never rises above that of all blocks, rest - 1 at most.)  (2) All blocks
 * differ in at least `least` bits.  Then one of the first `rest` blocks differs in exactly `least`.
 *
 * Several tables may find a pair.  It is emitted by one: the last table that may find it by these rules.  Case (1)
 * also bounds the bits that differ in the window of blocks after the table's own block, as many as fit into 32 bits:
 * this is the prefilter. */
struct sharing {
	int n_blocks, n_bits, least, rest;
	int beside,
		together; /* blocks in the window after a table's own block; the largest number of different bits in all of them */
};

static struct sharing sharing_of(struct pd_store_partition partition, int k)
{
	int n = partition.n_blocks, least = (k + 1) / n, rest = (k + 1) % n;
	int fit = partition.n_bits ? HALF / partition.n_bits : 0, beside = fit < n - 1 ? fit : n - 1;
	int together = rest ? (beside + 1) * least + rest - 1 : (beside + 1) * k / n;
	return (struct sharing){ n, partition.n_bits, least, rest, beside, together < k ? together : k };
}

/* Return the table that emits a pair within k, from the different bits of its keys. */
static int taken_from(const struct sharing *s, const uint64_t *x)
{
	struct pd_store_partition partition = { s->n_blocks, s->n_bits };
	int d[PD_STORE_TABLES_MAX], t;
	for (t = 0; t < s->n_blocks; t++)
		d[t] = pd_bits_count(pd_store_partition_block(partition, x, t));
	for (t = s->n_blocks - 1; t >= 0; t--) {
		int sum = d[t];
		for (int i = 1; i <= s->beside; i++)
			sum += d[(t + i) % s->n_blocks];
		if (d[t] < s->least && sum <= s->together)
			return t;
	}
	for (t = s->rest - 1; t > 0 && d[t] != s->least; t--)
		;
	return t;
}

static void emit_hit(struct pd_store_near *near, struct pd_store_near_hit hit)
{
	near->v = pd_grow(near->v, near->n, &near->cap, sizeof *near->v);
	near->v[near->n++] = hit;
}

/* The tables of one block that are searched together: those of all segments with the same partition, one after the
 * other. A query becomes one probe for each bucket that it reads. */
struct probing {
	struct pd_store_near *near;
	const struct pd_store_questions *q;
	struct pd_store_segment *segments;
	size_t n_segments; /* cut as the first is */
	struct pd_store_partition partition;
	struct sharing sharing;
	/* The buckets to read: those whose distance is in these rings. */
	int table, ring[2];
	const struct pd_index_masks *masks;
	size_t mask[2]; /* masks of the rings: from .. to - 1 */
	struct table_of {
		struct pd_store_segment *s;
		uint64_t at; /* in the file */
		struct table_layout l;
		const uint32_t *starts;
		struct pd_index_columns columns;
	} * tables; /* of all segments that have keys, at work now */
	size_t n_tables;
	/* For many queries: 32 bits of each, and by ring the largest number of them that may differ in an emitted
	 * pair; whole: so many that all bits are compared at once. */
	struct pd_index_window window;
	int left[PD_STORE_BLOCK_BITS_MAX + 1];
	bool whole[PD_STORE_BLOCK_BITS_MAX + 1];
	const struct pd_store_near_query *order; /* of the questions */
	struct pd_index_columns queries;	 /* their keys in it */
	int class_bits;				 /* keys of a bucket are divided into classes by this number of bits */
	struct {
		uint32_t question, bucket;
		uint32_t from, to;
	} probe[WINDOW]; /* buckets that were prefetched and not read yet */
	int n;
	struct pd_err *e;
};

static struct table_of table_of(const struct probing *p, struct pd_store_segment *s)
{
	struct table_of t = { .s = s };
	lay_out_table(&s->f, &t.l);
	t.at = s->f.section[PD_STORE_SEG_TABLES].at + t.l.bytes * (unsigned)p->table;
	const uint8_t *base = s->map.p + t.at;
	t.starts = (const uint32_t *)base;
	for (int w = 0; w < p->q->bits / 64; w++)
		t.columns.w[w] = (uint64_t *)(uintptr_t)(base + t.l.part[TABLE_KEYS]) + t.l.stride * (unsigned)w;
	return t;
}

static uint32_t question_block(const struct probing *p, size_t question)
{
	uint64_t key[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		key[w] = p->q->keys.w[w][question];
	return pd_store_partition_block(p->partition, key, p->table);
}

/* Sort queries by their blocks, so that consecutive queries read neighbouring memory of a table. */
static struct pd_store_near_query *order_questions(const struct probing *p)
{
	struct pd_store_near *near = p->near;
	size_t n = p->q->n;
	near->queries = pd_big_at_least(near->queries, 2 * n, &near->queries_cap, sizeof *near->queries);
	struct pd_store_near_query *in = near->queries, *out = in + n;
	for (size_t i = 0; i < n; i++)
		in[i] = (struct pd_store_near_query){ question_block(p, i), (uint32_t)i };
	/* By the lower half of the bits, then by the higher. */
	for (int shift = 0; n >= ORDERED_FROM && shift < PD_STORE_BLOCK_BITS_MAX; shift += BLOCK_DIGIT) {
		uint32_t place[(1 << BLOCK_DIGIT) + 1] = { 0 }, mask = (1 << BLOCK_DIGIT) - 1;
		for (size_t i = 0; i < n; i++)
			place[(in[i].value >> shift & mask) + 1]++;
		for (uint32_t v = 1; v <= mask; v++)
			place[v] += place[v - 1];
		for (size_t i = 0; i < n; i++)
			out[place[in[i].value >> shift & mask]++] = in[i];
		struct pd_store_near_query *sorted = out;
		out = in;
		in = sorted;
	}
	return in;
}

/* The keys of a bucket: *from .. *to - 1. */
static inline int bucket_bounds(const struct probing *p, const struct table_of *t, uint32_t bucket, uint32_t *from, uint32_t *to)
{
	if (check(t->s, t->at + bucket * UINT64_C(4), 8, p->e))
		return PD_ERR_FORMAT;
	*from = t->starts[bucket];
	*to = t->starts[bucket + 1];
	if (*from > *to || *to > t->s->f.fingerprints)
		return fail_damaged(t->s, t->at + bucket * UINT64_C(4), "a bucket points outside its table", p->e);
	return PD_OK;
}

/* Their checksums. */
static inline int check_keys(const struct probing *p, const struct table_of *t, uint32_t from, uint32_t to)
{
	uint64_t at = t->at + t->l.part[TABLE_KEYS] + from * UINT64_C(8);
	for (int w = 0; w < p->q->bits / 64; w++, at += t->l.stride * 8)
		if (check(t->s, at, (to - from) * UINT64_C(8), p->e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

/* The key at `place` of the table is within k of a query: emit a hit, unless another table emits the pair. */
static int add_hit(struct probing *p, const struct table_of *t, uint32_t question, uint32_t place, uint32_t distance)
{
	uint64_t x[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		x[w] = p->q->keys.w[w][question] ^ t->columns.w[w][place];
	if (taken_from(&p->sharing, x) != p->table)
		return PD_OK;
	uint64_t at = t->at + t->l.part[TABLE_ROWS] + place * UINT64_C(4);
	if (check(t->s, at, 4, p->e))
		return PD_ERR_FORMAT;
	uint32_t row = pd_store_get32(t->s->map.p + at);
	if (row >= t->s->f.rows)
		return fail_damaged(t->s, at, "a table points outside the segment", p->e);
	emit_hit(p->near, (struct pd_store_near_hit){ question, (uint32_t)(t->s - p->near->first), row, distance });
	return p->near->most && p->near->n > p->near->most ? PD_ERR_LIMIT : PD_OK;
}

/* Few queries.  Probes pass three steps, WINDOW of them at a time: prefetch the bucket's start, prefetch its keys,
 * compare. */

static int open_bucket(struct probing *p, const struct table_of *t, int i)
{
	uint32_t from, to;
	int status = bucket_bounds(p, t, p->probe[i].bucket, &from, &to);
	if (status)
		return status;
	for (int w = 0; w < p->q->bits / 64; w++)
		for (uint32_t at = from; at < to && at < from + FETCH; at += LINE)
			pd_prefetch(t->columns.w[w] + at);
	p->probe[i].from = from;
	p->probe[i].to = to;
	return PD_OK;
}

static int compare_one(struct probing *p, const struct table_of *t, int i)
{
	uint32_t from = p->probe[i].from, to = p->probe[i].to, a = p->probe[i].question;
	struct pd_index_hits *hits = &p->near->hits;
	int status = check_keys(p, t, from, to);
	if (status)
		return status;
	compare_runs(p->near, pd_index_scan_width_of(p->q->bits), (struct pd_index_run){ &p->q->keys, a, a + 1 },
		     (struct pd_index_run){ &t->columns, from, to }, p->q->k);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = add_hit(p, t, a, hits->v[h].b, hits->v[h].distance);
	return status;
}

static int answer_window(struct probing *p, const struct table_of *t)
{
	int status = PD_OK;
	for (int i = 0; !status && i < p->n; i++)
		status = open_bucket(p, t, i);
	for (int i = 0; !status && i < p->n; i++)
		if (p->probe[i].from < p->probe[i].to)
			status = compare_one(p, t, i);
	p->n = 0;
	return status;
}

static int probe_one_by_one(struct probing *p, const struct table_of *t)
{
	const struct pd_store_near_query *queries = order_questions(p);
	int status = PD_OK;
	for (size_t i = 0; !status && i < p->q->n; i++)
		for (size_t m = p->mask[0]; !status && m < p->mask[1]; m++) {
			uint32_t bucket = queries[i].value ^ p->masks->v[m];
			pd_prefetch(t->starts + bucket);
			p->probe[p->n].question = queries[i].question;
			p->probe[p->n].bucket = bucket;
			if (++p->n == WINDOW)
				status = answer_window(p, t);
		}
	return status ? status : answer_window(p, t);
}

/* Many queries.  Their probes are sorted by bucket (counting sort), and the table is read once in order.  Each
 * bucket is compared with all queries that probe it. */

/* Most pairs of a bucket's key and a query differ in more bits than a pair that this table emits may, and 32 bits
 * suffice to see it: this compares twice as many keys at once. */
static void choose_window(struct probing *p)
{
	const struct sharing *s = &p->sharing;
	struct pd_index_window *w = &p->window;
	int after = s->n_blocks - 1 - p->table, straight = after < s->beside ? after : s->beside;
	*w = (struct pd_index_window){ .bits = s->beside * s->n_bits, .n_pieces = (straight > 0) + (s->beside > straight) };
	if (straight)
		w->piece[0].first = (p->table + 1) * s->n_bits, w->piece[0].n = straight * s->n_bits;
	if (s->beside > straight)
		w->piece[straight > 0].n = (s->beside - straight) * s->n_bits;
	/* If all blocks differ in `least` bits, the blocks outside the window use up theirs. */
	w->spare = p->ring[0] < s->least ? s->together : p->q->k - (s->n_blocks - 1 - s->beside) * s->least;
	for (int ring = p->ring[0]; ring <= p->ring[1]; ring++) {
		p->left[ring] = w->spare - ring;
		p->whole[ring] = pd_index_chance(w->bits, p->left[ring]) > HALVES_CHANCE;
	}
}

/* If all blocks differ in at least `least` bits, the first table knows the number for each block: exactly `least`,
 * or one more for some.  So the parity of the number of ones in each block is known, and only keys of a bucket with
 * the right parity can match: with three other blocks one in eight.  The class of a key consists of such bits: the
 * parity of its ones up to the end of block 1, 2, …  Buckets are divided into classes, and a query reads one class
 * of each. */
static int choose_class_bits(const struct probing *p)
{
	const struct sharing *s = &p->sharing;
	size_t searchers = p->q->n * (p->mask[1] - p->mask[0]) >> s->n_bits, keys = p->segments[0].f.fingerprints >> s->n_bits;
	int bits = 0;
	if (p->ring[0] < s->least || p->table > 0 || searchers < CLASSES_FROM || p->whole[p->ring[0]])
		return 0;
	while (bits < CLASS_BITS_MAX && bits + 1 < s->n_blocks && (bits + 2) * s->n_bits <= 64 && keys >> bits >= 2 * CLASS_KEYS)
		bits++;
	return bits;
}

static void take_classes(const struct probing *p, const uint64_t *first_words, size_t n, uint8_t *class)
{
	p->near->scan->parities(first_words, n, 2 * p->sharing.n_bits - 1, p->sharing.n_bits, p->class_bits, class);
}

/* The bits in which the class of an emitted key differs from that of the query. */
static uint32_t class_change(const struct sharing *s, int class_bits)
{
	uint32_t change = 0;
	for (int i = 0, sum = s->least; i < class_bits; i++) {
		sum += s->least + (i + 1 < s->rest);
		change |= (uint32_t)(sum & 1) << i;
	}
	return change;
}

/* Buckets are processed range by range, so that the probes of a range, and the starts of its buckets, stay in the
 * cache. By a mask, the queries that probe a range come from one other range of blocks, and are contiguous in the
 * sorted order. */
struct bucket_range {
	uint32_t *first; /* by range: the first query whose block is in it; and the end */
	int bits;	 /* of a bucket and a class in its range */
	size_t range;
};

/* The queries that probe bucket v of the range are searchers[starts[v]] .. searchers[starts[v + 1] - 1], ring by ring,
 * each with its half in a parallel array.  They are filled mask by mask, since neighbouring queries with one mask
 * probe neighbouring buckets. */
static void sort_probes(const struct probing *p, const struct bucket_range *r)
{
	const struct pd_index_masks *masks = p->masks;
	const struct pd_store_near_query *queries = p->order;
	struct pd_store_near *near = p->near;
	size_t n = (size_t)1 << r->bits, within = n - 1;
	uint32_t *starts = near->starts;
	memset(starts, 0, (n + 2) * sizeof *starts);
	for (size_t m = p->mask[0]; m < p->mask[1]; m++) {
		size_t mask = (size_t)masks->v[m] << p->class_bits, from = r->range ^ mask >> r->bits;
		for (uint32_t i = r->first[from]; i < r->first[from + 1]; i++)
			starts[((queries[i].value ^ mask) & within) + 2]++;
	}
	for (size_t v = 2; v < n + 2; v++)
		starts[v] += starts[v - 1];
	near->searchers = pd_big_at_least(near->searchers, starts[n + 1], &near->searchers_cap, sizeof *near->searchers);
	near->searcher_halves = pd_big_at_least(near->searcher_halves, starts[n + 1] + PD_SCAN_PAD, &near->searcher_halves_cap,
						sizeof *near->searcher_halves);
	uint32_t *searchers = near->searchers, *halves = near->searcher_halves;
	memset(halves + starts[n + 1], 0, PD_SCAN_PAD * sizeof *halves);
	for (size_t m = p->mask[0], ring = (size_t)p->ring[0]; m < p->mask[1]; m++) {
		size_t mask = (size_t)masks->v[m] << p->class_bits, from = r->range ^ mask >> r->bits;
		while ((int)ring < masks->radius && m >= masks->ring[ring + 1][0])
			ring++;
		for (uint32_t i = r->first[from]; i < r->first[from + 1]; i++) {
			uint32_t at = starts[((queries[i].value ^ mask) & within) + 1]++;
			searchers[at] = (uint32_t)ring << RING_SHIFT | i;
			halves[at] = near->halves[i];
		}
	}
}

/* Its place in the order of questions. */
static uint32_t query_of(uint32_t searcher)
{
	return searcher & ((UINT32_C(1) << RING_SHIFT) - 1);
}

/* The queries that probe a bucket, or a class of it. */
struct searchers {
	const uint32_t *v, *halves;
	size_t n;
};

/* The first queries of one ring, up to TOGETHER. */
static struct searchers ring_of(const struct probing *p, const struct searchers *a)
{
	size_t m = 1, n = a->n < TOGETHER ? a->n : TOGETHER;
	if (p->ring[0] == p->ring[1])
		m = n;
	while (m < n && a->v[m] >> RING_SHIFT == a->v[0] >> RING_SHIFT)
		m++;
	return (struct searchers){ a->v, a->halves, m };
}

static void skip_searchers(struct searchers *a, const struct searchers *first)
{
	a->v += first->n;
	a->halves += first->n;
	a->n -= first->n;
}

/* A tile: up to TILE keys of a bucket from all segments.  It holds their positions, part by part, and their halves
 * unless all bits are compared at once.  With classes the keys are grouped by class, and at[i] is the original index
 * of the i-th. */
struct tile {
	uint32_t n, n_parts;
	struct {
		const struct table_of *table;
		uint32_t from, begin; /* its first key in the table, and here */
	} part[TILE_PARTS];
	bool has_halves;
	uint32_t halves[TILE + PD_SCAN_PAD], sorted[TILE + PD_SCAN_PAD];
	uint8_t class[TILE + PD_SCAN_PAD], at[TILE];
	uint8_t starts[1 << CLASS_BITS_MAX];
};

/* Up to TOGETHER questions with the keys of one part. */
static int compare_wholes(struct probing *p, const struct searchers *a, const struct tile *tile, uint32_t part)
{
	uint64_t words[PD_KEY_WORDS][TOGETHER + PD_SCAN_PAD];
	const struct table_of *t = tile->part[part].table;
	uint32_t from = tile->part[part].from, end = part + 1 < tile->n_parts ? tile->part[part + 1].begin : tile->n;
	struct pd_index_columns together;
	struct pd_index_hits *hits = &p->near->hits;
	int status = PD_OK;
	for (int w = 0; w < p->q->bits / 64; w++) {
		for (size_t i = 0; i < a->n; i++)
			words[w][i] = p->queries.w[w][query_of(a->v[i])];
		together.w[w] = words[w];
	}
	compare_runs(p->near, pd_index_scan_width_of(p->q->bits), (struct pd_index_run){ &together, 0, a->n },
		     (struct pd_index_run){ &t->columns, from, from + end - tile->part[part].begin }, p->q->k);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = add_hit(p, t, p->order[query_of(a->v[hits->v[h].a])].question, hits->v[h].b, hits->v[h].distance);
	return status;
}

/* Verify pairs whose halves are near on all bits. */
static int compare_again(struct probing *p, const struct tile *tile, uint32_t searcher, uint32_t at)
{
	uint32_t part = 0, d = 0;
	while (part + 1 < tile->n_parts && tile->part[part + 1].begin <= at)
		part++;
	const struct table_of *t = tile->part[part].table;
	uint32_t place = tile->part[part].from + at - tile->part[part].begin;
	for (int w = 0; w < p->q->bits / 64; w++)
		d += (uint32_t)pd_bits_count(p->queries.w[w][query_of(searcher)] ^ t->columns.w[w][place]);
	return d <= (uint32_t)p->q->k ? add_hit(p, t, p->order[query_of(searcher)].question, place, d) : PD_OK;
}

/* Compare up to TOGETHER queries with the halves from .. to - 1 of the tile.  Vectorise over the longer side, so
 * that fewer vectors are only partly filled. */
static int compare_halves(struct probing *p, const struct searchers *a, struct tile *tile, uint32_t from, uint32_t to)
{
	struct pd_index_columns questions = { .half = (uint32_t *)(uintptr_t)a->halves };
	struct pd_index_columns keys = { .half = p->class_bits ? tile->sorted : tile->halves };
	struct pd_index_run of_questions = { &questions, 0, a->n }, of_keys = { &keys, from, to };
	struct pd_index_hits *hits = &p->near->hits;
	bool is_turned = a->n > to - from;
	int status = PD_OK;
	compare_runs(p->near, PD_SCAN_HALF, is_turned ? of_keys : of_questions, is_turned ? of_questions : of_keys,
		     p->left[a->v[0] >> RING_SHIFT]);
	for (size_t h = 0; !status && h < hits->n; h++) {
		uint32_t question = is_turned ? hits->v[h].b : hits->v[h].a, key = is_turned ? hits->v[h].a : hits->v[h].b;
		status = compare_again(p, tile, a->v[question], p->class_bits ? tile->at[key] : key);
	}
	return status;
}

/* Counts and places of eight classes are the bytes of one word: fewer than 256 keys are parted at once. */
static void part_tile(struct tile *tile)
{
	uint64_t counts = 0;
	for (uint32_t i = 0; i < tile->n; i++)
		counts += UINT64_C(1) << (8 * tile->class[i]);
	uint64_t next = counts * UINT64_C(0x0101010101010100); /* byte c: the sum of the bytes below it */
	for (int c = 0; c < 1 << CLASS_BITS_MAX; c++)
		tile->starts[c] = (uint8_t)(next >> (8 * c));
	for (uint32_t i = 0; i < tile->n; i++) {
		int shift = 8 * tile->class[i];
		uint8_t at = (uint8_t)(next >> shift);
		tile->sorted[at] = tile->halves[i];
		tile->at[at] = (uint8_t)i;
		next += UINT64_C(1) << shift;
	}
}

/* starts[c]: the first query that probes class c of the bucket. */
static int ask_classes(struct probing *p, const uint32_t *starts, struct tile *tile)
{
	const struct pd_store_near *near = p->near;
	uint32_t n = UINT32_C(1) << p->class_bits;
	int status = PD_OK;
	part_tile(tile);
	for (uint32_t c = 0; !status && c < n; c++) {
		struct searchers a = { near->searchers + starts[c], near->searcher_halves + starts[c], starts[c + 1] - starts[c] };
		uint32_t from = tile->starts[c], to = c + 1 < n ? tile->starts[c + 1] : tile->n;
		while (!status && a.n && from < to) {
			struct searchers first = ring_of(p, &a);
			status = compare_halves(p, &first, tile, from, to);
			skip_searchers(&a, &first);
		}
	}
	return status;
}

static int ask_tile(struct probing *p, const uint32_t *starts, struct tile *tile)
{
	struct searchers a = { p->near->searchers + starts[0], p->near->searcher_halves + starts[0], starts[1] - starts[0] };
	int status = PD_OK;
	if (p->class_bits)
		return ask_classes(p, starts, tile);
	while (!status && a.n) {
		struct searchers first = ring_of(p, &a);
		uint32_t ring = a.v[0] >> RING_SHIFT;
		bool whole = p->whole[ring] || !tile->has_halves;
		if (p->left[ring] >= 0 && !whole)
			status = compare_halves(p, &first, tile, 0, tile->n);
		for (uint32_t i = 0; !status && p->left[ring] >= 0 && whole && i < tile->n_parts; i++)
			status = compare_wholes(p, &first, tile, i);
		skip_searchers(&a, &first);
	}
	return status;
}

/* Fill the tile with keys of a table, as many as fit; return their number. */
static uint32_t add_to_tile(const struct probing *p, struct tile *tile, const struct table_of *t, uint32_t from, uint32_t to)
{
	uint32_t n = to - from < TILE - tile->n ? to - from : TILE - tile->n;
	tile->part[tile->n_parts].table = t;
	tile->part[tile->n_parts].from = from;
	tile->part[tile->n_parts++].begin = tile->n;
	if (tile->has_halves)
		p->near->scan->halves(&p->window, &t->columns, from, n, tile->halves + tile->n);
	if (p->class_bits)
		take_classes(p, t->columns.w[0] + from, n, tile->class + tile->n);
	tile->n += n;
	return n;
}

/* starts: the first query that probes the bucket, or each class of it; and the end. */
static int ask_bucket(struct probing *p, uint32_t bucket, const uint32_t *starts, struct tile *tile)
{
	size_t n = starts[1 << p->class_bits] - starts[0];
	uint32_t from, to;
	int status = PD_OK;
	tile->n = tile->n_parts = 0;
	tile->has_halves = n >= HALVES_FROM || p->class_bits;
	for (const struct table_of *t = p->tables; n && !status && t < p->tables + p->n_tables; t++) {
		status = bucket_bounds(p, t, bucket, &from, &to);
		if (!status)
			status = check_keys(p, t, from, to);
		while (!status && from < to) {
			from += add_to_tile(p, tile, t, from, to);
			if (tile->n < TILE && tile->n_parts < TILE_PARTS)
				continue;
			status = ask_tile(p, starts, tile);
			tile->n = tile->n_parts = 0;
		}
	}
	return status || !tile->n ? status : ask_tile(p, starts, tile);
}

static int ask_range(struct probing *p, const struct bucket_range *r, struct tile *tile)
{
	const uint32_t *starts = p->near->starts;
	int status = PD_OK, bits = r->bits - p->class_bits;
	for (uint32_t v = 0, first = (uint32_t)(r->range << bits); !status && v < UINT32_C(1) << bits; v++)
		status = ask_bucket(p, first + v, starts + (v << p->class_bits), tile);
	return status;
}

/* The questions in the order of their blocks: their keys, their halves, and below their blocks their classes. */
static struct pd_store_near_query *describe_questions(struct probing *p)
{
	struct pd_store_near *near = p->near;
	size_t n = p->q->n, words = (size_t)p->q->bits / 64, room = n + PD_SCAN_PAD;
	struct pd_store_near_query *queries = order_questions(p);
	near->ordered = pd_big_at_least(near->ordered, room * words, &near->ordered_cap, sizeof *near->ordered);
	near->halves = pd_big_at_least(near->halves, room, &near->halves_cap, sizeof *near->halves);
	for (size_t w = 0; w < words; w++) {
		p->queries.w[w] = near->ordered + room * w;
		for (size_t i = 0; i < n; i++)
			p->queries.w[w][i] = p->q->keys.w[w][queries[i].question];
		memset(p->queries.w[w] + n, 0, PD_SCAN_PAD * sizeof *p->queries.w[w]);
	}
	near->scan->halves(&p->window, &p->queries, 0, n, near->halves);
	if (!p->class_bits)
		return queries;
	uint8_t *class = pd_alloc(room);
	uint32_t change = class_change(&p->sharing, p->class_bits);
	take_classes(p, p->queries.w[0], n, class);
	for (size_t i = 0; i < n; i++)
		queries[i].value = queries[i].value << p->class_bits | (class[i] ^ change);
	free(class);
	return queries;
}

static int probe_in_order(struct probing *p)
{
	struct pd_store_near *near = p->near;
	int status = PD_OK;
	choose_window(p);
	p->class_bits = choose_class_bits(p);
	int all_bits = p->partition.n_bits + p->class_bits;
	struct bucket_range r = { .bits = all_bits };
	p->order = describe_questions(p);
	while (r.bits > p->class_bits && p->q->n * (p->mask[1] - p->mask[0]) >> (all_bits - r.bits) > PROBES)
		r.bits--;
	size_t n_ranges = (size_t)1 << (all_bits - r.bits);
	r.first = pd_zalloc((n_ranges + 1) * sizeof *r.first);
	for (size_t i = 0; i < p->q->n; i++)
		r.first[(p->order[i].value >> r.bits) + 1]++;
	for (size_t i = 0; i < n_ranges; i++)
		r.first[i + 1] += r.first[i];
	near->starts = pd_big_at_least(near->starts, ((size_t)1 << r.bits) + 2, &near->starts_cap, sizeof *near->starts);
	struct tile *tile = pd_zalloc(sizeof *tile);
	for (; !status && r.range < n_ranges; r.range++) {
		sort_probes(p, &r);
		status = ask_range(p, &r, tile);
	}
	free(tile);
	free(r.first);
	return status;
}

/* Search the tables of one block within these rings. */
static int probe_tables(struct probing *p, int table, int from, int to)
{
	int bits = p->partition.n_bits, status = PD_OK;
	p->table = table;
	p->ring[0] = from;
	p->ring[1] = to < bits ? to : bits;
	if (from > bits)
		return PD_OK;
	p->masks = masks_within(p->near, bits, to);
	p->mask[0] = from ? p->masks->ring[from][0] : 0;
	p->mask[1] = p->masks->n;
	p->n_tables = 0;
	for (size_t i = 0; i < p->n_segments; i++)
		if (p->segments[i].f.fingerprints)
			p->tables[p->n_tables++] = table_of(p, &p->segments[i]);
	/* One probe for every bucket, at least: fewer are not worth the counters. */
	if (bits > 0 && bits <= SORTED_BITS && p->q->n * (p->mask[1] - p->mask[0]) >> bits > 0)
		return probe_in_order(p);
	for (size_t i = 0; !status && i < p->n_tables; i++)
		status = probe_one_by_one(p, &p->tables[i]);
	return status;
}

static bool cut_alike(const struct pd_store_segment *a, const struct pd_store_segment *b)
{
	return a->f.tables == b->f.tables && a->f.table_bits == b->f.table_bits;
}

int pd_store_near_segments(struct pd_store_near *near, struct pd_store_segment *segments, size_t n,
			   const struct pd_store_questions *q, struct pd_err *e)
{
	struct probing p = { .near = near, .q = q, .e = e };
	int status = PD_OK;
	near->first = segments;
	if (!near->scan)
		near->scan = pd_index_scan_best();
	p.tables = pd_alloc((n + 1) * sizeof *p.tables);
	for (size_t i = 0; !status && i < n; i += p.n_segments) {
		p.segments = segments + i;
		for (p.n_segments = 1; i + p.n_segments < n && cut_alike(p.segments, p.segments + p.n_segments);)
			p.n_segments++;
		p.partition = (struct pd_store_partition){ (int)p.segments->f.tables, (int)p.segments->f.table_bits };
		p.sharing = sharing_of(p.partition, q->k);
		for (int t = p.partition.n_blocks - 1; !status && q->n && p.sharing.least && t >= 0; t--)
			status = probe_tables(&p, t, 0, p.sharing.least - 1);
		for (int t = p.sharing.rest - 1; !status && q->n && t >= 0; t--)
			status = probe_tables(&p, t, p.sharing.least, p.sharing.least);
	}
	free(p.tables);
	return status;
}

/* Search of pages in memory: no checksums, and few keys in a bucket. */

static void add_recent_hits(struct pd_store_near *near, const struct pd_store_recent *r, const struct pd_store_questions *q,
			    const struct sharing *sharing, int table, const uint32_t *rows)
{
	for (size_t h = 0; h < near->hits.n; h++) {
		const struct pd_index_hit *hit = &near->hits.v[h];
		uint64_t x[PD_KEY_WORDS];
		for (int w = 0; w < r->bits / 64; w++)
			x[w] = q->keys.w[w][hit->a] ^ r->pages[rows[hit->b]].key.w[w];
		if (taken_from(sharing, x) != table)
			continue;
		emit_hit(near, (struct pd_store_near_hit){ hit->a, 0, rows[hit->b], hit->distance });
	}
}

static void probe_recent(struct pd_store_near *near, const struct pd_store_recent *r, const struct pd_store_questions *q,
			 const struct sharing *sharing, int table, uint32_t question)
{
	uint64_t key[PD_KEY_WORDS];
	const struct pd_index_masks *masks = masks_within(near, r->partition.n_bits, sharing->least - (table >= sharing->rest));
	for (int w = 0; w < r->bits / 64; w++)
		key[w] = q->keys.w[w][question];
	uint32_t block = pd_store_partition_block(r->partition, key, table);
	for (size_t m = 0; m < masks->n; m++) {
		const struct pd_store_recent_bucket *b =
			&r->buckets[((size_t)table << r->partition.n_bits) + (block ^ masks->v[m])];
		struct pd_index_columns columns;
		if (!b->n)
			continue;
		for (int w = 0; w < r->bits / 64; w++)
			columns.w[w] = b->keys + (size_t)w * b->cap;
		compare_runs(near, pd_index_scan_width_of(r->bits), (struct pd_index_run){ &q->keys, question, question + 1 },
			     (struct pd_index_run){ &columns, 0, b->n }, q->k);
		add_recent_hits(near, r, q, sharing, table, b->rows);
	}
}

void pd_store_near_recent(struct pd_store_near *near, const struct pd_store_recent *r, const struct pd_store_questions *q)
{
	struct sharing sharing = sharing_of(r->partition, q->k);
	if (!near->scan)
		near->scan = pd_index_scan_best();
	for (int t = 0; r->n && t < r->partition.n_blocks; t++)
		for (uint32_t i = 0; sharing.least - (t >= sharing.rest) >= 0 && i < q->n; i++)
			probe_recent(near, r, q, &sharing, t, i);
}

void pd_store_near_release(struct pd_store_near *near)
{
	for (int w = 0; w <= PD_STORE_BLOCK_BITS_MAX; w++)
		for (int r = 0; r <= PD_STORE_BLOCK_BITS_MAX; r++)
			if (near->masks[w][r]) {
				pd_index_masks_release(near->masks[w][r]);
				free(near->masks[w][r]);
			}
	free(near->v);
	free(near->hits.v);
	free(near->starts);
	free(near->searchers);
	free(near->searcher_halves);
	free(near->halves);
	free(near->ordered);
	free(near->queries);
	*near = (struct pd_store_near){ 0 };
}

/* --- every page --- */

struct damage {
	const struct pd_store_segment *s;
	pd_store_damage_fn *damaged;
	void *ctx;
	uint64_t n;
};

static void tell_damage(struct damage *d, const char *what)
{
	if (d->n++ < PD_STORE_TOLD)
		d->damaged(d->ctx, what);
}

static void tell_rest(const struct damage *d)
{
	struct pd_buf line = { 0 };
	if (d->n <= PD_STORE_TOLD)
		return;
	pd_buf_printf(&line, "%s: damaged in ", d->s->name);
	pd_buf_count(&line, d->n - PD_STORE_TOLD, "more place");
	d->damaged(d->ctx, line.p);
	pd_buf_release(&line);
}

/* The rows of a block, first .. end - 1. */
static int each_in_block(struct pd_store_segment *s, struct pd_store_text_cache *texts, size_t block, uint32_t first, uint32_t end,
			 pd_store_each_fn *each, void *ctx, struct pd_err *e)
{
	struct pd_store_page page;
	struct pd_span rest, text;
	int status = block_texts(s, block, texts, &rest, e);
	for (uint32_t row = first; !status && row < end; row++) {
		uint64_t number = 0;
		status = pd_store_segment_number(s, row, &number, e);
		if (!status)
			status = read_columns(s, row, &page, e);
		if (!status && (!pd_span_split(&rest, '\n', &text) || !rest.p))
			status = fail_damaged(s, s->f.section[PD_STORE_SEG_ROWS].at, "a row is missing", e);
		if (!status) {
			page.text = text;
			status = each(ctx, number, &page);
		}
	}
	return status;
}

int pd_store_segment_each(struct pd_store_segment *s, struct pd_store_text_cache *texts, pd_store_each_fn *each, void *ctx,
			  pd_store_damage_fn *damaged, void *damaged_ctx, struct pd_err *e)
{
	struct damage damage = { .s = s, .damaged = damaged, .ctx = damaged_ctx };
	int status = PD_OK;
	for (size_t b = 0; !status && b < s->f.row_blocks; b++) {
		bool last = b + 1 == s->f.row_blocks;
		const struct pd_store_row_block *block = row_block(s, b, e), *next = last ? NULL : row_block(s, b + 1, e);
		uint64_t end = next ? next->first : s->f.rows;
		status = !block || (!next && !last) ? PD_ERR_FORMAT
						    : each_in_block(s, texts, b, block->first, (uint32_t)end, each, ctx, e);
		if (status == PD_ERR_FORMAT && damaged) {
			tell_damage(&damage, e->text);
			status = PD_OK;
		}
	}
	tell_rest(&damage);
	return status;
}

/* --- full verification: each damage is reported with its offset, and reading continues after it --- */

/* Return whether entry `at` of a table belongs to this bucket and follows the row before it. */
static bool entry_holds(const struct pd_store_segment *s, const struct table_layout *l, const uint8_t *base, uint32_t table,
			uint32_t bucket, uint32_t at, int64_t *row)
{
	const uint64_t *keys = (const uint64_t *)(base + l->part[TABLE_KEYS]);
	uint32_t words = s->f.bits / 64, r = ((const uint32_t *)(base + l->part[TABLE_ROWS]))[at];
	if (r >= s->f.rows || r <= *row || !pd_store_in_tables(s->section[PD_STORE_SEG_HAS][r]))
		return false;
	const uint64_t *key = (const uint64_t *)s->section[PD_STORE_SEG_KEYS] + (size_t)r * words;
	for (uint32_t w = 0; w < words; w++)
		if (keys[l->stride * w + at] != key[w])
			return false;
	*row = r;
	struct pd_store_partition partition = { (int)s->f.tables, (int)s->f.table_bits };
	return pd_store_partition_block(partition, key, (int)table) == bucket;
}

/* Check that every table has every key once in its bucket: the rows of a bucket ascend, and their number is that of
 * the fingerprints. */
static int verify_table(struct pd_store_segment *s, uint32_t table, struct pd_err *e)
{
	struct table_layout layout;
	lay_out_table(&s->f, &layout);
	uint64_t at = s->f.section[PD_STORE_SEG_TABLES].at + layout.bytes * table;
	const uint32_t *starts = (const uint32_t *)(s->map.p + at), n = UINT32_C(1) << s->f.table_bits;
	for (uint32_t v = 0; v < n; v++) {
		int64_t row = -1;
		if (starts[v] > starts[v + 1] || starts[v + 1] > s->f.fingerprints)
			return fail_damaged(s, at + v * UINT64_C(4), "a bucket points outside its table", e);
		for (uint32_t i = starts[v]; i < starts[v + 1]; i++)
			if (!entry_holds(s, &layout, s->map.p + at, table, v, i, &row))
				return fail_damaged(s, at + layout.part[TABLE_ROWS] + i * UINT64_C(4),
						    "a table does not hold what the columns hold", e);
	}
	bool whole = starts[0] == 0 && starts[n] == s->f.fingerprints;
	return whole ? PD_OK : fail_damaged(s, at, "a table lacks a row", e);
}

static int verify_tables(struct pd_store_segment *s, struct pd_err *e)
{
	uint64_t prints = 0;
	int status = PD_OK;
	for (uint64_t row = 0; row < s->f.rows; row++)
		prints += pd_store_in_tables(s->section[PD_STORE_SEG_HAS][row]);
	if (prints != s->f.fingerprints)
		return fail_damaged(s, s->f.section[PD_STORE_SEG_HAS].at,
				    "the number of fingerprints is not the number in the footer", e);
	for (uint32_t t = 0; !status && t < s->f.tables; t++)
		status = verify_table(s, t, e);
	return status;
}

/* Check that every order has every dense page once in its position. */
static int verify_order(struct pd_store_segment *s, int order, struct pd_err *e)
{
	struct order_place o = order_place(s, order);
	uint64_t n = UINT64_C(1) << order_bits(s->f.dense);
	uint8_t *met = pd_zalloc(s->f.rows + 1);
	struct pd_store_page page, last;
	int status = o.starts[0] || o.starts[n] != s->f.dense ? fail_damaged(s, o.at, "an order lacks a page", e) : PD_OK;
	for (uint64_t v = 0; !status && v < n; v++) {
		if (o.starts[v] > o.starts[v + 1] || o.starts[v + 1] > s->f.dense)
			status = fail_damaged(s, o.at + v * 4, "an order points outside itself", e);
		for (uint64_t i = o.starts[v]; !status && i < o.starts[v + 1]; i++) {
			uint32_t row = (uint32_t)o.v[i], begin = (uint32_t)(o.v[i] >> 32);
			status = row >= s->f.rows ? PD_ERR_FORMAT : read_columns(s, row, &page, e);
			int c = status || !i ? 1 : pd_store_order_compare(page.sketch, last.sketch, order);
			if (status || !(page.has & PD_STORE_HAS_BANDS) || met[row] ||
			    begin != pd_store_order_begin(page.sketch, order) || order_bucket(&o, begin) != v || c < 0 ||
			    (c == 0 && row < (uint32_t)o.v[i - 1]))
				status = fail_damaged(s, o.entries + i * 8, "an order does not hold what the columns hold", e);
			else
				met[row] = 1;
			last = page;
		}
	}
	free(met);
	return status;
}

static int verify_orders(struct pd_store_segment *s, struct pd_err *e)
{
	uint64_t dense = 0;
	int status = PD_OK;
	for (uint64_t row = 0; row < s->f.rows; row++)
		dense += (s->section[PD_STORE_SEG_HAS][row] & PD_STORE_HAS_BANDS) > 0;
	if (s->f.version > BANDS_BY_HASH && dense != s->f.dense)
		return fail_damaged(s, s->f.section[PD_STORE_SEG_HAS].at,
				    "the number of pages in dense places is not the number in the footer", e);
	for (int i = 0; !status && i < s->orders.n; i++)
		status = verify_order(s, i, e);
	return status;
}

/* Rows of one hash, which may be many, ascend. */
static int verify_listed(struct pd_store_segment *s, enum pd_store_by by, uint64_t hash, uint32_t row, struct pd_err *e)
{
	uint64_t from, to;
	int status = narrow(s, by, hash, hash, &from, &to, e);
	const uint64_t *hashes = status ? NULL : items_at(s, PD_STORE_SEG_HASHES + (int)by, from, to, 8, e);
	const uint32_t *rows = hashes ? items_at(s, PD_STORE_SEG_LIST_ROWS + (int)by, from, to, 4, e) : NULL;
	if (!rows)
		return PD_ERR_FORMAT;
	uint64_t at = PD_LOWER_BOUND(i, 0, to - from, hashes[i] < hash || (hashes[i] == hash && rows[i] < row));
	bool there = at < to - from && hashes[at] == hash && rows[at] == row;
	return there ? PD_OK : fail_damaged(s, s->f.section[PD_STORE_SEG_HASHES + by].at, "a list lacks a row", e);
}

/* Check the rows one by one: numbers ascend, texts decompress, and lists agree with the columns. */
static int verify_rows(struct pd_store_segment *s, struct pd_store_text_cache *texts, struct pd_err *e)
{
	uint32_t bands[PD_STORE_BANDS];
	uint64_t keys[PD_STORE_KEYS_MAX + PD_STORE_SUBJECTS_MAX];
	struct pd_store_page page;
	const uint32_t *numbers = (const uint32_t *)s->section[PD_STORE_SEG_NUMBERS];
	int status = PD_OK;
	for (uint32_t row = 0; !status && row < s->f.rows; row++) {
		if (row && numbers[row] <= numbers[row - 1])
			status = fail_damaged(s, s->f.section[PD_STORE_SEG_NUMBERS].at + row * UINT64_C(4),
					      "pages are out of order", e);
		if (!status)
			status = pd_store_segment_page(s, row, texts, &page, e);
		if (!status)
			pd_store_page_hash(&page);
		for (int by = 0; !status && by < PD_STORE_BY_COUNT; by++)
			if (page.hash[by])
				status = verify_listed(s, (enum pd_store_by)by, page.hash[by], row, e);
		for (size_t i = 0, n = status || s->f.version > BANDS_BY_HASH ? 0 : pd_store_page_bands(&page, bands);
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

int pd_store_segment_verify(struct pd_store_segment *s, struct pd_store_text_cache *texts, pd_store_damage_fn *damaged,
			    void *damaged_ctx, struct pd_err *e)
{
	struct damage damage = { .s = s, .damaged = damaged, .ctx = damaged_ctx };
	int status = PD_OK;
	for (uint64_t at = 0; at < s->f.content; at += PD_STORE_BLOCK)
		if (check(s, at, 1, e))
			tell_damage(&damage, e->text);
	if (!damage.n)
		status = verify_tables(s, e);
	if (!damage.n && !status)
		status = verify_orders(s, e);
	if (!damage.n && !status)
		status = verify_rows(s, texts, e);
	if (status == PD_ERR_FORMAT)
		tell_damage(&damage, e->text);
	tell_rest(&damage);
	return status == PD_ERR_FORMAT ? PD_OK : status;
}

/* ==== writing ==== */

/* The output stream of a segment: bytes in, blocks and their checksums out.  After an error all calls do nothing. */
struct out {
	struct pd_store_io_file f;
	uint64_t file, at;
	struct pd_buf block, checks;
	struct pd_store_segment_footer footer;
	int status;
	struct pd_err *e;
};

static void out_open(struct out *o, struct pd_store_io *io, uint64_t file, struct pd_err *e)
{
	char name[PD_STORE_IO_NAME_MAX];
	*o = (struct out){ .file = file, .e = e };
	pd_store_io_name(io, "seg", file, name, NULL);
	o->status = pd_store_io_create(io, name, &o->f, e);
}

static void end_block(struct out *o)
{
	uint64_t block = o->checks.n / 8;
	if (!o->block.n)
		return;
	pd_store_put64(&o->checks, pd_hash64_seed(o->block.p, o->block.n, o->file << 32 ^ block));
	if (!o->status)
		o->status = pd_store_io_append(&o->f, o->block.p, o->block.n, o->e);
	pd_buf_clear(&o->block);
}

static void out_put(struct out *o, const void *p, size_t n)
{
	const char *from = p;
	while (n && !o->status) {
		size_t room = PD_STORE_BLOCK - o->block.n, some = n < room ? n : room;
		pd_buf_add(&o->block, from, some);
		from += some;
		n -= some;
		o->at += some;
		if (o->block.n == PD_STORE_BLOCK)
			end_block(o);
	}
}

static void out_align(struct out *o)
{
	static const char zeroes[PD_STORE_ALIGN];
	out_put(o, zeroes, (PD_STORE_ALIGN - o->at % PD_STORE_ALIGN) % PD_STORE_ALIGN);
}

static void out_section(struct out *o, int section)
{
	out_align(o);
	o->footer.section[section].at = o->at;
}

static void out_section_end(struct out *o, int section)
{
	o->footer.section[section].n = o->at - o->footer.section[section].at;
}

static int out_finish(struct out *o)
{
	struct pd_store_segment_footer *f = &o->footer;
	end_block(o);
	memcpy(f->magic, PD_STORE_SEGMENT_MAGIC, sizeof f->magic);
	f->version = PD_STORE_VERSION;
	f->block = PD_STORE_BLOCK;
	f->file = o->file;
	f->content = o->at;
	f->checks_check = pd_hash64_seed(o->checks.p, o->checks.n, o->file);
	f->check = pd_hash64_seed(f, sizeof *f - 8, o->file);
	if (!o->status)
		o->status = pd_store_io_append(&o->f, o->checks.p, o->checks.n, o->e);
	if (!o->status)
		o->status = pd_store_io_append(&o->f, f, sizeof *f, o->e);
	if (!o->status)
		o->status = pd_store_io_sync(&o->f, o->e);
	pd_store_io_close(&o->f);
	pd_buf_release(&o->block);
	pd_buf_release(&o->checks);
	return o->status;
}

/* The source of a segment, a column each as in segment.h, in another segment or in memory. */
struct part {
	const char *name; /* for messages */
	size_t n;
	uint64_t first;
	const uint32_t *numbers;
	const uint8_t *has;
	const uint64_t *keys, *sketches;
	int sketch_words;
	bool bands_by_hash; /* in the list by text */
	struct {
		size_t n;
		const uint64_t *hash;
		const uint32_t *rows;
	} list[PD_STORE_BY_COUNT];
	size_t n_row_blocks, rows_bytes;
	const struct pd_store_row_block *row_blocks;
	const uint8_t *rows;
	void *memory[12]; /* memory that release frees */
};

static int part_of_segment(struct part *part, struct pd_store_segment *s, struct pd_err *e)
{
	const struct pd_store_segment_footer *f = &s->f;
	*part = (struct part){
		.name = s->name,
		.n = f->rows,
		.first = f->first,
		.numbers = (const uint32_t *)s->section[PD_STORE_SEG_NUMBERS],
		.has = s->section[PD_STORE_SEG_HAS],
		.keys = (const uint64_t *)s->section[PD_STORE_SEG_KEYS],
		.sketches = (const uint64_t *)s->section[PD_STORE_SEG_SKETCHES],
		.sketch_words = (int)f->sketch_words,
		.bands_by_hash = f->version <= BANDS_BY_HASH,
		.n_row_blocks = f->row_blocks,
		.row_blocks = (const struct pd_store_row_block *)s->section[PD_STORE_SEG_ROW_BLOCKS],
		.rows = s->section[PD_STORE_SEG_ROWS],
		.rows_bytes = f->section[PD_STORE_SEG_ROWS].n,
	};
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		part->list[by].n = f->listed[by];
		part->list[by].hash = (const uint64_t *)s->section[PD_STORE_SEG_HASHES + by];
		part->list[by].rows = (const uint32_t *)s->section[PD_STORE_SEG_LIST_ROWS + by];
	}
	return check(s, 0, f->content, e);
}

/* Compress texts of rows into blocks.  A block whose rows are all kept is copied unchanged, so merging costs little
 * more than reading and writing. */
struct row_packer {
	struct pd_zstd_packer *zstd;
	struct pd_unpacker *unpacker;
	struct pd_buf raw, packed;
	struct pd_buf blocks; /* struct pd_store_row_block of all that was packed */
	uint64_t at;	      /* bytes packed */
	uint32_t row;	      /* rows packed */
};

enum { ROWS = 16 }; /* of a block */

static void row_packer_init(struct row_packer *p)
{
	*p = (struct row_packer){ .zstd = pd_zstd_packer_new(), .unpacker = pd_unpacker_new() };
}

static void row_packer_release(struct row_packer *p)
{
	pd_zstd_packer_free(p->zstd);
	pd_unpacker_free(p->unpacker);
	pd_buf_release(&p->raw);
	pd_buf_release(&p->packed);
	pd_buf_release(&p->blocks);
}

static void add_block(struct row_packer *p, size_t bytes, uint32_t n_rows)
{
	struct pd_store_row_block b = { .at = p->at, .bytes = (uint32_t)bytes, .first = p->row };
	pd_buf_add(&p->blocks, &b, sizeof b);
	p->at += bytes;
	p->row += n_rows;
}

static struct pd_span row_packer_block(struct row_packer *p, uint32_t n_rows)
{
	pd_buf_clear(&p->packed);
	pd_zstd_pack(p->zstd, pd_buf_span(&p->raw), &p->packed);
	pd_buf_clear(&p->raw);
	add_block(p, p->packed.n, n_rows);
	return pd_buf_span(&p->packed);
}

struct listed {
	uint64_t hash;
	uint32_t row;
};

static int by_hash_and_row(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void list_recent(struct part *part, const struct pd_store_recent *r, int by)
{
	struct listed *v = pd_alloc((r->n + r->n_keys + 1) * sizeof *v);
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (r->pages[i].hash[by])
			v[n++] = (struct listed){ r->pages[i].hash[by], (uint32_t)i };
	for (size_t i = 0; by == PD_STORE_BY_TEXT && i < r->n_keys; i++)
		v[n++] = (struct listed){ r->keys[i].hash, r->keys[i].row };
	qsort(v, n, sizeof *v, by_hash_and_row);
	uint64_t *hash = part->memory[2 * by] = pd_alloc((n + 1) * sizeof *hash);
	uint32_t *rows = part->memory[2 * by + 1] = pd_alloc((n + 1) * sizeof *rows);
	for (size_t i = 0; i < n; i++) {
		hash[i] = v[i].hash;
		rows[i] = v[i].row;
	}
	part->list[by].n = n;
	part->list[by].hash = hash;
	part->list[by].rows = rows;
	free(v);
}

static void pack_recent(struct part *part, const struct pd_store_recent *r)
{
	struct row_packer p;
	struct pd_buf rows = { 0 };
	row_packer_init(&p);
	for (uint32_t i = 0, waiting = 0; i < r->n; i++) {
		pd_buf_add_span(&p.raw, pd_store_recent_page(r, i).text);
		pd_buf_add_c(&p.raw, '\n');
		if (++waiting < ROWS && i + 1 < r->n)
			continue;
		pd_buf_add_span(&rows, row_packer_block(&p, waiting));
		waiting = 0;
	}
	part->n_row_blocks = p.blocks.n / sizeof *part->row_blocks;
	part->row_blocks = part->memory[6] = p.blocks.p;
	part->rows_bytes = rows.n;
	part->rows = part->memory[7] = rows.p;
	p.blocks = (struct pd_buf){ 0 };
	row_packer_release(&p);
}

static void part_of_recent(struct part *part, const struct pd_store_recent *r, int sketch_words)
{
	size_t words = (size_t)r->bits / 64, sw = (size_t)sketch_words;
	*part = (struct part){ .name = "log", .n = r->n, .sketch_words = sketch_words };
	part->first = r->n ? r->numbers[0] : 0;
	uint32_t *numbers = part->memory[8] = pd_alloc((r->n + 1) * sizeof *numbers);
	uint8_t *has = part->memory[9] = pd_alloc(r->n + 1);
	uint64_t *keys = part->memory[10] = pd_alloc((r->n + 1) * words * 8);
	uint64_t *sketches = part->memory[11] = pd_alloc((r->n + 1) * sw * 8 + 1);
	for (size_t i = 0; i < r->n; i++) {
		const struct pd_store_page *p = &r->pages[i];
		numbers[i] = (uint32_t)(r->numbers[i] - part->first);
		has[i] = p->has;
		memcpy(keys + i * words, p->key.w, words * 8);
		memcpy(sketches + i * sw, p->sketch, sw * 8);
	}
	part->numbers = numbers;
	part->has = has;
	part->keys = keys;
	part->sketches = sketches;
	for (int by = 0; by < PD_STORE_BY_COUNT; by++)
		list_recent(part, r, by);
	pack_recent(part, r);
}

static void part_release(struct part *part)
{
	for (size_t i = 0; i < sizeof part->memory / sizeof *part->memory; i++)
		free(part->memory[i]);
	*part = (struct part){ 0 };
}

static int rows_damaged(const struct part *part, struct out *out)
{
	return pd_fail(out->e, PD_ERR_FORMAT, "%s: a block of rows is damaged", part->name);
}

/* The kept rows of a block, as a new block. */
static int repack(struct row_packer *p, const struct part *part, struct pd_span packed, const uint32_t *row, size_t n,
		  struct out *out)
{
	struct pd_buf text = { 0 };
	struct pd_span rest, line;
	size_t used;
	uint32_t stay = 0;
	int status = pd_unpack_whole(p->unpacker, PD_CODEC_ZSTD, packed, TEXTS_MAX, &text, &used);
	rest = pd_buf_span(&text);
	for (size_t i = 0; !status && i < n; i++) {
		if (!pd_span_split(&rest, '\n', &line) || !rest.p)
			status = PD_ERR_FORMAT;
		else if (row[i] != UINT32_MAX) {
			pd_buf_add_span(&p->raw, line);
			pd_buf_add_c(&p->raw, '\n');
			stay++;
		}
	}
	if (!status && stay) {
		struct pd_span block = row_packer_block(p, stay);
		out_put(out, block.p, block.n);
	}
	pd_buf_release(&text);
	return status ? rows_damaged(part, out) : PD_OK;
}

static int copy_rows(struct row_packer *p, const struct part *part, const uint32_t *row, struct out *out)
{
	int status = PD_OK;
	for (size_t i = 0; !status && i < part->n_row_blocks; i++) {
		const struct pd_store_row_block *b = &part->row_blocks[i];
		size_t end = i + 1 < part->n_row_blocks ? b[1].first : part->n, all = 0;
		if (b->at > part->rows_bytes || b->bytes > part->rows_bytes - b->at || b->first >= end || end > part->n)
			return rows_damaged(part, out);
		for (size_t r = b->first; r < end; r++)
			all += row[r] != UINT32_MAX;
		struct pd_span packed = pd_span((const char *)part->rows + b->at, b->bytes);
		if (all < end - b->first) {
			status = all ? repack(p, part, packed, row + b->first, end - b->first, out) : PD_OK;
		} else {
			out_put(out, packed.p, packed.n);
			add_block(p, packed.n, (uint32_t)all);
		}
	}
	return status;
}

/* All sections, from all parts. */

enum { TABLE_ROOM = 128 << 20, NOWHERE = -1 }; /* bytes of a table that are sorted at once */

struct segment_writing {
	const struct pd_store_segment_job *job;
	const struct part *parts; /* in the order of their pages' numbers */
	size_t n_parts;
	struct out out;
	uint32_t **row; /* by part and old row: the new one, or NO_ROW */
	struct pd_store_partition partition;
	int sketch_words;
	uint64_t rows, fingerprints, last;
};

#define NO_ROW UINT32_MAX

/* Numbers and the list of tombstones both ascend. */
static void number_rows(struct segment_writing *w, size_t part, const uint64_t **tombstones)
{
	const struct part *p = &w->parts[part];
	const uint64_t *end = w->job->tombstones + w->job->n_tombstones;
	w->row[part] = pd_alloc((p->n + 1) * sizeof **w->row);
	for (size_t i = 0; i < p->n; i++) {
		uint64_t number = p->first + p->numbers[i];
		while (*tombstones < end && **tombstones < number)
			++*tombstones;
		bool live = *tombstones == end || **tombstones != number;
		w->row[part][i] = live ? (uint32_t)w->rows : NO_ROW;
		if (live && !w->rows)
			w->out.footer.first = number;
		w->last = live ? number : w->last;
		w->rows += live;
		w->fingerprints += live && pd_store_in_tables(p->has[i]);
		w->out.footer.dense += live && p->has[i] & PD_STORE_HAS_BANDS;
	}
}

#define FOR_LIVE(w, p, i) \
	for (const struct part *p = (w)->parts; p < (w)->parts + (w)->n_parts; p++) \
		for (size_t i = 0; i < p->n; i++) \
			if ((w)->row[p - (w)->parts][i] != NO_ROW)

static void write_columns(struct segment_writing *w)
{
	static const uint64_t none[PD_SKETCH_WORDS];
	struct out *o = &w->out;
	size_t words = (size_t)w->job->bits / 64;
	out_section(o, PD_STORE_SEG_NUMBERS);
	FOR_LIVE(w, p, i)
	{
		uint32_t number = (uint32_t)(p->first + p->numbers[i] - o->footer.first);
		out_put(o, &number, 4);
	}
	out_section_end(o, PD_STORE_SEG_NUMBERS);
	out_section(o, PD_STORE_SEG_HAS);
	FOR_LIVE(w, p, i)
	out_put(o, &p->has[i], 1);
	out_section_end(o, PD_STORE_SEG_HAS);
	out_section(o, PD_STORE_SEG_KEYS);
	FOR_LIVE(w, p, i)
	out_put(o, p->keys + i * words, words * 8);
	out_section_end(o, PD_STORE_SEG_KEYS);
	out_section(o, PD_STORE_SEG_SKETCHES);
	FOR_LIVE(w, p, i)
	{
		size_t own = (size_t)p->sketch_words;
		out_put(o, own ? p->sketches + i * own : none, own * 8);
		out_put(o, none, ((size_t)w->sketch_words - own) * 8);
	}
	out_section_end(o, PD_STORE_SEG_SKETCHES);
}

/* The part whose next hash is the smallest, or NOWHERE. */
static int next_part(const struct segment_writing *w, int by, const size_t *at)
{
	int best = NOWHERE;
	for (size_t i = 0; i < w->n_parts; i++) {
		const struct part *p = &w->parts[i], *b = best < 0 ? NULL : &w->parts[best];
		if (at[i] < p->list[by].n && (!b || p->list[by].hash[at[i]] < b->list[by].hash[at[best]]))
			best = (int)i;
	}
	return best;
}

static int bits_for(uint64_t n)
{
	int bits = 0;
	while (bits < 24 && n >> (bits + 4))
		bits++;
	return bits;
}

/* Hashes are written at once; rows and starts are buffered. */
static void merge_list(struct segment_writing *w, int by, struct pd_buf *rows, uint32_t *starts)
{
	size_t *at = pd_zalloc((w->n_parts + 1) * sizeof *at), shift = 64 - w->out.footer.start_bits[by];
	for (int i; (i = next_part(w, by, at)) != NOWHERE; at[i]++) {
		const struct part *p = &w->parts[i];
		uint32_t old = p->list[by].rows[at[i]], row = old < p->n ? w->row[i][old] : NO_ROW;
		uint64_t hash = p->list[by].hash[at[i]];
		/* Bands of older segments become orders. */
		if (row == NO_ROW || (by == PD_STORE_BY_TEXT && p->bands_by_hash && (hash & 3) == 2))
			continue;
		out_put(&w->out, &hash, 8);
		pd_store_put32(rows, row);
		starts[(shift == 64 ? 0 : hash >> shift) + 1]++;
	}
	free(at);
}

static void write_lists(struct segment_writing *w)
{
	struct out *o = &w->out;
	struct pd_buf rows[PD_STORE_BY_COUNT] = { 0 };
	uint32_t *starts[PD_STORE_BY_COUNT];
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		o->footer.start_bits[by] = (uint32_t)bits_for(w->rows);
		starts[by] = pd_zalloc(((UINT64_C(1) << o->footer.start_bits[by]) + 1) * 4);
		out_section(o, PD_STORE_SEG_HASHES + by);
		merge_list(w, by, &rows[by], starts[by]);
		out_section_end(o, PD_STORE_SEG_HASHES + by);
		o->footer.listed[by] = rows[by].n / 4;
		if (o->footer.listed[by] > UINT32_MAX && !o->status)
			o->status = pd_fail(o->e, PD_ERR_LIMIT, "a segment would list over %u bands or keys", UINT32_MAX);
	}
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		out_section(o, PD_STORE_SEG_LIST_ROWS + by);
		out_put(o, rows[by].p, rows[by].n);
		out_section_end(o, PD_STORE_SEG_LIST_ROWS + by);
		pd_buf_release(&rows[by]);
	}
	for (int by = 0; by < PD_STORE_BY_COUNT; by++) {
		size_t n = (size_t)1 << o->footer.start_bits[by];
		for (size_t i = 0; i < n; i++)
			starts[by][i + 1] += starts[by][i];
		out_section(o, PD_STORE_SEG_STARTS + by);
		out_put(o, starts[by], (n + 1) * 4);
		out_section_end(o, PD_STORE_SEG_STARTS + by);
		free(starts[by]);
	}
}

/* starts[v + 1]: keys in bucket v, and then where each begins. */
static void count_buckets(const struct segment_writing *w, int table, uint32_t *starts)
{
	size_t words = (size_t)w->job->bits / 64, n = (size_t)1 << w->partition.n_bits;
	memset(starts, 0, (n + 1) * sizeof *starts);
	FOR_LIVE(w, p, i)
	if (pd_store_in_tables(p->has[i]))
		starts[pd_store_partition_block(w->partition, p->keys + i * words, table) + 1]++;
	for (size_t v = 0; v < n; v++)
		starts[v + 1] += starts[v];
}

/* Buckets from .. to - 1 of one column of a table: word `column` of the keys, or, after the last word, the rows. */
static void write_buckets(struct segment_writing *w, int table, int column, const uint32_t *starts, size_t from, size_t to)
{
	size_t words = (size_t)w->job->bits / 64, base = starts[from], n = starts[to] - base;
	bool is_row = column == (int)words;
	uint32_t *next = pd_alloc((to - from + 1) * sizeof *next), *rows = is_row ? pd_alloc(n * 4 + 1) : NULL;
	uint64_t *keys = is_row ? NULL : pd_alloc(n * 8 + 1);
	memcpy(next, starts + from, (to - from) * sizeof *next);
	FOR_LIVE(w, p, i)
	{
		if (!pd_store_in_tables(p->has[i]))
			continue;
		uint64_t v = pd_store_partition_block(w->partition, p->keys + i * words, table);
		if (v < from || v >= to)
			continue;
		size_t at = next[v - from]++ - base;
		if (is_row)
			rows[at] = w->row[p - w->parts][i];
		else
			keys[at] = p->keys[i * words + (size_t)column];
	}
	out_put(&w->out, is_row ? (void *)rows : (void *)keys, n * (is_row ? 4 : 8));
	free(next);
	free(rows);
	free(keys);
}

/* As many buckets at once as TABLE_ROOM allows, at least one. */
static void write_column(struct segment_writing *w, int table, int column, const uint32_t *starts)
{
	size_t n = (size_t)1 << w->partition.n_bits;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && (starts[to + 1] - starts[from]) * UINT64_C(8) <= TABLE_ROOM; to++)
			;
		write_buckets(w, table, column, starts, from, to);
	}
}

/* Sort keys of an order: prefixes with numbers of dense pages, counted from 0. */
struct sorting_order {
	int order;
	size_t n;
	uint64_t *v, *other;
	uint32_t *row; /* of these pages */
	const uint64_t **sketch;
	size_t words; /* of these sketches */
};

static const uint64_t *whole_sketch(const struct sorting_order *s, uint32_t i, uint64_t room[PD_SKETCH_WORDS])
{
	if (s->words == PD_SKETCH_WORDS)
		return s->sketch[i];
	memset(room, 0, PD_SKETCH_WORDS * sizeof *room);
	memcpy(room, s->sketch[i], s->words * sizeof *room);
	return room;
}

static int by_order(const void *x, const void *y, void *ctx)
{
	const struct sorting_order *s = ctx;
	uint32_t a = (uint32_t) * (const uint64_t *)x, b = (uint32_t) * (const uint64_t *)y;
	uint64_t room[2][PD_SKETCH_WORDS];
	int c = pd_store_order_compare(whole_sketch(s, a, room[0]), whole_sketch(s, b, room[1]), s->order);
	return c ? c : a < b ? -1 : a > b;
}

/* Sort by prefix with a radix sort, which keeps equal ones ordered by number; then sort the few with equal prefixes
 * by the whole sketch. */
static void sort_order(struct sorting_order *s)
{
	enum { DIGIT = 11, DIGITS = 3 };
	for (int d = 0; d < DIGITS; d++) {
		size_t next[(1 << DIGIT) + 1] = { 0 };
		int shift = 32 + d * DIGIT;
		for (size_t i = 0; i < s->n; i++)
			next[(s->v[i] >> shift & ((1 << DIGIT) - 1)) + 1]++;
		for (size_t v = 0; v < 1 << DIGIT; v++)
			next[v + 1] += next[v];
		for (size_t i = 0; i < s->n; i++)
			s->other[next[s->v[i] >> shift & ((1 << DIGIT) - 1)]++] = s->v[i];
		uint64_t *swap = s->v;
		s->v = s->other;
		s->other = swap;
	}
	for (size_t from = 0, to; from < s->n; from = to) {
		bool sorted = true;
		for (to = from + 1; to < s->n && s->v[to] >> 32 == s->v[from] >> 32; to++)
			sorted = sorted && by_order(&s->v[to - 1], &s->v[to], s) < 0;
		if (!sorted)
			qsort_r(s->v + from, to - from, sizeof *s->v, by_order, s);
	}
}

static void write_orders(struct segment_writing *w)
{
	struct pd_store_segment_footer *f = &w->out.footer;
	struct sorting_order s = { .words = 0 };
	uint64_t room[PD_SKETCH_WORDS];
	int shift = 32 - order_bits(f->dense);
	size_t n_starts = ((size_t)1 << order_bits(f->dense)) + 1;
	if (!n_orders(f))
		return;
	s.v = pd_alloc(f->dense * sizeof *s.v);
	s.other = pd_alloc(f->dense * sizeof *s.other);
	s.row = pd_alloc(f->dense * sizeof *s.row);
	s.sketch = pd_alloc(f->dense * sizeof *s.sketch);
	/* Pages without sketches are never dense; all others have sketches of one size. */
	FOR_LIVE(w, p, i)
	if (p->has[i] & PD_STORE_HAS_BANDS) {
		s.words = (size_t)p->sketch_words;
		s.sketch[s.n] = p->sketches + i * s.words;
		s.row[s.n++] = w->row[p - w->parts][i];
	}
	uint32_t *starts = pd_alloc(n_starts * sizeof *starts);
	for (s.order = 0; s.order < n_orders(f); s.order++) {
		for (uint32_t i = 0; i < s.n; i++)
			s.v[i] = (uint64_t)pd_store_order_begin(whole_sketch(&s, i, room), s.order) << 32 | i;
		sort_order(&s);
		memset(starts, 0, n_starts * sizeof *starts);
		for (size_t i = 0; i < s.n; i++) {
			starts[((s.v[i] >> 32) >> shift) + 1]++;
			s.v[i] = (s.v[i] & ~UINT64_C(0xffffffff)) | s.row[(uint32_t)s.v[i]];
		}
		for (size_t v = 1; v < n_starts; v++)
			starts[v] += starts[v - 1];
		out_put(&w->out, starts, n_starts * sizeof *starts);
		out_align(&w->out);
		out_put(&w->out, s.v, s.n * sizeof *s.v);
		out_align(&w->out);
	}
	free(starts);
	free(s.v);
	free(s.other);
	free(s.row);
	free(s.sketch);
}

static void write_tables(struct segment_writing *w)
{
	static const uint64_t pad[PD_STORE_ALIGN];
	struct table_layout l;
	size_t n = (size_t)1 << w->partition.n_bits, words = (size_t)w->job->bits / 64;
	uint32_t *starts = pd_alloc((n + 1) * sizeof *starts);
	lay_out_table(&w->out.footer, &l);
	out_section(&w->out, PD_STORE_SEG_TABLES);
	for (int t = 0; t < w->partition.n_blocks; t++) {
		count_buckets(w, t, starts);
		out_put(&w->out, starts, (n + 1) * sizeof *starts);
		out_align(&w->out);
		for (size_t column = 0; column <= words; column++) {
			write_column(w, t, (int)column, starts);
			if (column < words)
				out_put(&w->out, pad, (l.stride - w->fingerprints) * 8);
		}
		out_align(&w->out);
	}
	write_orders(w);
	out_section_end(&w->out, PD_STORE_SEG_TABLES);
	free(starts);
}

static void write_row_blocks(struct segment_writing *w)
{
	struct row_packer packer;
	struct out *o = &w->out;
	row_packer_init(&packer);
	out_section(o, PD_STORE_SEG_ROWS);
	for (size_t i = 0; !o->status && i < w->n_parts; i++) {
		int status = copy_rows(&packer, &w->parts[i], w->row[i], o);
		if (!o->status)
			o->status = status;
	}
	out_section_end(o, PD_STORE_SEG_ROWS);
	out_section(o, PD_STORE_SEG_ROW_BLOCKS);
	out_put(o, packer.blocks.p, packer.blocks.n);
	out_section_end(o, PD_STORE_SEG_ROW_BLOCKS);
	o->footer.row_blocks = packer.blocks.n / sizeof(struct pd_store_row_block);
	row_packer_release(&packer);
}

static void write_all(struct segment_writing *w)
{
	struct pd_store_segment_footer *f = &w->out.footer;
	f->rows = w->rows;
	f->fingerprints = w->fingerprints;
	f->bits = (uint32_t)w->job->bits;
	f->sketch_words = (uint32_t)w->sketch_words;
	f->tables = (uint32_t)w->partition.n_blocks;
	f->table_bits = (uint32_t)w->partition.n_bits;
	out_put(&w->out, PD_STORE_SEGMENT_MAGIC, 8);
	write_columns(w);
	write_lists(w);
	write_tables(w);
	write_row_blocks(w);
}

static int write_parts(const struct pd_store_segment_job *job, const struct part *parts, size_t n_parts,
		       struct pd_store_manifest_segment *out, struct pd_err *e)
{
	struct segment_writing w = {
		.job = job, .parts = parts, .n_parts = n_parts, .row = pd_zalloc((n_parts + 1) * sizeof *w.row)
	};
	const uint64_t *tombstones = job->tombstones;
	int status = PD_OK;
	*out = (struct pd_store_manifest_segment){ .file = job->file };
	for (size_t i = 0; i < n_parts; i++) {
		number_rows(&w, i, &tombstones);
		w.sketch_words = parts[i].sketch_words > w.sketch_words ? parts[i].sketch_words : w.sketch_words;
	}
	w.partition = pd_store_partition_choose(job->bits, job->k, w.fingerprints);
	if (w.rows && (w.rows > PD_STORE_SEGMENT_ROWS || w.last - w.out.footer.first > UINT32_MAX))
		status = pd_fail(e, PD_ERR_LIMIT, "a segment would hold over %u pages, or their numbers lie too far apart",
				 PD_STORE_SEGMENT_ROWS);
	if (w.rows && !status) {
		uint64_t first = w.out.footer.first;
		uint32_t dense = w.out.footer.dense;
		out_open(&w.out, job->io, job->file, e);
		w.out.footer.first = first;
		w.out.footer.dense = dense;
		write_all(&w);
		status = out_finish(&w.out);
		out->rows = w.rows;
		out->bytes = w.out.f.size;
		out->check = w.out.footer.check;
	}
	for (size_t i = 0; i < n_parts; i++)
		free(w.row[i]);
	free(w.row);
	return status;
}

int pd_store_segment_write(const struct pd_store_segment_job *job, const struct pd_store_recent *recent, int sketch_words,
			   struct pd_store_manifest_segment *out, struct pd_err *e)
{
	struct part part;
	part_of_recent(&part, recent, sketch_words);
	int status = write_parts(job, &part, 1, out, e);
	part_release(&part);
	return status;
}

int pd_store_segment_merge(const struct pd_store_segment_job *job, struct pd_store_segment *segments, size_t n,
			   struct pd_store_manifest_segment *out, struct pd_err *e)
{
	struct part *parts = pd_zalloc((n + 1) * sizeof *parts);
	int status = PD_OK;
	for (size_t i = 0; !status && i < n; i++)
		status = part_of_segment(&parts[i], &segments[i], e);
	if (!status)
		status = write_parts(job, parts, n, out, e);
	free(parts);
	return status;
}
