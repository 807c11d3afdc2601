/* SPDX-License-Identifier: MIT */
#include "tools/engine/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "index/bits.h"
#include "index/bands.h"
#include "row/columns.h"

static int first_bit(const struct pd_engine_tables *t, int block)
{
	return t->p->bits * block / t->blocks;
}

static uint64_t block_of(const struct pd_engine_tables *t, const uint64_t *fingerprint, int block)
{
	int first = first_bit(t, block);
	return pd_bits_get(fingerprint, first, first_bit(t, block + 1) - first);
}

void pd_engine_tables_init(struct pd_engine_tables *t, const struct pd_engine_params *p)
{
	*t = (struct pd_engine_tables){ .p = p, .n_bands = p->width ? p->sketch.minima / p->width : 0 };
	if (!p->bits || p->match.candidates == PD_CANDIDATES_BANDS)
		return;
	/* A block has at most one word. */
	for (int shared = 1; shared <= PD_ENGINE_SHARED_MAX; shared++) {
		t->shared = shared;
		t->blocks = p->match.k + shared;
		double alike = ldexp((double)p->fingerprints, -(p->bits * shared / t->blocks));
		if (t->blocks * 64 >= p->bits && (alike <= PD_ENGINE_BUCKET || shared == 3))
			break;
	}
	/* List all combinations of `shared` blocks, in lexicographic order. */
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

void pd_engine_tables_release(struct pd_engine_tables *t)
{
	free(t->h);
}

static void end_bucket_line(struct pd_buf *out, struct pd_span value)
{
	pd_buf_add_c(out, '\t');
	pd_buf_add_span(out, value);
	pd_buf_add_c(out, '\n');
}

void pd_engine_tables_add_equal(const struct pd_row *row, struct pd_span value, struct pd_buf *out)
{
	if (!row->has_fingerprint && !row->has_digest)
		return;
	pd_buf_add_z(out, row->has_fingerprint ? "e." : "d.");
	pd_buf_add_span(out, row->f[row->has_fingerprint ? PD_FP_FINGERPRINT : PD_FP_TEXT_DIGEST]);
	end_bucket_line(out, value);
}

bool pd_engine_tables_bucket(const struct pd_engine_tables *t, const struct pd_row *row, size_t number, struct pd_buf *out)
{
	pd_buf_clear(out);
	if (number < t->n_h) {
		pd_buf_printf(out, "h%zu.", number);
		for (int j = 0; j < t->shared; j++)
			pd_buf_printf(out, "%s%" PRIx64, j ? "-" : "", block_of(t, row->key.w, t->h[number].block[j]));
		return true;
	}
	number -= t->n_h;
	if (!row->sketch.present || number >= (size_t)t->n_bands)
		return false;
	int bits = t->p->width * t->p->sketch.bits;
	int first = bits < PD_BANDS_BUCKET_BITS ? bits : PD_BANDS_BUCKET_BITS;
	pd_buf_printf(out, "b%zu.%" PRIx32, number, pd_index_band_value(row->sketch.w, bits, (int)number, first));
	return true;
}

static int part_of_fingerprint(const struct pd_engine_tables *t, const uint64_t *fingerprint, int parts)
{
	return (int)(pd_hash64(fingerprint, (size_t)t->p->bits / 8) % (uint64_t)parts);
}

void pd_engine_tables_add_near(const struct pd_engine_tables *t, const struct pd_row *row, struct pd_span value, struct pd_buf *out)
{
	struct pd_buf name = { 0 };
	for (size_t i = 0; row->has_fingerprint && pd_engine_tables_bucket(t, row, i, &name); i++) {
		uint32_t split = t->p->split.n ? pd_names_find(&t->p->split, pd_buf_span(&name)) : PD_NO_NAME;
		if (split == PD_NO_NAME) {
			pd_buf_add_span(out, pd_buf_span(&name));
			end_bucket_line(out, value);
			continue;
		}
		int parts = (int)t->p->split_parts[split], own = part_of_fingerprint(t, row->key.w, parts);
		for (int other = 0; other < parts; other++) {
			pd_buf_printf(out, "%s+%d-%d/%d", name.p, own < other ? own : other, own < other ? other : own, parts);
			end_bucket_line(out, value);
		}
	}
	pd_buf_release(&name);
}

bool pd_engine_tables_parse(const struct pd_engine_tables *t, struct pd_span bucket, struct pd_engine_table *out)
{
	struct pd_span name, part = { NULL, 0 };
	uint64_t number = 0, n[3] = { 0, 0, 0 };
	if (!pd_span_split(&bucket, '.', &name) || !bucket.p || !name.n)
		return false;
	*out = (struct pd_engine_table){ .kind = name.p[0] };
	if (out->kind == 'e' || out->kind == 'd')
		return name.n == 1;
	if (!pd_span_u64(pd_span(name.p + 1, name.n - 1), &number))
		return false;
	out->number = (int)number;
	if (pd_span_split(&bucket, '+', &part) && bucket.p) {
		for (int i = 0; i < 3; i++)
			if (!pd_span_split(&bucket, "-/\t"[i], &part) || !pd_span_u64(part, &n[i]) || n[i] > PD_ENGINE_PARTS)
				return false;
		out->i = (int)n[0];
		out->j = (int)n[1];
		out->parts = (int)n[2];
	}
	return out->kind == 'h' ? number < t->n_h : out->kind == 'b' && number < (uint64_t)t->n_bands;
}

/* A pair belongs to the table of its first equal blocks. */
static bool is_first_table(const struct pd_engine_tables *t, const struct pd_engine_table *table, const uint64_t *a,
			   const uint64_t *b)
{
	const uint8_t *wanted = t->h[table->number].block;
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

bool pd_engine_tables_own(const struct pd_engine_tables *t, const struct pd_engine_table *table, const uint64_t *a,
			  const uint64_t *b)
{
	bool parts = !table->parts || table->i == table->j ||
		     part_of_fingerprint(t, a, table->parts) != part_of_fingerprint(t, b, table->parts);
	return parts && (table->kind != 'h' || is_first_table(t, table, a, b));
}
