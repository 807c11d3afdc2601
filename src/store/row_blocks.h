/* SPDX-License-Identifier: MIT
 *
 * Texts of rows -> compressed blocks of them.  Blocks of which every row stays are copied as they are; so merging costs
 * little more than reading and writing.
 */
#ifndef PD_STORE_ROW_BLOCKS_H
#define PD_STORE_ROW_BLOCKS_H

#include "store/segment_out.h"
#include "store/segment_write.h"

#define PD_ROW_BLOCK_ROWS 32

struct pd_row_packer {
	struct pd_zstd_packer *zstd;
	struct pd_unpacker *unpacker;
	struct pd_buf raw, packed;
	struct pd_buf blocks;		/* struct pd_row_block of all that was packed */
	uint64_t at;			/* bytes packed */
	uint32_t row;			/* rows packed */
};

void pd_row_packer_init(struct pd_row_packer *p);
void pd_row_packer_release(struct pd_row_packer *p);
/* What `raw` holds, n_rows lines, becomes a block: its bytes.  `raw` is cleared. */
struct pd_span pd_row_packer_block(struct pd_row_packer *p, uint32_t n_rows);
/* The rows of a part that have a new number (UINT32_MAX: none) go out. */
int pd_row_packer_part(struct pd_row_packer *p, const struct pd_segment_part *part, const uint32_t *row, struct pd_segment_out *out);

#endif
