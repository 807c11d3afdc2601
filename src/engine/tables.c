/* SPDX-License-Identifier: MIT */
#include "engine/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "join/bits.h"

static int first_bit(const struct pd_engine_tables *t, int block)
{
	return t->p->bits * block / t->blocks;
}

static int n_bits(const struct pd_engine_tables *t, int block)
{
	return first_bit(t, block + 1) - first_bit(t, block);
}

static uint64_t block_of(const struct pd_engine_tables *t, const uint64_t *print, int block)
{
	return pd_bits_get(print, first_bit(t, block), n_bits(t, block));
}

/* All ways to take `shared` blocks, in lexicographic order. */
static void combine(struct pd_engine_tables *t)
{
	struct pd_engine_combination c = { { 0 } };
	for (int i = 0; i < t->shared; i++)
		c.block[i] = (uint8_t)i;
	for (;;) {
		t->h = pd_grow(t->h, t->n_h, &t->cap_h, sizeof *t->h);
		t->h[t->n_h++] = c;
		int i = t->shared - 1;
		while (i >= 0 && c.block[i] == t->blocks - t->shared + i)
			i--;
		if (i < 0)
			return;
		c.block[i]++;
		for (; i + 1 < t->shared; i++)
			c.block[i + 1] = (uint8_t)(c.block[i] + 1);
	}
}

void pd_engine_tables_init(struct pd_engine_tables *t, const struct pd_engine_params *p)
{
	*t = (struct pd_engine_tables){ .p = p, .n_bands = p->width ? p->sketch.minima / p->width : 0 };
	if (!p->bits || p->match.candidates == PD_CANDIDATES_BANDS)
		return;
	/* A block is a word at most. */
	for (int shared = 1; shared <= PD_ENGINE_SHARED_MAX; shared++) {
		t->shared = shared;
		t->blocks = p->match.k + shared;
		double alike = ldexp((double)p->prints, -(p->bits * shared / t->blocks));
		if (t->blocks * 64 >= p->bits && (alike <= PD_ENGINE_BUCKET || shared == 3))
			break;
	}
	combine(t);
}

void pd_engine_tables_release(struct pd_engine_tables *t)
{
	free(t->h);
}

static void add_line(struct pd_buf *out, struct pd_span value)
{
	pd_buf_add_c(out, '\t');
	pd_buf_add_span(out, value);
	pd_buf_add_c(out, '\n');
}

void pd_engine_tables_add_equal(const struct pd_engine_row *row, struct pd_span value, struct pd_buf *out)
{
	if (!row->has_print && !row->has_digest)
		return;
	pd_buf_add_z(out, row->has_print ? "e." : "d.");
	pd_buf_add_span(out, row->f[row->has_print ? PD_FP_FINGERPRINT : PD_FP_TEXT_DIGEST]);
	add_line(out, value);
}

void pd_engine_tables_add_near(const struct pd_engine_tables *t, const struct pd_engine_row *row, struct pd_span value, struct pd_buf *out)
{
	if (!row->has_print)
		return;
	for (size_t i = 0; i < t->n_h; i++) {
		pd_buf_printf(out, "h%zu.", i);
		for (int j = 0; j < t->shared; j++)
			pd_buf_printf(out, "%s%" PRIx64, j ? "-" : "", block_of(t, row->print.w, t->h[i].block[j]));
		add_line(out, value);
	}
	for (int i = 0; row->has_sketch && i < t->n_bands; i++) {
		int bits = t->p->width * t->p->sketch.bits;
		pd_buf_printf(out, "b%d.%" PRIx64, i, pd_bits_get(row->sketch.w, i * bits, bits));
		add_line(out, value);
	}
}

bool pd_engine_tables_parse(const struct pd_engine_tables *t, struct pd_span bucket, struct pd_engine_table *out)
{
	struct pd_span name;
	uint64_t number = 0;
	if (!pd_span_split(&bucket, '.', &name) || !bucket.p || !name.n)
		return false;
	*out = (struct pd_engine_table){ .kind = name.p[0] };
	if (out->kind == 'e' || out->kind == 'd')
		return name.n == 1;
	if (!pd_span_u64(pd_span(name.p + 1, name.n - 1), &number))
		return false;
	out->number = (int)number;
	return out->kind == 'h' ? number < t->n_h : out->kind == 'b' && number < (uint64_t)t->n_bands;
}

/* The first table is that of the first blocks that are equal. */
bool pd_engine_tables_first(const struct pd_engine_tables *t, int number, const uint64_t *a, const uint64_t *b)
{
	const uint8_t *wanted = t->h[number].block;
	for (int i = 0, n = 0; i < t->blocks && n < t->shared; i++) {
		if (block_of(t, a, i) != block_of(t, b, i))
			continue;
		if (wanted[n++] != i)
			return false;
		if (n == t->shared)
			return true;
	}
	return false;
}
