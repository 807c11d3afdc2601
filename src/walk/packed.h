/* SPDX-License-Identifier: MIT
 *
 * A page that was parsed, as bytes and back: what a pipeline knows of it after pd_pipeline_parse, packed.  In: a
 * pipeline.  Out: a pipeline of which pd_pipeline_sign can go on.
 */
#ifndef PD_WALK_PACKED_H
#define PD_WALK_PACKED_H

#include "page/blocks.h"
#include "pipeline.h"

/* Appends the page to `out`, as its own, compressed if it shall be smaller; `plain` is scratch. */
void pd_packed_write(struct pd_buf *plain, const struct pd_pipeline *p, bool smaller, struct pd_buf *out);
/* The page into the pipeline, which borrows from the bytes and from `plain`.  False: damaged. */
bool pd_packed_read(struct pd_buf *plain, struct pd_span bytes, struct pd_pipeline *p);

/* The blocks alone: all of struct pd_blocks but its XHTML, so that pages are parsed once where something
 * must be learned from all of them before the first is signed.  Numbers are written in base 128, low digits first, the
 * high bit of a byte says that another follows; most are differences from what stands before, so that most take one byte.
 * The bytes are for the program that wrote them: they have no version.  Reading checks all the same that it stays inside
 * them and that what refers to something refers to something that is there. */

/* Reading: `at` moves on to `end`; past it, `bad` is set, and all that follows is 0. */
struct pd_packed {
	const char *at, *end;
	bool bad;
};

/* `links`: with them; where nobody asks for a page's links, their addresses would be a fifth of all bytes. */
void pd_blocks_pack(const struct pd_blocks *b, bool links, struct pd_buf *out);
/* The spans in `out` are borrowed from the bytes, which must outlive it.  False: damaged. */
bool pd_blocks_unpack(struct pd_packed *p, struct pd_blocks *out);

#endif
