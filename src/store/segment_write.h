/* SPDX-License-Identifier: MIT
 *
 * Segments are made of what lies in memory, or of other segments.  Pages come in the order of their numbers; those that are
 * gone are left out.  Compressed rows are copied as they are where all of a block stay, hashes and keys are merged, tables
 * sorted anew: merging costs little more than reading and writing, and 16 bytes of memory a page at most.
 */
#ifndef PD_STORE_SEGMENT_WRITE_H
#define PD_STORE_SEGMENT_WRITE_H

#include "store/manifest.h"
#include "store/recent.h"
#include "store/segment.h"

struct pd_store_segment_job {
	struct pd_store_io *io;
	uint64_t file;			/* number of the new segment */
	int bits, k;
	const uint64_t *tombstones;	/* ascending */
	size_t n_tombstones;
};

/* The file is durable, its name in the folder not yet.  out->rows 0: nothing was left, and there is no file. */
int pd_store_segment_write(const struct pd_store_segment_job *job, const struct pd_store_recent *recent,
			   int sketch_words, struct pd_store_manifest_segment *out, struct pd_err *e);
/* Of segments in the order of their pages, whose checksums are all looked at. */
int pd_store_segment_merge(const struct pd_store_segment_job *job, struct pd_store_segment *segments, size_t n,
			   struct pd_store_manifest_segment *out, struct pd_err *e);

#endif
