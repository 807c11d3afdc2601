/* SPDX-License-Identifier: MIT */
#include "store/segment.h"

#include <inttypes.h>
#include <stdlib.h>

int pd_segment_damaged(const struct pd_segment *s, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": %s", s->name, at, what);
}

static uint64_t aligned(uint64_t n)
{
	return (n + PD_STORE_ALIGN - 1) / PD_STORE_ALIGN * PD_STORE_ALIGN;
}

void pd_table_layout(const struct pd_segment_footer *f, struct pd_table_layout *l)
{
	l->stride = aligned((f->prints + PD_SEGMENT_PAD) * 8) / 8;
	l->part[PD_TABLE_STARTS] = 0;
	l->part[PD_TABLE_KEYS] = aligned(((UINT64_C(1) << f->table_bits) + 1) * 4);
	l->part[PD_TABLE_ROWS] = l->part[PD_TABLE_KEYS] + l->stride * 8 * (f->bits / 64);
	l->bytes = l->part[PD_TABLE_ROWS] + aligned(f->prints * 4);
}

/* What a section's size has to be; UINT64_MAX: any. */
static uint64_t section_size(const struct pd_segment_footer *f, int section)
{
	struct pd_table_layout l;
	switch (section) {
	case PD_SEG_NUMBERS: return f->rows * 4;
	case PD_SEG_HAS: return f->rows;
	case PD_SEG_KEYS: return f->rows * f->bits / 8;
	case PD_SEG_SKETCHES: return f->rows * f->sketch_words * 8;
	case PD_SEG_TABLES: pd_table_layout(f, &l); return l.bytes * f->tables;
	case PD_SEG_ROW_BLOCKS: return f->row_blocks * sizeof(struct pd_row_block);
	case PD_SEG_ROWS: return UINT64_MAX;
	}
	if (section >= PD_SEG_STARTS)
		return ((UINT64_C(1) << f->start_bits[section - PD_SEG_STARTS]) + 1) * 4;
	if (section >= PD_SEG_LIST_ROWS)
		return f->listed[section - PD_SEG_LIST_ROWS] * 4;
	return f->listed[section - PD_SEG_HASHES] * 8;
}

static bool counts_hold(const struct pd_segment_footer *f)
{
	if (f->rows > PD_SEGMENT_ROWS)
		return false;
	for (int i = 0; i < PD_BY_COUNT; i++)
		if (f->listed[i] > f->rows * (i == PD_BY_TEXT ? PD_STORE_BANDS : 1) || f->listed[i] > UINT32_MAX || f->start_bits[i] > 30)
			return false;
	return f->prints <= f->rows && f->row_blocks <= f->rows && f->first <= UINT64_MAX / 2 &&
	       (f->bits == 64 || f->bits == 128 || f->bits == 256) && f->sketch_words <= PD_SKETCH_WORDS &&
	       f->tables > 0 && f->tables <= PD_STORE_TABLES_MAX && f->table_bits <= PD_CUT_BITS_MAX &&
	       f->tables * f->table_bits <= f->bits;
}

static bool sections_hold(const struct pd_segment *s)
{
	const struct pd_segment_footer *f = &s->f;
	uint64_t end = 0;
	for (int i = 0; i < PD_SEG_SECTIONS; i++) {
		uint64_t want = section_size(f, i), at = f->section[i].at, n = f->section[i].n;
		if (at % PD_STORE_ALIGN || at < end || at > f->content || n > f->content - at || (want != UINT64_MAX && n != want))
			return false;
		end = at + n;
	}
	return true;
}

static uint64_t n_checks(const struct pd_segment_footer *f)
{
	return (f->content + PD_STORE_BLOCK - 1) / PD_STORE_BLOCK;
}

static int read_footer(struct pd_segment *s, uint64_t file, struct pd_err *e)
{
	struct pd_segment_footer *f = &s->f;
	uint64_t at = s->map.n - sizeof *f;
	if (s->map.n < sizeof *f)
		return pd_segment_damaged(s, s->map.n, "too short for a segment", e);
	memcpy(f, s->map.p + at, sizeof *f);
	if (memcmp(f->magic, PD_SEGMENT_MAGIC, 8))
		return pd_segment_damaged(s, at, "not the end of a segment", e);
	if (f->version > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s: a segment of version %" PRIu32 "; this program knows version %d", s->name,
			       f->version, PD_STORE_VERSION);
	if (f->check != pd_hash64_seed(f, sizeof *f - 8, file))
		return pd_segment_damaged(s, at, "the checksum of the footer is another", e);
	if (f->file != file || f->block != PD_STORE_BLOCK || f->content > at || !counts_hold(f) || !sections_hold(s) ||
	    at - f->content != n_checks(f) * 8)
		return pd_segment_damaged(s, at, "the footer contradicts itself", e);
	return PD_OK;
}

int pd_segment_open(struct pd_segment *s, struct pd_io_map map, uint64_t file, const char *name, struct pd_err *e)
{
	*s = (struct pd_segment){ .map = map, .name = pd_strdup(name) };
	int status = read_footer(s, file, e);
	uint64_t n = status ? 0 : n_checks(&s->f) * 8;
	if (!status)
		s->checks = map.p + s->f.content;
	if (!status && s->f.checks_check != pd_hash64_seed(s->checks, n, file))
		status = pd_segment_damaged(s, s->f.content, "the checksum of the checksums is another", e);
	if (status) {
		pd_segment_close(s);
		return status;
	}
	s->seen = pd_zalloc(n / 8 + 1);
	for (int i = 0; i < PD_SEG_SECTIONS; i++)
		s->section[i] = map.p + s->f.section[i].at;
	return PD_OK;
}

void pd_segment_close(struct pd_segment *s)
{
	pd_io_unmap(&s->map);
	free(s->name);
	free(s->seen);
	*s = (struct pd_segment){ 0 };
}

static int check_block(struct pd_segment *s, uint64_t block, struct pd_err *e)
{
	uint64_t at = block * PD_STORE_BLOCK, n = s->f.content - at;
	if (n > PD_STORE_BLOCK)
		n = PD_STORE_BLOCK;
	if (pd_hash64_seed(s->map.p + at, n, s->f.file << 32 ^ block) != pd_get64(s->checks + block * 8))
		return pd_segment_damaged(s, at, "the checksum of this block is another", e);
	s->seen[block] = 1;
	return PD_OK;
}

int pd_segment_check(struct pd_segment *s, uint64_t at, uint64_t n, struct pd_err *e)
{
	if (!n)
		return PD_OK;
	for (uint64_t b = at / PD_STORE_BLOCK; b <= (at + n - 1) / PD_STORE_BLOCK; b++)
		if (!s->seen[b] && check_block(s, b, e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

const void *pd_segment_at(struct pd_segment *s, int section, uint64_t from, uint64_t to, size_t size, struct pd_err *e)
{
	uint64_t at = s->f.section[section].at;
	if (from > to || to * size > s->f.section[section].n) {
		pd_segment_damaged(s, at, "it leads out of a section", e);
		return NULL;
	}
	return pd_segment_check(s, at + from * size, (to - from) * size, e) ? NULL : s->map.p + at + from * size;
}

int pd_segment_number(struct pd_segment *s, uint32_t row, uint64_t *number, struct pd_err *e)
{
	const uint32_t *p = pd_segment_at(s, PD_SEG_NUMBERS, row, row + UINT64_C(1), 4, e);
	if (p)
		*number = s->f.first + *p;
	return p ? PD_OK : PD_ERR_FORMAT;
}

int pd_segment_row(struct pd_segment *s, uint64_t number, uint32_t *row, struct pd_err *e)
{
	uint64_t low = 0, high = s->f.rows, at = 0;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (pd_segment_number(s, (uint32_t)middle, &at, e))
			return PD_ERR_FORMAT;
		if (at < number)
			low = middle + 1;
		else
			high = middle;
	}
	*row = (uint32_t)low;
	if (low == s->f.rows)
		return 0;
	return pd_segment_number(s, (uint32_t)low, &at, e) ? PD_ERR_FORMAT : at == number;
}

int pd_segment_page(struct pd_segment *s, uint32_t row, struct pd_store_page *p, struct pd_err *e)
{
	size_t words = s->f.bits / 64, sketch = s->f.sketch_words;
	uint64_t next = row + UINT64_C(1);
	const uint8_t *has = pd_segment_at(s, PD_SEG_HAS, row, next, 1, e);
	const uint64_t *key = has ? pd_segment_at(s, PD_SEG_KEYS, row, next, words * 8, e) : NULL;
	const uint64_t *sk = key ? pd_segment_at(s, PD_SEG_SKETCHES, row, next, sketch * 8, e) : NULL;
	*p = (struct pd_store_page){ 0 };
	if (!sk)
		return PD_ERR_FORMAT;
	p->has = *has;
	memcpy(p->key.w, key, words * 8);
	memcpy(p->sketch, sk, sketch * 8);
	return PD_OK;
}
