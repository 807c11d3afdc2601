/* SPDX-License-Identifier: MIT */
#include "store/row_blocks.h"

enum { TEXTS_MAX = 64 << 20 };

void pd_row_packer_init(struct pd_row_packer *p)
{
	*p = (struct pd_row_packer){ .zstd = pd_zstd_packer_new(), .unpacker = pd_unpacker_new() };
}

void pd_row_packer_release(struct pd_row_packer *p)
{
	pd_zstd_packer_free(p->zstd);
	pd_unpacker_free(p->unpacker);
	pd_buf_release(&p->raw);
	pd_buf_release(&p->packed);
	pd_buf_release(&p->blocks);
}

static void add_block(struct pd_row_packer *p, size_t bytes, uint32_t n_rows)
{
	struct pd_row_block b = { .at = p->at, .bytes = (uint32_t)bytes, .first = p->row };
	pd_buf_add(&p->blocks, &b, sizeof b);
	p->at += bytes;
	p->row += n_rows;
}

struct pd_span pd_row_packer_block(struct pd_row_packer *p, uint32_t n_rows)
{
	pd_buf_clear(&p->packed);
	pd_zstd_pack(p->zstd, pd_buf_span(&p->raw), &p->packed);
	pd_buf_clear(&p->raw);
	add_block(p, p->packed.n, n_rows);
	return pd_buf_span(&p->packed);
}

static int spoilt(const struct pd_segment_part *part, struct pd_segment_out *out)
{
	return pd_fail(out->e, PD_ERR_FORMAT, "%s: a block of rows is damaged", part->name);
}

/* The rows of a block that stay, as a block of their own. */
static int repack(struct pd_row_packer *p, const struct pd_segment_part *part, struct pd_span packed, const uint32_t *row, size_t n,
		  struct pd_segment_out *out)
{
	struct pd_buf text = { 0 };
	struct pd_span rest, line;
	size_t used;
	uint32_t stay = 0;
	int status = pd_unpack_whole(p->unpacker, PD_CODEC_ZSTD, packed, TEXTS_MAX, &text, &used);
	rest = pd_buf_span(&text);
	for (size_t i = 0; !status && i < n; i++) {
		if (!pd_span_split(&rest, '\n', &line) || !rest.p)
			status = PD_ERR_FORMAT;
		else if (row[i] != UINT32_MAX) {
			pd_buf_add_span(&p->raw, line);
			pd_buf_add_c(&p->raw, '\n');
			stay++;
		}
	}
	if (!status && stay) {
		struct pd_span block = pd_row_packer_block(p, stay);
		pd_out_put(out, block.p, block.n);
	}
	pd_buf_release(&text);
	return status ? spoilt(part, out) : PD_OK;
}

int pd_row_packer_part(struct pd_row_packer *p, const struct pd_segment_part *part, const uint32_t *row, struct pd_segment_out *out)
{
	int status = PD_OK;
	for (size_t i = 0; !status && i < part->n_row_blocks; i++) {
		const struct pd_row_block *b = &part->row_blocks[i];
		size_t end = i + 1 < part->n_row_blocks ? b[1].first : part->n, all = 0;
		if (b->at > part->rows_bytes || b->bytes > part->rows_bytes - b->at || b->first >= end || end > part->n)
			return spoilt(part, out);
		for (size_t r = b->first; r < end; r++)
			all += row[r] != UINT32_MAX;
		struct pd_span packed = pd_span((const char *)part->rows + b->at, b->bytes);
		if (all < end - b->first) {
			status = all ? repack(p, part, packed, row + b->first, end - b->first, out) : PD_OK;
		} else {
			pd_out_put(out, packed.p, packed.n);
			add_block(p, packed.n, (uint32_t)all);
		}
	}
	return status;
}
