/* SPDX-License-Identifier: MIT */
#include "store/segment.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "join/bits.h"

/* A bucket that is looked at costs as much as this many comparisons of keys that lie in it (measured). */
#define COST_BUCKET 40.0
#define BLOCK_BITS_MIN 4

static double ball(int bits, int radius)
{
	double sum = 1, c = 1;
	for (int i = 1; i <= radius && i <= bits; i++)
		sum += c = c * (bits - i + 1) / i;
	return radius < 0 ? 0 : sum;
}

static double cost_of(struct pd_store_partition p, int k, uint64_t n_keys)
{
	int radius[PD_STORE_TABLES_MAX];
	double sum = 0;
	pd_join_radii(k, p.n_blocks, radius);
	for (int i = 0; i < p.n_blocks; i++)
		sum += ball(p.n_bits, radius[i]) * (ldexp((double)n_keys, -p.n_bits) + COST_BUCKET);
	return sum;
}

/* More tables than one for 16 bits are more disk than they save time; buckets shall not outnumber keys by far. */
struct pd_store_partition pd_store_partition_choose(int bits, int k, uint64_t n_keys)
{
	struct pd_store_partition best = { 1, 0 };
	double least = (double)n_keys;
	for (int w = BLOCK_BITS_MIN; w <= PD_STORE_BLOCK_BITS_MAX && n_keys >> w; w++)
		for (int m = 1; m <= bits / 16 && m * w <= bits; m++) {
			double c = cost_of((struct pd_store_partition){ m, w }, k, n_keys);
			if (c >= least)
				continue;
			least = c;
			best = (struct pd_store_partition){ m, w };
		}
	return best;
}

int pd_store_segment_damaged(const struct pd_store_segment *s, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": %s", s->name, at, what);
}

static uint64_t aligned(uint64_t n)
{
	return (n + PD_STORE_ALIGN - 1) / PD_STORE_ALIGN * PD_STORE_ALIGN;
}

void pd_store_table_layout(const struct pd_store_segment_footer *f, struct pd_store_table_layout *l)
{
	l->stride = aligned((f->prints + PD_STORE_SEGMENT_PAD) * 8) / 8;
	l->part[PD_STORE_TABLE_STARTS] = 0;
	l->part[PD_STORE_TABLE_KEYS] = aligned(((UINT64_C(1) << f->table_bits) + 1) * 4);
	l->part[PD_STORE_TABLE_ROWS] = l->part[PD_STORE_TABLE_KEYS] + l->stride * 8 * (f->bits / 64);
	l->bytes = l->part[PD_STORE_TABLE_ROWS] + aligned(f->prints * 4);
}

/* What a section's size has to be; UINT64_MAX: any. */
static uint64_t section_size(const struct pd_store_segment_footer *f, int section)
{
	struct pd_store_table_layout l;
	switch (section) {
	case PD_STORE_SEG_NUMBERS: return f->rows * 4;
	case PD_STORE_SEG_HAS: return f->rows;
	case PD_STORE_SEG_KEYS: return f->rows * f->bits / 8;
	case PD_STORE_SEG_SKETCHES: return f->rows * f->sketch_words * 8;
	case PD_STORE_SEG_TABLES: pd_store_table_layout(f, &l); return l.bytes * f->tables;
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
		if (f->listed[i] > f->rows * (i == PD_STORE_BY_TEXT ? PD_STORE_BANDS : 1) ||
		    f->listed[i] > UINT32_MAX || f->start_bits[i] > 30)
			return false;
	return f->prints <= f->rows && f->row_blocks <= f->rows && f->first <= UINT64_MAX / 2 &&
	       (f->bits == 64 || f->bits == 128 || f->bits == 256) && f->sketch_words <= PD_SKETCH_WORDS &&
	       f->tables > 0 && f->tables <= PD_STORE_TABLES_MAX && f->table_bits <= PD_STORE_BLOCK_BITS_MAX &&
	       f->tables * f->table_bits <= f->bits;
}

static bool sections_hold(const struct pd_store_segment *s)
{
	const struct pd_store_segment_footer *f = &s->f;
	uint64_t end = 0;
	for (int i = 0; i < PD_STORE_SEG_SECTIONS; i++) {
		uint64_t want = section_size(f, i), at = f->section[i].at, n = f->section[i].n;
		if (at % PD_STORE_ALIGN || at < end || at > f->content || n > f->content - at ||
		    (want != UINT64_MAX && n != want))
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
		return pd_store_segment_damaged(s, s->map.n, "too short for a segment", e);
	memcpy(f, s->map.p + at, sizeof *f);
	if (memcmp(f->magic, PD_STORE_SEGMENT_MAGIC, 8))
		return pd_store_segment_damaged(s, at, "not the end of a segment", e);
	if (f->version > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s: a segment of version %" PRIu32 "; this program knows version %d",
			       s->name, f->version, PD_STORE_VERSION);
	if (f->check != pd_hash64_seed(f, sizeof *f - 8, file))
		return pd_store_segment_damaged(s, at, "the checksum of the footer is another", e);
	if (f->file != file || f->block != PD_STORE_BLOCK || f->content > at || !counts_hold(f) || !sections_hold(s) ||
	    at - f->content != n_checks(f) * 8)
		return pd_store_segment_damaged(s, at, "the footer contradicts itself", e);
	return PD_OK;
}

int pd_store_segment_open(struct pd_store_segment *s, struct pd_store_io_map map, uint64_t file, const char *name,
			  struct pd_err *e)
{
	*s = (struct pd_store_segment){ .map = map, .name = pd_strdup(name) };
	int status = read_footer(s, file, e);
	uint64_t n = status ? 0 : n_checks(&s->f) * 8;
	if (!status)
		s->checks = map.p + s->f.content;
	if (!status && s->f.checks_check != pd_hash64_seed(s->checks, n, file))
		status = pd_store_segment_damaged(s, s->f.content, "the checksum of the checksums is another", e);
	if (status) {
		pd_store_segment_close(s);
		return status;
	}
	s->seen = pd_zalloc(n / 8 + 1);
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

static int check_block(struct pd_store_segment *s, uint64_t block, struct pd_err *e)
{
	uint64_t at = block * PD_STORE_BLOCK, n = s->f.content - at;
	if (n > PD_STORE_BLOCK)
		n = PD_STORE_BLOCK;
	if (pd_hash64_seed(s->map.p + at, n, s->f.file << 32 ^ block) != pd_store_get64(s->checks + block * 8))
		return pd_store_segment_damaged(s, at, "the checksum of this block is another", e);
	s->seen[block] = 1;
	return PD_OK;
}

int pd_store_segment_check(struct pd_store_segment *s, uint64_t at, uint64_t n, struct pd_err *e)
{
	if (!n)
		return PD_OK;
	for (uint64_t b = at / PD_STORE_BLOCK; b <= (at + n - 1) / PD_STORE_BLOCK; b++)
		if (!s->seen[b] && check_block(s, b, e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

const void *pd_store_segment_at(struct pd_store_segment *s, int section, uint64_t from, uint64_t to, size_t size,
				struct pd_err *e)
{
	uint64_t at = s->f.section[section].at;
	if (from > to || to * size > s->f.section[section].n) {
		pd_store_segment_damaged(s, at, "it leads out of a section", e);
		return NULL;
	}
	return pd_store_segment_check(s, at + from * size, (to - from) * size, e) ? NULL : s->map.p + at + from * size;
}

int pd_store_segment_number(struct pd_store_segment *s, uint32_t row, uint64_t *number, struct pd_err *e)
{
	const uint32_t *p = pd_store_segment_at(s, PD_STORE_SEG_NUMBERS, row, row + UINT64_C(1), 4, e);
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

int pd_store_segment_page(struct pd_store_segment *s, uint32_t row, struct pd_store_page *p, struct pd_err *e)
{
	size_t words = s->f.bits / 64, sketch = s->f.sketch_words;
	uint64_t next = row + UINT64_C(1);
	const uint8_t *has = pd_store_segment_at(s, PD_STORE_SEG_HAS, row, next, 1, e);
	const uint64_t *key = has ? pd_store_segment_at(s, PD_STORE_SEG_KEYS, row, next, words * 8, e) : NULL;
	const uint64_t *sk = key ? pd_store_segment_at(s, PD_STORE_SEG_SKETCHES, row, next, sketch * 8, e) : NULL;
	*p = (struct pd_store_page){ 0 };
	if (!sk)
		return PD_ERR_FORMAT;
	p->has = *has;
	memcpy(p->key.w, key, words * 8);
	memcpy(p->sketch, sk, sketch * 8);
	return PD_OK;
}

/* Looking up hashes: the highest bits say where to look, and a few hashes stand there. */

/* Where hashes with these highest bits stand: from *from to *to - 1. */
static int narrow(struct pd_store_segment *s, enum pd_store_by by, uint64_t low, uint64_t high, uint64_t *from,
		  uint64_t *to, struct pd_err *e)
{
	int shift = 64 - (int)s->f.start_bits[by], section = PD_STORE_SEG_STARTS + (int)by;
	uint64_t a = shift == 64 ? 0 : low >> shift, b = shift == 64 ? 0 : high >> shift;
	const uint32_t *first = pd_store_segment_at(s, section, a, a + 1, 4, e);
	const uint32_t *last = first ? pd_store_segment_at(s, section, b + 1, b + 2, 4, e) : NULL;
	if (!last)
		return PD_ERR_FORMAT;
	*from = *first;
	*to = *last;
	if (*from > *to || *to > s->f.listed[by])
		return pd_store_segment_damaged(s, s->f.section[section].at, "a list leads out of itself", e);
	return PD_OK;
}

/* What stands there is used for nothing else, so no checksum is looked at. */
void pd_store_segment_find_soon(const struct pd_store_segment *s, enum pd_store_by by, uint64_t hash, int step)
{
	int shift = 64 - (int)s->f.start_bits[by];
	const uint32_t *starts = (const uint32_t *)s->section[PD_STORE_SEG_STARTS + by];
	const uint32_t *start = starts + (shift == 64 ? 0 : hash >> shift);
	if (step == 0)
		__builtin_prefetch(start);
	else if (*start < s->f.listed[by])
		for (uint64_t line = 0; line < 2; line++)
			__builtin_prefetch((const uint64_t *)s->section[PD_STORE_SEG_HASHES + by] + *start + line * 8);
}

int pd_store_segment_find(struct pd_store_segment *s, enum pd_store_by by, uint64_t low, uint64_t high,
			  struct pd_store_rows_found *out, struct pd_err *e)
{
	uint64_t from, to;
	int status = narrow(s, by, low, high, &from, &to, e);
	if (status || from == to)
		return status;
	const uint64_t *hash = pd_store_segment_at(s, PD_STORE_SEG_HASHES + (int)by, from, to, 8, e);
	if (!hash)
		return PD_ERR_FORMAT;
	for (uint64_t i = PD_LOWER_BOUND(at, 0, to - from, hash[at] < low); i < to - from && hash[i] <= high &&
	     (!out->most || out->n < out->most); i++) {
		const uint32_t *row = pd_store_segment_at(s, PD_STORE_SEG_LIST_ROWS + (int)by, from + i, from + i + 1,
							  4, e);
		if (!row)
			return PD_ERR_FORMAT;
		if (*row >= s->f.rows)
			return pd_store_segment_damaged(s, s->f.section[PD_STORE_SEG_LIST_ROWS + by].at,
							"a list leads out of the segment", e);
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
		out->v[out->n++] = *row;
	}
	return PD_OK;
}

/* Texts of rows, unpacked block by block.  Who asks for one row often asks for its neighbours soon: the last blocks stay
 * unpacked, each in the place that its number says. */

enum { CACHED = 64, TEXTS_MAX = 64 << 20 };

struct pd_store_text_cache {
	struct pd_unpacker *unpacker;
	struct {
		uint64_t file, block;
		bool used;
		struct pd_buf text;
	} v[CACHED];
};

struct pd_store_text_cache *pd_store_text_cache_new(void)
{
	struct pd_store_text_cache *c = pd_zalloc(sizeof *c);
	c->unpacker = pd_unpacker_new();
	return c;
}

void pd_store_text_cache_free(struct pd_store_text_cache *c)
{
	if (!c)
		return;
	for (int i = 0; i < CACHED; i++)
		pd_buf_release(&c->v[i].text);
	pd_unpacker_free(c->unpacker);
	free(c);
}

static const struct pd_store_row_block *row_block(struct pd_store_segment *s, uint64_t i, struct pd_err *e)
{
	return pd_store_segment_at(s, PD_STORE_SEG_ROW_BLOCKS, i, i + 1, sizeof(struct pd_store_row_block), e);
}

/* Does the block begin at the row or before it?  *status: could it be read? */
static bool begins_by(struct pd_store_segment *s, uint64_t block, uint32_t row, int *status, struct pd_err *e)
{
	const struct pd_store_row_block *b = *status ? NULL : row_block(s, block, e);
	if (!b)
		*status = PD_ERR_FORMAT;
	return b && b->first <= row;
}

/* The last block that begins at the row or before it. */
static int block_of_row(struct pd_store_segment *s, uint32_t row, size_t *block, struct pd_err *e)
{
	int status = PD_OK;
	*block = PD_LOWER_BOUND(i, 1, s->f.row_blocks, begins_by(s, i, row, &status, e)) - 1;
	return status;
}

static int unpack(struct pd_store_segment *s, size_t block, struct pd_store_text_cache *c, struct pd_buf *out,
		  struct pd_err *e)
{
	const struct pd_store_row_block *b = row_block(s, block, e);
	size_t used;
	if (!b)
		return PD_ERR_FORMAT;
	uint64_t at = s->f.section[PD_STORE_SEG_ROWS].at + b->at;
	if (b->at > s->f.section[PD_STORE_SEG_ROWS].n)
		return pd_store_segment_damaged(s, at, "a block of rows leads out of its section", e);
	const char *p = pd_store_segment_at(s, PD_STORE_SEG_ROWS, b->at, b->at + b->bytes, 1, e);
	if (!p)
		return PD_ERR_FORMAT;
	pd_buf_clear(out);
	if (pd_unpack_whole(c->unpacker, PD_CODEC_ZSTD, pd_span(p, b->bytes), TEXTS_MAX, out, &used))
		return pd_store_segment_damaged(s, at, "these rows cannot be unpacked", e);
	return PD_OK;
}

int pd_store_segment_texts(struct pd_store_segment *s, size_t block, struct pd_store_text_cache *c, struct pd_span *out,
			   struct pd_err *e)
{
	size_t i = (block * 7 + s->f.file) % CACHED;
	bool here = c->v[i].used && c->v[i].file == s->f.file && c->v[i].block == block;
	if (!here && (c->v[i].used = false, unpack(s, block, c, &c->v[i].text, e)))
		return PD_ERR_FORMAT;
	c->v[i].used = true;
	c->v[i].file = s->f.file;
	c->v[i].block = block;
	*out = pd_buf_span(&c->v[i].text);
	return PD_OK;
}

int pd_store_segment_text(struct pd_store_segment *s, uint32_t row, struct pd_store_text_cache *c, struct pd_span *out,
			  struct pd_err *e)
{
	size_t block;
	struct pd_span rest;
	int status = block_of_row(s, row, &block, e);
	if (!status)
		status = pd_store_segment_texts(s, block, c, &rest, e);
	if (status)
		return status;
	const struct pd_store_row_block *b = row_block(s, block, e);
	*out = pd_span(NULL, 0);
	for (uint64_t i = b->first; i <= row; i++)
		if (!pd_span_split(&rest, '\n', out) || !rest.p)
			*out = rest = pd_span(NULL, 0);
	return out->p ? PD_OK : pd_store_segment_damaged(s, s->f.section[PD_STORE_SEG_ROWS].at + b->at,
							 "a row is missing", e);
}
