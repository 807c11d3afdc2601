/* SPDX-License-Identifier: MIT */
#include "store/segment_write.h"

#include <stdlib.h>

#include "join/bits.h"
#include "store/row_blocks.h"
#include "store/segment_out.h"

enum { TABLE_ROOM = 128 << 20, NOWHERE = -1 };	/* bytes of a table that are sorted at once */

struct writing {
	const struct pd_segment_job *job;
	struct pd_segment_out out;
	uint32_t **row;			/* by part and old row: the new one, or NO_ROW */
	struct pd_apply_rewrite cut;
	int sketch_words;
	uint64_t rows, prints, last;
};

#define NO_ROW UINT32_MAX

/* Numbers and the list of those that are gone both ascend. */
static void number_rows(struct writing *w, size_t part, const uint64_t **gone)
{
	const struct pd_segment_part *p = &w->job->parts[part];
	const uint64_t *end = w->job->gone + w->job->n_gone;
	w->row[part] = pd_alloc((p->n + 1) * sizeof **w->row);
	for (size_t i = 0; i < p->n; i++) {
		uint64_t number = p->first + p->numbers[i];
		while (*gone < end && **gone < number)
			++*gone;
		bool live = *gone == end || **gone != number;
		w->row[part][i] = live ? (uint32_t)w->rows : NO_ROW;
		if (live && !w->rows)
			w->out.footer.first = number;
		w->last = live ? number : w->last;
		w->rows += live;
		w->prints += live && pd_store_in_tables(p->has[i]);
	}
}

#define FOR_LIVE(w, p, i) \
	for (const struct pd_segment_part *p = (w)->job->parts; p < (w)->job->parts + (w)->job->n_parts; p++) \
		for (size_t i = 0; i < p->n; i++) \
			if ((w)->row[p - (w)->job->parts][i] != NO_ROW)

static void write_columns(struct writing *w)
{
	static const uint64_t none[PD_SKETCH_WORDS];
	struct pd_segment_out *o = &w->out;
	size_t words = (size_t)w->job->bits / 64;
	pd_out_section(o, PD_SEG_NUMBERS);
	FOR_LIVE(w, p, i) {
		uint32_t number = (uint32_t)(p->first + p->numbers[i] - o->footer.first);
		pd_out_put(o, &number, 4);
	}
	pd_out_section_end(o, PD_SEG_NUMBERS);
	pd_out_section(o, PD_SEG_HAS);
	FOR_LIVE(w, p, i)
		pd_out_put(o, &p->has[i], 1);
	pd_out_section_end(o, PD_SEG_HAS);
	pd_out_section(o, PD_SEG_KEYS);
	FOR_LIVE(w, p, i)
		pd_out_put(o, p->keys + i * words, words * 8);
	pd_out_section_end(o, PD_SEG_KEYS);
	pd_out_section(o, PD_SEG_SKETCHES);
	FOR_LIVE(w, p, i) {
		size_t own = (size_t)p->sketch_words;
		pd_out_put(o, own ? p->sketches + i * own : none, own * 8);
		pd_out_put(o, none, ((size_t)w->sketch_words - own) * 8);
	}
	pd_out_section_end(o, PD_SEG_SKETCHES);
}

/* The part whose next hash is the smallest, or NOWHERE. */
static int next_part(const struct writing *w, int by, const size_t *at)
{
	int best = NOWHERE;
	for (size_t i = 0; i < w->job->n_parts; i++) {
		const struct pd_segment_part *p = &w->job->parts[i], *b = best < 0 ? NULL : &w->job->parts[best];
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

/* Hashes go out as they come, rows and starts wait. */
static void merge_list(struct writing *w, int by, struct pd_buf *rows, uint32_t *starts)
{
	size_t *at = pd_zalloc((w->job->n_parts + 1) * sizeof *at), shift = 64 - w->out.footer.start_bits[by];
	for (int i; (i = next_part(w, by, at)) != NOWHERE; at[i]++) {
		const struct pd_segment_part *p = &w->job->parts[i];
		uint32_t old = p->list[by].rows[at[i]], row = old < p->n ? w->row[i][old] : NO_ROW;
		uint64_t hash = p->list[by].hash[at[i]];
		if (row == NO_ROW)
			continue;
		pd_out_put(&w->out, &hash, 8);
		pd_put32(rows, row);
		starts[(shift == 64 ? 0 : hash >> shift) + 1]++;
	}
	free(at);
}

static void write_lists(struct writing *w)
{
	struct pd_segment_out *o = &w->out;
	struct pd_buf rows[PD_BY_COUNT] = { 0 };
	uint32_t *starts[PD_BY_COUNT];
	for (int by = 0; by < PD_BY_COUNT; by++) {
		o->footer.start_bits[by] = (uint32_t)bits_for(w->rows);
		starts[by] = pd_zalloc(((UINT64_C(1) << o->footer.start_bits[by]) + 1) * 4);
		pd_out_section(o, PD_SEG_HASHES + by);
		merge_list(w, by, &rows[by], starts[by]);
		pd_out_section_end(o, PD_SEG_HASHES + by);
		o->footer.listed[by] = rows[by].n / 4;
		if (o->footer.listed[by] > UINT32_MAX && !o->status)
			o->status = pd_fail(o->e, PD_ERR_LIMIT, "a segment would list over %u bands", UINT32_MAX);
	}
	for (int by = 0; by < PD_BY_COUNT; by++) {
		pd_out_section(o, PD_SEG_LIST_ROWS + by);
		pd_out_put(o, rows[by].p, rows[by].n);
		pd_out_section_end(o, PD_SEG_LIST_ROWS + by);
		pd_buf_release(&rows[by]);
	}
	for (int by = 0; by < PD_BY_COUNT; by++) {
		size_t n = (size_t)1 << o->footer.start_bits[by];
		for (size_t i = 0; i < n; i++)
			starts[by][i + 1] += starts[by][i];
		pd_out_section(o, PD_SEG_STARTS + by);
		pd_out_put(o, starts[by], (n + 1) * 4);
		pd_out_section_end(o, PD_SEG_STARTS + by);
		free(starts[by]);
	}
}

static uint64_t bucket_of(const struct writing *w, const uint64_t *key, int table)
{
	return w->cut.n_bits ? pd_bits_get(key, table * w->cut.n_bits, w->cut.n_bits) : 0;
}

/* starts[v + 1]: keys in bucket v, and then where each begins. */
static void count_buckets(const struct writing *w, int table, uint32_t *starts)
{
	size_t words = (size_t)w->job->bits / 64, n = (size_t)1 << w->cut.n_bits;
	memset(starts, 0, (n + 1) * sizeof *starts);
	FOR_LIVE(w, p, i)
		if (pd_store_in_tables(p->has[i]))
			starts[bucket_of(w, p->keys + i * words, table) + 1]++;
	for (size_t v = 0; v < n; v++)
		starts[v + 1] += starts[v];
}

/* Buckets from .. to - 1 of one column of a table: word `column` of the keys, or, behind the last word, the rows. */
static void write_buckets(struct writing *w, int table, int column, const uint32_t *starts, size_t from, size_t to)
{
	size_t words = (size_t)w->job->bits / 64, base = starts[from], n = starts[to] - base;
	bool is_row = column == (int)words;
	uint32_t *next = pd_alloc((to - from + 1) * sizeof *next), *rows = is_row ? pd_alloc(n * 4 + 1) : NULL;
	uint64_t *keys = is_row ? NULL : pd_alloc(n * 8 + 1);
	memcpy(next, starts + from, (to - from) * sizeof *next);
	FOR_LIVE(w, p, i) {
		if (!pd_store_in_tables(p->has[i]))
			continue;
		uint64_t v = bucket_of(w, p->keys + i * words, table);
		if (v < from || v >= to)
			continue;
		size_t at = next[v - from]++ - base;
		if (is_row)
			rows[at] = w->row[p - w->job->parts][i];
		else
			keys[at] = p->keys[i * words + (size_t)column];
	}
	pd_out_put(&w->out, is_row ? (void *)rows : (void *)keys, n * (is_row ? 4 : 8));
	free(next);
	free(rows);
	free(keys);
}

/* As many buckets at once as TABLE_ROOM allows, at least one. */
static void write_column(struct writing *w, int table, int column, const uint32_t *starts)
{
	size_t n = (size_t)1 << w->cut.n_bits;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && (starts[to + 1] - starts[from]) * UINT64_C(8) <= TABLE_ROOM; to++)
			;
		write_buckets(w, table, column, starts, from, to);
	}
}

static void write_tables(struct writing *w)
{
	static const uint64_t pad[PD_STORE_ALIGN];
	struct pd_table_layout l;
	size_t n = (size_t)1 << w->cut.n_bits, words = (size_t)w->job->bits / 64;
	uint32_t *starts = pd_alloc((n + 1) * sizeof *starts);
	pd_table_layout(&w->out.footer, &l);
	pd_out_section(&w->out, PD_SEG_TABLES);
	for (int t = 0; t < w->cut.n_blocks; t++) {
		count_buckets(w, t, starts);
		pd_out_put(&w->out, starts, (n + 1) * sizeof *starts);
		pd_out_align(&w->out);
		for (size_t column = 0; column <= words; column++) {
			write_column(w, t, (int)column, starts);
			if (column < words)
				pd_out_put(&w->out, pad, (l.stride - w->prints) * 8);
		}
		pd_out_align(&w->out);
	}
	pd_out_section_end(&w->out, PD_SEG_TABLES);
	free(starts);
}

static void write_rows(struct writing *w)
{
	struct pd_row_packer packer;
	struct pd_segment_out *o = &w->out;
	pd_row_packer_init(&packer);
	pd_out_section(o, PD_SEG_ROWS);
	for (size_t i = 0; !o->status && i < w->job->n_parts; i++) {
		int status = pd_row_packer_part(&packer, &w->job->parts[i], w->row[i], o);
		if (!o->status)
			o->status = status;
	}
	pd_out_section_end(o, PD_SEG_ROWS);
	pd_out_section(o, PD_SEG_ROW_BLOCKS);
	pd_out_put(o, packer.blocks.p, packer.blocks.n);
	pd_out_section_end(o, PD_SEG_ROW_BLOCKS);
	o->footer.row_blocks = packer.blocks.n / sizeof(struct pd_row_block);
	pd_row_packer_release(&packer);
}

static void write_all(struct writing *w)
{
	struct pd_segment_footer *f = &w->out.footer;
	f->rows = w->rows;
	f->prints = w->prints;
	f->bits = (uint32_t)w->job->bits;
	f->sketch_words = (uint32_t)w->sketch_words;
	f->tables = (uint32_t)w->cut.n_blocks;
	f->table_bits = (uint32_t)w->cut.n_bits;
	pd_out_put(&w->out, PD_SEGMENT_MAGIC, 8);
	write_columns(w);
	write_lists(w);
	write_tables(w);
	write_rows(w);
}

int pd_segment_write(const struct pd_segment_job *job, struct pd_manifest_segment *out, struct pd_err *e)
{
	struct writing w = { .job = job, .row = pd_zalloc((job->n_parts + 1) * sizeof *w.row) };
	const uint64_t *gone = job->gone;
	int status = PD_OK;
	*out = (struct pd_manifest_segment){ .file = job->file };
	for (size_t i = 0; i < job->n_parts; i++) {
		number_rows(&w, i, &gone);
		w.sketch_words = job->parts[i].sketch_words > w.sketch_words ? job->parts[i].sketch_words : w.sketch_words;
	}
	w.cut = pd_cut_choose(job->bits, job->k, w.prints, NULL);
	if (w.rows && (w.rows > PD_SEGMENT_ROWS || w.last - w.out.footer.first > UINT32_MAX))
		status = pd_fail(e, PD_ERR_LIMIT, "a segment would hold over %u pages, or their numbers lie too far apart",
				 PD_SEGMENT_ROWS);
	if (w.rows && !status) {
		uint64_t first = w.out.footer.first;
		pd_out_open(&w.out, job->io, job->file, e);
		w.out.footer.first = first;
		write_all(&w);
		status = pd_out_finish(&w.out);
		out->rows = w.rows;
		out->bytes = w.out.f.size;
		out->check = w.out.footer.check;
	}
	for (size_t i = 0; i < job->n_parts; i++)
		free(w.row[i]);
	free(w.row);
	return status;
}
