/* SPDX-License-Identifier: MIT
 *
 * Texts of rows, unpacked block by block.  Who asks for one row often asks for its neighbours soon: the last blocks stay
 * unpacked, each in the place that its number says.
 */
#include <stdlib.h>

#include "store/segment.h"

enum { CACHED = 64, TEXTS_MAX = 64 << 20 };

struct pd_text_cache {
	struct pd_unpacker *unpacker;
	struct {
		uint64_t file, block;
		bool used;
		struct pd_buf text;
	} v[CACHED];
};

struct pd_text_cache *pd_text_cache_new(void)
{
	struct pd_text_cache *c = pd_zalloc(sizeof *c);
	c->unpacker = pd_unpacker_new();
	return c;
}

void pd_text_cache_free(struct pd_text_cache *c)
{
	if (!c)
		return;
	for (int i = 0; i < CACHED; i++)
		pd_buf_release(&c->v[i].text);
	pd_unpacker_free(c->unpacker);
	free(c);
}

static const struct pd_row_block *row_block(struct pd_segment *s, uint64_t i, struct pd_err *e)
{
	return pd_segment_at(s, PD_SEG_ROW_BLOCKS, i, i + 1, sizeof(struct pd_row_block), e);
}

int pd_segment_row_block(struct pd_segment *s, uint32_t row, size_t *block, struct pd_err *e)
{
	uint64_t low = 0, high = s->f.row_blocks;
	while (high - low > 1) {
		uint64_t middle = (low + high) / 2;
		const struct pd_row_block *b = row_block(s, middle, e);
		if (!b)
			return PD_ERR_FORMAT;
		if (b->first <= row)
			low = middle;
		else
			high = middle;
	}
	*block = low;
	return PD_OK;
}

static int unpack(struct pd_segment *s, size_t block, struct pd_text_cache *c, struct pd_buf *out, struct pd_err *e)
{
	const struct pd_row_block *b = row_block(s, block, e);
	size_t used;
	if (!b)
		return PD_ERR_FORMAT;
	uint64_t at = s->f.section[PD_SEG_ROWS].at + b->at;
	if (b->at > s->f.section[PD_SEG_ROWS].n)
		return pd_segment_damaged(s, at, "a block of rows leads out of its section", e);
	const char *p = pd_segment_at(s, PD_SEG_ROWS, b->at, b->at + b->bytes, 1, e);
	if (!p)
		return PD_ERR_FORMAT;
	pd_buf_clear(out);
	if (pd_unpack_whole(c->unpacker, PD_CODEC_ZSTD, pd_span(p, b->bytes), TEXTS_MAX, out, &used))
		return pd_segment_damaged(s, at, "these rows cannot be unpacked", e);
	return PD_OK;
}

int pd_segment_texts(struct pd_segment *s, size_t block, struct pd_text_cache *c, struct pd_span *out, struct pd_err *e)
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

int pd_segment_text(struct pd_segment *s, uint32_t row, struct pd_text_cache *c, struct pd_span *out, struct pd_err *e)
{
	size_t block;
	struct pd_span rest;
	int status = pd_segment_row_block(s, row, &block, e);
	if (!status)
		status = pd_segment_texts(s, block, c, &rest, e);
	if (status)
		return status;
	const struct pd_row_block *b = row_block(s, block, e);
	*out = pd_span(NULL, 0);
	for (uint64_t i = b->first; i <= row; i++)
		if (!pd_span_split(&rest, '\n', out) || !rest.p)
			*out = rest = pd_span(NULL, 0);
	return out->p ? PD_OK : pd_segment_damaged(s, s->f.section[PD_SEG_ROWS].at + b->at, "a row is missing", e);
}
