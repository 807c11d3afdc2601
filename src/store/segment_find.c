/* SPDX-License-Identifier: MIT
 *
 * Looking up hashes: the highest bits say where to look, and a few hashes stand there.
 */
#include "store/segment.h"

/* Where hashes with these highest bits stand: from *from to *to - 1. */
static int narrow(struct pd_segment *s, enum pd_store_by by, uint64_t low, uint64_t high, uint64_t *from, uint64_t *to,
		  struct pd_err *e)
{
	int shift = 64 - (int)s->f.start_bits[by], section = PD_SEG_STARTS + (int)by;
	uint64_t a = shift == 64 ? 0 : low >> shift, b = shift == 64 ? 0 : high >> shift;
	const uint32_t *first = pd_segment_at(s, section, a, a + 1, 4, e);
	const uint32_t *last = first ? pd_segment_at(s, section, b + 1, b + 2, 4, e) : NULL;
	if (!last)
		return PD_ERR_FORMAT;
	*from = *first;
	*to = *last;
	if (*from > *to || *to > s->f.listed[by])
		return pd_segment_damaged(s, s->f.section[section].at, "a list leads out of itself", e);
	return PD_OK;
}

static uint64_t first_at_least(const uint64_t *hash, uint64_t n, uint64_t low)
{
	uint64_t from = 0, to = n;
	while (from < to) {
		uint64_t middle = (from + to) / 2;
		if (hash[middle] < low)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* What stands there is used for nothing else, so no checksum is looked at. */
void pd_segment_find_soon(const struct pd_segment *s, enum pd_store_by by, uint64_t hash, int step)
{
	int shift = 64 - (int)s->f.start_bits[by];
	const uint32_t *start = (const uint32_t *)s->section[PD_SEG_STARTS + by] + (shift == 64 ? 0 : hash >> shift);
	if (step == 0)
		__builtin_prefetch(start);
	else if (*start < s->f.listed[by])
		for (uint64_t line = 0; line < 2; line++)
			__builtin_prefetch((const uint64_t *)s->section[PD_SEG_HASHES + by] + *start + line * 8);
}

int pd_segment_find(struct pd_segment *s, enum pd_store_by by, uint64_t low, uint64_t high, struct pd_rows_found *out,
		    struct pd_err *e)
{
	uint64_t from, to;
	int status = narrow(s, by, low, high, &from, &to, e);
	if (status || from == to)
		return status;
	const uint64_t *hash = pd_segment_at(s, PD_SEG_HASHES + (int)by, from, to, 8, e);
	if (!hash)
		return PD_ERR_FORMAT;
	for (uint64_t i = first_at_least(hash, to - from, low); i < to - from && hash[i] <= high && (!out->most || out->n < out->most); i++) {
		const uint32_t *row = pd_segment_at(s, PD_SEG_LIST_ROWS + (int)by, from + i, from + i + 1, 4, e);
		if (!row)
			return PD_ERR_FORMAT;
		if (*row >= s->f.rows)
			return pd_segment_damaged(s, s->f.section[PD_SEG_LIST_ROWS + by].at, "a list leads out of the segment", e);
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
		out->v[out->n++] = *row;
	}
	return PD_OK;
}
