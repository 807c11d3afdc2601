/* SPDX-License-Identifier: MIT */
#include "group/ids.h"

#include <stdlib.h>

#include "base/memory.h"
#include "group/order.h"

enum { FORM_SHIFT = 30, FILE_MASK = (1 << FORM_SHIFT) - 1 };

/* In the order that ids of one file and offset have: "f", "f:+0", "f:0"; anything else is odd. */
enum form { PATH, STREAM, OFFSET, ODD };

/* Does the id end in the offset as a stage writes it? */
static bool is_plain(struct pd_span id, const struct pd_page_id *at)
{
	struct pd_span digits = pd_span(id.p + at->file.n + 1 + at->stream, id.n - at->file.n - 1 - at->stream);
	return digits.n == 1 || digits.p[0] != '0';
}

/* Rows that follow each other often name the same file. */
static uint32_t file_of(struct pd_ids *ids, struct pd_span file)
{
	if (!ids->files.n || !pd_span_eq(ids->files.v[ids->last_file], file))
		ids->last_file = pd_names_add(&ids->files, file);
	return ids->last_file;
}

struct pd_id_place pd_ids_place(struct pd_ids *ids, struct pd_span id)
{
	if (ids->files.n >= FILE_MASK)
		return (struct pd_id_place){ PD_NO_NAME, 0 };
	struct pd_page_id at = pd_page_id_parse(id);
	enum form form = !at.has_offset ? PATH : !is_plain(id, &at) ? ODD : at.stream ? STREAM : OFFSET;
	struct pd_id_place k = { file_of(ids, at.file), at.offset };
	if (form == ODD)
		k.offset = pd_names_add(&ids->odd, id);
	k.file |= (uint32_t)form << FORM_SHIFT;
	return k;
}

static uint64_t hash_of(struct pd_id_place k)
{
	uint64_t h = (k.offset ^ (uint64_t)k.file << 32) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

static uint64_t hash_of_number(const void *ids, uint32_t n)
{
	const struct pd_ids *x = ids;
	return hash_of((struct pd_id_place){ x->file[n], x->offset[n] });
}

static bool is_place(const void *ids, uint32_t n, const void *place)
{
	const struct pd_ids *x = ids;
	const struct pd_id_place *k = place;
	return x->offset[n] == k->offset && x->file[n] == k->file;
}

void pd_ids_expect(const struct pd_ids *ids, struct pd_id_place at)
{
	pd_index_expect(&ids->index, hash_of(at));
}

void pd_ids_expect_more(const struct pd_ids *ids, struct pd_id_place at)
{
	uint32_t n = pd_index_guess(&ids->index, hash_of(at));
	if (n == PD_NO_NUMBER)
		return;
	__builtin_prefetch(&ids->offset[n]);
	__builtin_prefetch(&ids->file[n]);
}

uint32_t pd_ids_add_place(struct pd_ids *ids, struct pd_id_place at, bool *is_new)
{
	*is_new = false;
	if (at.file == PD_NO_NAME)
		return PD_NO_NAME;
	uint32_t n = pd_index_find(&ids->index, hash_of(at), is_place, ids, &at);
	if (n != PD_NO_NUMBER)
		return n;
	ids->file = pd_big_grow(ids->file, ids->n, &ids->cap_file, sizeof *ids->file);
	ids->offset = pd_big_grow(ids->offset, ids->n, &ids->cap_offset, sizeof *ids->offset);
	ids->file[ids->n] = at.file;
	ids->offset[ids->n] = at.offset;
	pd_index_add(&ids->index, hash_of(at), hash_of_number, ids);
	*is_new = true;
	return (uint32_t)ids->n++;
}

uint32_t pd_ids_add(struct pd_ids *ids, struct pd_span id, bool *is_new)
{
	return pd_ids_add_place(ids, pd_ids_place(ids, id), is_new);
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
	pd_buf_set(out, ids->files.v[ids->file[n] & FILE_MASK]);
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
		uint32_t soon = order[i + PD_AHEAD < ids->n ? i + PD_AHEAD : i];
		__builtin_prefetch(&ids->file[soon]);
		__builtin_prefetch(&ids->offset[soon]);
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

/* Numbers of files become their places in bytewise order. */
static void rank_files(struct pd_ids *ids)
{
	size_t n = ids->files.n;
	uint32_t *order = pd_order_new(n), *rank = pd_alloc((n + 1) * sizeof *rank);
	struct pd_span *sorted = pd_alloc((n + 1) * sizeof *sorted);
	qsort_r(order, n, sizeof *order, by_name, &ids->files);
	for (size_t i = 0; i < n; i++) {
		rank[order[i]] = (uint32_t)i;
		sorted[i] = ids->files.v[order[i]];
	}
	for (size_t i = 0; i < ids->n; i++)
		ids->file[i] = (ids->file[i] & ~(uint32_t)FILE_MASK) | rank[ids->file[i] & FILE_MASK];
	free(ids->files.v);
	ids->files.v = sorted;
	free(order);
	free(rank);
}

/* By offset: where all are plain no copy is needed. */
static void order_by_offset(const struct pd_ids *ids, uint32_t *order)
{
	if (!ids->odd.n) {
		pd_order_by(order, ids->n, ids->offset);
		return;
	}
	uint64_t *key = pd_big_alloc((ids->n + 1) * sizeof *key);
	for (size_t i = 0; i < ids->n; i++)
		key[i] = offset_of(ids, (uint32_t)i);
	pd_order_by(order, ids->n, key);
	free(key);
}

uint32_t *pd_ids_order(struct pd_ids *ids)
{
	uint32_t *order = pd_order_new(ids->n);
	rank_files(ids);
	order_by_offset(ids, order);
	pd_order_by_bits(order, ids->n, ids->file, FILE_MASK);
	settle_ties(ids, order);
	return order;
}

void pd_ids_close(struct pd_ids *ids)
{
	pd_index_release(&ids->index);
}

void pd_ids_release(struct pd_ids *ids)
{
	pd_names_release(&ids->files);
	pd_names_release(&ids->odd);
	free(ids->file);
	free(ids->offset);
	pd_index_release(&ids->index);
	*ids = (struct pd_ids){ 0 };
}
