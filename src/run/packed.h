/* SPDX-License-Identifier: MIT
 *
 * A parsed page as bytes, and back: the state of a pipeline after pd_pipeline_parse -> bytes -> a pipeline with which
 * pd_pipeline_sign can continue.
 */
#ifndef PD_WALK_PACKED_H
#define PD_WALK_PACKED_H

#include "page/blocks.h"
#include "pipeline.h"

/* Append the page to `out`, compressed if `smaller`; `plain` is scratch. */
void pd_packed_write(struct pd_buf *plain, const struct pd_pipeline *p, bool smaller, struct pd_buf *out);
/* Read the page into the pipeline, which borrows from the bytes and from `plain`.  Return false if they are damaged. */
bool pd_packed_read(struct pd_buf *plain, struct pd_span bytes, struct pd_pipeline *p);

/* Packed blocks: all of struct pd_blocks except its XHTML, so that pages are parsed only once if data must be learned
 * from all of them before the first is signed.  Numbers are written in base 128, low digits first; the high bit of a
 * byte means that another byte follows.  Most are differences from the previous value, so that most take one byte.  The
 * bytes are only for the program that wrote them and have no version.  Reading still checks that it stays inside the
 * bytes and that references point to existing objects. */

/* State of reading: `at` advances to `end`; beyond it, `bad` is set, and the remaining values are 0. */
struct pd_packed {
	const char *at, *end;
	bool bad;
};

#endif
