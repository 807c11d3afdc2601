/* SPDX-License-Identifier: MIT
 *
 * The stream that a segment is written to: bytes in, blocks and their checksums out.  An error sticks, and what follows
 * is passed over.
 */
#ifndef PD_STORE_SEGMENT_OUT_H
#define PD_STORE_SEGMENT_OUT_H

#include "store/segment.h"

struct pd_segment_out {
	struct pd_io_file f;
	uint64_t file, at;
	struct pd_buf block, checks;
	struct pd_segment_footer footer;
	int status;
	struct pd_err *e;
};

void pd_out_open(struct pd_segment_out *o, struct pd_io *io, uint64_t file, struct pd_err *e);
void pd_out_put(struct pd_segment_out *o, const void *p, size_t n);
void pd_out_align(struct pd_segment_out *o);
/* Sections begin in their order; one ends where the next begins, or at pd_out_end. */
void pd_out_section(struct pd_segment_out *o, int section);
void pd_out_section_end(struct pd_segment_out *o, int section);
/* Checksums and footer, whose other members are set; closes.  The status of all of it. */
int pd_out_finish(struct pd_segment_out *o);

#endif
