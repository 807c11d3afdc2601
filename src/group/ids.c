/* SPDX-License-Identifier: MIT */
#include "group/ids.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "group/order.h"

enum { FIRST_TABLE = 1 << 12, FORM_SHIFT = 30 };

/* In the order that ids of one file and offset have: "f", "f:+0", "f:0"; anything else is odd. */
enum form { PATH, STREAM, OFFSET, ODD };

struct known {
	uint32_t file;		/* with the form */
	uint64_t offset;
};

/* Does the id end in the offset as a stage writes it? */
static bool is_plain(struct pd_span id, const struct pd_page_id *at)
{
	struct pd_span digits = pd_span(id.p + at->file.n + 1 + at->stream, id.n - at->file.n - 1 - at->stream);
	return digits.n == 1 || digits.p[0] != '0';
}

static struct known know(struct pd_ids *ids, struct pd_span id)
{
	struct pd_page_id at = pd_page_id_parse(id);
	enum form form = !at.has_offset ? PATH : !is_plain(id, &at) ? ODD : at.stream ? STREAM : OFFSET;
	struct known k = { pd_names_add(&ids->files, at.file), at.offset };
	if (form == ODD)
		k.offset = pd_names_add(&ids->odd, id);
	k.file |= (uint32_t)form << FORM_SHIFT;
	return k;
}

static size_t slot_of(const struct pd_ids *ids, struct known k)
{
	uint64_t h = (k.offset ^ (uint64_t)k.file << 32) * UINT64_C(0x9E3779B97F4A7C15);
	size_t i = (h ^ h >> 29) & (ids->table_cap - 1);
	for (;; i = (i + 1) & (ids->table_cap - 1)) {
		uint32_t n = ids->table[i];
		if (n == PD_NO_NAME || (ids->offset[n] == k.offset && ids->file[n] == k.file))
			return i;
	}
}

static void grow_table(struct pd_ids *ids)
{
	if (4 * (ids->n + 1) <= 3 * ids->table_cap)
		return;
	free(ids->table);
	ids->table_cap = ids->table_cap ? 2 * ids->table_cap : FIRST_TABLE;
	ids->table = pd_alloc(ids->table_cap * sizeof *ids->table);
	memset(ids->table, 0xFF, ids->table_cap * sizeof *ids->table);
	for (size_t i = 0; i < ids->n; i++)
		ids->table[slot_of(ids, (struct known){ ids->file[i], ids->offset[i] })] = (uint32_t)i;
}

uint32_t pd_ids_add(struct pd_ids *ids, struct pd_span id, bool *is_new)
{
	*is_new = false;
	if (ids->files.n >= (UINT32_C(1) << FORM_SHIFT) - 1)
		return PD_NO_NAME;
	struct known k = know(ids, id);
	grow_table(ids);
	size_t slot = slot_of(ids, k);
	if (ids->table[slot] != PD_NO_NAME)
		return ids->table[slot];
	ids->file = pd_grow(ids->file, ids->n, &ids->cap_file, sizeof *ids->file);
	ids->offset = pd_grow(ids->offset, ids->n, &ids->cap_offset, sizeof *ids->offset);
	ids->file[ids->n] = k.file;
	ids->offset[ids->n] = k.offset;
	ids->table[slot] = (uint32_t)ids->n;
	*is_new = true;
	return (uint32_t)ids->n++;
}

static enum form form_of(const struct pd_ids *ids, uint32_t n)
{
	return (enum form)(ids->file[n] >> FORM_SHIFT);
}

static uint64_t offset_of(const struct pd_ids *ids, uint32_t n)
{
	return form_of(ids, n) == ODD ? pd_page_id_parse(ids->odd.v[ids->offset[n]]).offset : ids->offset[n];
}

static struct pd_span write_id(const struct pd_ids *ids, uint32_t n, struct pd_buf *out)
{
	static const char *const between[] = { [STREAM] = ":+", [OFFSET] = ":" };
	enum form form = form_of(ids, n);
	if (form == ODD)
		return ids->odd.v[ids->offset[n]];
	pd_buf_set(out, ids->files.v[ids->file[n] & ((UINT32_C(1) << FORM_SHIFT) - 1)]);
	if (form != PATH)
		pd_buf_printf(out, "%s%llu", between[form], (unsigned long long)ids->offset[n]);
	return pd_buf_span(out);
}

static int by_bytes(const void *x, const void *y, void *ctx)
{
	struct pd_buf a = { 0 }, b = { 0 };
	int d = pd_span_cmp(write_id(ctx, *(const uint32_t *)x, &a), write_id(ctx, *(const uint32_t *)y, &b));
	pd_buf_release(&a);
	pd_buf_release(&b);
	return d;
}

static bool same_place(const struct pd_ids *ids, uint32_t a, uint32_t b)
{
	return (ids->file[a] ^ ids->file[b]) << 2 == 0 && offset_of(ids, a) == offset_of(ids, b);
}

/* Ids of one file and offset, of different forms: bytewise.  There are hardly any. */
static void settle_ties(const struct pd_ids *ids, uint32_t *order)
{
	for (size_t i = 0, end; i < ids->n; i = end) {
		for (end = i + 1; end < ids->n && same_place(ids, order[i], order[end]); end++)
			;
		if (end > i + 1)
			qsort_r(order + i, end - i, sizeof *order, by_bytes, (void *)ids);
	}
}

static int by_name(const void *x, const void *y, void *ctx)
{
	const struct pd_names *names = ctx;
	return pd_span_cmp(names->v[*(const uint32_t *)x], names->v[*(const uint32_t *)y]);
}

/* file -> its place in bytewise order */
static uint32_t *rank_files(const struct pd_names *files)
{
	uint32_t *order = pd_order_new(files->n), *rank = pd_alloc((files->n + 1) * sizeof *rank);
	qsort_r(order, files->n, sizeof *order, by_name, (void *)files);
	for (size_t i = 0; i < files->n; i++)
		rank[order[i]] = (uint32_t)i;
	free(order);
	return rank;
}

uint32_t *pd_ids_order(const struct pd_ids *ids)
{
	uint32_t *order = pd_order_new(ids->n), *rank = rank_files(&ids->files);
	uint64_t *key = pd_alloc((ids->n + 1) * sizeof *key);
	for (size_t i = 0; i < ids->n; i++)
		key[i] = offset_of(ids, (uint32_t)i);
	pd_order_by(order, ids->n, key);
	for (size_t i = 0; i < ids->n; i++)
		key[i] = rank[ids->file[i] & ((UINT32_C(1) << FORM_SHIFT) - 1)];
	pd_order_by(order, ids->n, key);
	settle_ties(ids, order);
	free(key);
	free(rank);
	return order;
}

void pd_ids_close(struct pd_ids *ids)
{
	free(ids->table);
	ids->table = NULL;
	ids->table_cap = 0;
}

void pd_ids_release(struct pd_ids *ids)
{
	pd_names_release(&ids->files);
	pd_names_release(&ids->odd);
	free(ids->file);
	free(ids->offset);
	free(ids->table);
	*ids = (struct pd_ids){ 0 };
}
