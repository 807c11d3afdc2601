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

#define EQUAL_ROWS 16384     /* average number of rows in a partition of e, */
#define NEAR_ROWS (1 << 20)  /* and of fingerprints in one of h, */
#define BANDS_ROWS (1 << 19) /* rows with sketches for each partition of the bands; a row is in several */
#define PART_BITS_MAX 12
#define PARTITIONS_MAX 16384 /* unless a map task would collect too many lines at the same time */

static uint64_t n_partitions(uint64_t n, uint64_t of)
{
	return n / of < PARTITIONS_MAX ? n / of + 1 : PARTITIONS_MAX;
}

void pd_engine_tables_init(struct pd_engine_tables *t, const struct pd_engine_params *p)
{
	*t = (struct pd_engine_tables){ .p = p, .n_bands = p->width ? p->sketch.minima / p->width : 0 };
	t->partitions[0] = n_partitions(p->rows, EQUAL_ROWS);
	while (t->n_bands && t->part_bits < PART_BITS_MAX && t->part_bits < p->width * p->sketch.bits &&
	       p->representatives >> t->part_bits > BANDS_ROWS)
		t->part_bits++;
	if (!p->bits || p->match.candidates == PD_CANDIDATES_BANDS)
		return;
	/* A block has at most one word. */
	for (int shared = 0; shared <= PD_ENGINE_SHARED_MAX; shared++) {
		t->shared = shared;
		t->blocks = p->match.k + shared > 0 ? p->match.k + shared : 1;
		double alike = ldexp((double)p->fingerprints, -(p->bits * shared / t->blocks));
		if ((!shared || t->blocks * 64 >= p->bits) && (alike <= PD_ENGINE_BUCKET || shared == 3))
			break;
	}
	t->partitions[1] = t->shared ? n_partitions(p->fingerprints, NEAR_ROWS) : 1;
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

bool pd_engine_tables_equal(const struct pd_engine_tables *t, const struct pd_row *row, struct pd_buf *key)
{
	size_t bytes = (size_t)(row->has_fingerprint ? row->bits : 128) / 8;
	if (!row->has_fingerprint && !row->has_digest)
		return false;
	pd_buf_clear(key);
	pd_buf_add_z(key, row->has_fingerprint ? "e." : "d.");
	pd_buf_u64(key, pd_hash64(row->key.w, bytes) % t->partitions[0]);
	return true;
}

uint64_t pd_engine_tables_block(const struct pd_engine_tables *t, const uint64_t *fingerprint, int table)
{
	uint64_t block[PD_ENGINE_SHARED_MAX] = { 0 };
	for (int j = 0; j < t->shared; j++)
		block[j] = block_of(t, fingerprint, t->h[table].block[j]);
	return t->shared > 1 ? pd_hash64(block, (size_t)t->shared * sizeof *block) : block[0];
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
	return false;
}

static int part_of_fingerprint(const struct pd_engine_tables *t, const uint64_t *fingerprint, int parts)
{
	return (int)(pd_hash64(fingerprint, (size_t)t->p->bits / 8) % (uint64_t)parts);
}

/* Send a row to the partitions of its bands, each once. */
static int send_to_bands(const struct pd_engine_tables *t, const struct pd_row *row, pd_engine_tables_send *send, void *ctx,
			 struct pd_err *e)
{
	int bits = t->p->width * t->p->sketch.bits, status = PD_OK;
	uint64_t sent[(1 << PART_BITS_MAX) / 64] = { 0 };
	char key[32];
	for (int i = 0; !status && row->sketch.present && i < t->n_bands; i++) {
		uint32_t part = pd_index_band_value(row->sketch.w, bits, i, t->part_bits);
		if (sent[part / 64] >> (part % 64) & 1)
			continue;
		sent[part / 64] |= UINT64_C(1) << (part % 64);
		snprintf(key, sizeof key, "b%" PRIu32 ".", part);
		status = send(ctx, 'b', pd_span_z(key), e);
	}
	return status;
}

int pd_engine_tables_near(const struct pd_engine_tables *t, const struct pd_row *row, pd_engine_tables_send *send, void *ctx,
			  struct pd_err *e)
{
	struct pd_buf name = { 0 }, key = { 0 };
	int status = PD_OK;
	for (size_t i = 0; !status && row->has_fingerprint && i < t->n_h; i++) {
		if (t->p->split.n)
			pd_engine_tables_bucket(t, row, i, &name);
		uint32_t split = t->p->split.n ? pd_names_find(&t->p->split, pd_buf_span(&name)) : PD_NO_NAME;
		if (split == PD_NO_NAME) {
			uint64_t block = pd_engine_tables_block(t, row->key.w, (int)i);
			pd_buf_set(&key, pd_span("h", 1));
			pd_buf_u64(&key, i);
			pd_buf_add_c(&key, '.');
			pd_buf_u64(&key, pd_hash64(&block, sizeof block) % t->partitions[1]);
			status = send(ctx, 'h', pd_buf_span(&key), e);
			continue;
		}
		int parts = (int)t->p->split_parts[split], own = part_of_fingerprint(t, row->key.w, parts);
		for (int other = 0; !status && other < parts; other++) {
			pd_buf_clear(&key);
			pd_buf_printf(&key, "%s+%d-%d/%d", name.p, own < other ? own : other, own < other ? other : own, parts);
			status = send(ctx, 'h', pd_buf_span(&key), e);
		}
	}
	pd_buf_release(&name);
	pd_buf_release(&key);
	return status || !row->has_fingerprint ? status : send_to_bands(t, row, send, ctx, e);
}

static bool tables_parse(const struct pd_engine_tables *t, struct pd_span bucket, struct pd_engine_table *out)
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
	return out->kind == 'h' ? number < t->n_h : out->kind == 'b' && t->n_bands && number < UINT64_C(1) << t->part_bits;
}

int pd_engine_tables_take(const struct pd_engine_tables *t, const struct pd_engine_lines *in, struct pd_engine_table *out,
			  struct pd_err *e)
{
	if (tables_parse(t, in->key, out))
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS,
		       "line %" PRIu64 " of standard input: '%.*s' is not a bucket of this job; its map tasks had other parameters",
		       in->in.no, in->key.n < 80 ? (int)in->key.n : 80, in->key.p);
}

/* A pair belongs to the table of its first equal blocks. */
static bool is_first_table(const struct pd_engine_tables *t, const struct pd_engine_table *table, const uint64_t *a,
			   const uint64_t *b)
{
	const uint8_t *wanted = t->h[table->number].block;
	if (!t->shared)
		return true;
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
