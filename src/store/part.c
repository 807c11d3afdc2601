/* SPDX-License-Identifier: MIT
 *
 * The two kinds of parts that segments are made of: another segment, and what lies in memory.
 */
#include <stdlib.h>

#include "store/row_blocks.h"
#include "store/segment_write.h"

int pd_part_of_segment(struct pd_segment_part *part, struct pd_segment *s, struct pd_err *e)
{
	const struct pd_segment_footer *f = &s->f;
	*part = (struct pd_segment_part){
		.name = s->name,
		.n = f->rows,
		.first = f->first,
		.numbers = (const uint32_t *)s->section[PD_SEG_NUMBERS],
		.has = s->section[PD_SEG_HAS],
		.keys = (const uint64_t *)s->section[PD_SEG_KEYS],
		.sketches = (const uint64_t *)s->section[PD_SEG_SKETCHES],
		.sketch_words = (int)f->sketch_words,
		.n_row_blocks = f->row_blocks,
		.row_blocks = (const struct pd_row_block *)s->section[PD_SEG_ROW_BLOCKS],
		.rows = s->section[PD_SEG_ROWS],
		.rows_bytes = f->section[PD_SEG_ROWS].n,
	};
	for (int by = 0; by < PD_BY_COUNT; by++) {
		part->list[by].n = f->listed[by];
		part->list[by].hash = (const uint64_t *)s->section[PD_SEG_HASHES + by];
		part->list[by].rows = (const uint32_t *)s->section[PD_SEG_LIST_ROWS + by];
	}
	return pd_segment_check(s, 0, f->content, e);
}

struct listed {
	uint64_t hash;
	uint32_t row;
};

static int by_hash(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void list_recent(struct pd_segment_part *part, const struct pd_recent *r, int by)
{
	struct listed *v = pd_alloc((r->n + r->n_bands + 1) * sizeof *v);
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (r->pages[i].hash[by])
			v[n++] = (struct listed){ r->pages[i].hash[by], (uint32_t)i };
	for (size_t i = 0; by == PD_BY_TEXT && i < r->n_bands; i++)
		v[n++] = (struct listed){ pd_store_band_hash(r->bands[i].band), r->bands[i].row };
	qsort(v, n, sizeof *v, by_hash);
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

static void pack_recent(struct pd_segment_part *part, const struct pd_recent *r)
{
	struct pd_row_packer p;
	struct pd_buf rows = { 0 };
	pd_row_packer_init(&p);
	for (uint32_t i = 0, waiting = 0; i < r->n; i++) {
		pd_buf_add_span(&p.raw, pd_recent_page(r, i).text);
		pd_buf_add_c(&p.raw, '\n');
		if (++waiting < PD_ROW_BLOCK_ROWS && i + 1 < r->n)
			continue;
		pd_buf_add_span(&rows, pd_row_packer_block(&p, waiting));
		waiting = 0;
	}
	part->n_row_blocks = p.blocks.n / sizeof *part->row_blocks;
	part->row_blocks = part->memory[6] = p.blocks.p;
	part->rows_bytes = rows.n;
	part->rows = part->memory[7] = rows.p;
	p.blocks = (struct pd_buf){ 0 };
	pd_row_packer_release(&p);
}

void pd_part_of_recent(struct pd_segment_part *part, const struct pd_recent *r, int sketch_words)
{
	size_t words = (size_t)r->bits / 64, sw = (size_t)sketch_words;
	*part = (struct pd_segment_part){ .name = "log", .n = r->n, .sketch_words = sketch_words };
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
	for (int by = 0; by < PD_BY_COUNT; by++)
		list_recent(part, r, by);
	pack_recent(part, r);
}

void pd_part_release(struct pd_segment_part *part)
{
	for (size_t i = 0; i < sizeof part->memory / sizeof *part->memory; i++)
		free(part->memory[i]);
	*part = (struct pd_segment_part){ 0 };
}
