/* SPDX-License-Identifier: MIT
 *
 * Pages that lie in parts (segments to be merged, or what the log holds) -> one new segment without those that are gone.
 * Written from front to end in one go, with memory for 16 bytes a page at most, whatever the parts' size.
 */
#ifndef PD_STORE_SEGMENT_WRITE_H
#define PD_STORE_SEGMENT_WRITE_H

#include "store/manifest.h"
#include "store/recent.h"
#include "store/segment.h"

/* The columns of segment.h, wherever they lie. */
struct pd_segment_part {
	const char *name;		/* for messages */
	size_t n;
	uint64_t first;
	const uint32_t *numbers;
	const uint8_t *has;
	const uint64_t *keys, *sketches;
	int sketch_words;
	struct {
		size_t n;
		const uint64_t *hash;
		const uint32_t *rows;
	} list[PD_BY_COUNT];
	size_t n_row_blocks, rows_bytes;
	const struct pd_row_block *row_blocks;
	const uint8_t *rows;
	void *memory[12];		/* what release gives back */
};

/* All of a segment, its checksums looked at; lives as long as it. */
int pd_part_of_segment(struct pd_segment_part *part, struct pd_segment *s, struct pd_err *e);
void pd_part_of_recent(struct pd_segment_part *part, const struct pd_recent *r, int sketch_words);
void pd_part_release(struct pd_segment_part *part);

struct pd_segment_job {
	struct pd_io *io;
	uint64_t file;			/* its number */
	int bits, k;
	const struct pd_segment_part *parts;	/* in the order of their pages' numbers */
	size_t n_parts;
	const uint64_t *gone;		/* numbers, ascending */
	size_t n_gone;
};

/* The file is durable, its name in the folder not yet.  out->rows 0: nothing was left, and there is no file. */
int pd_segment_write(const struct pd_segment_job *job, struct pd_manifest_segment *out, struct pd_err *e);

#endif
