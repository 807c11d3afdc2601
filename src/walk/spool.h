/* SPDX-License-Identifier: MIT
 *
 * Pages that were parsed and wait: what a pipeline knows of a page after pd_pipeline_parse, as bytes in a temporary file
 * without a name, each an lz4 frame, in the order in which it came.  In: a pipeline.  Out: a pipeline of which
 * pd_pipeline_sign can go on.
 * Memory is that of one page.
 */
#ifndef PD_WALK_SPOOL_H
#define PD_WALK_SPOOL_H

#include "base/codec.h"
#include "page/blocks.h"
#include "pipeline.h"

/* One for each thread.  All zeroes to begin with. */
struct pd_walk_codec {
	struct pd_packer *packer;
	struct pd_unpacker *unpacker;
	struct pd_buf plain;
};

void pd_walk_codec_release(struct pd_walk_codec *c);
/* Appends the page to `out`, as its own. */
void pd_walk_spool_pack(struct pd_walk_codec *c, const struct pd_pipeline *p, struct pd_buf *out);
/* The page into the pipeline, which borrows from the codec.  False: damaged. */
bool pd_walk_spool_unpack(struct pd_walk_codec *c, struct pd_span bytes, struct pd_pipeline *p);

struct pd_walk_spool;

int pd_walk_spool_new(struct pd_walk_spool **out, const char *tmp_dir, struct pd_err *e);
void pd_walk_spool_free(struct pd_walk_spool *s);
int pd_walk_spool_put(struct pd_walk_spool *s, struct pd_span page, struct pd_err *e);
/* Back to its beginning, to read. */
int pd_walk_spool_rewind(struct pd_walk_spool *s, struct pd_err *e);
/* 1 a page, which replaces what `out` held; 0 the end; negative. */
int pd_walk_spool_next(struct pd_walk_spool *s, struct pd_buf *out, struct pd_err *e);

/* A parsed page as bytes and back: all of struct pd_blocks but its XHTML, so that pages are parsed once where something
 * must be learned from all of them before the first is signed.  Numbers are written in base 128, low digits first, the
 * high bit of a byte says that another follows; most are differences from what stands before, so that most take one byte.
 * The bytes are for the program that wrote them: they have no version.  Reading checks all the same that it stays inside
 * them and that what refers to something refers to something that is there. */

/* Reading: `at` moves on to `end`; past it, `bad` is set, and all that follows is 0. */
struct pd_packed {
	const char *at, *end;
	bool bad;
};

void pd_blocks_pack(const struct pd_blocks *b, struct pd_buf *out);
/* The spans in `out` are borrowed from the bytes, which must outlive it.  False: damaged. */
bool pd_blocks_unpack(struct pd_packed *p, struct pd_blocks *out);

#endif
