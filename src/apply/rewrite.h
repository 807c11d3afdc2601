/* SPDX-License-Identifier: MIT
 *
 * An input and the cuts that scan.h made -> the input without them.  What stays is copied as it lies in the file,
 * compressed members and all.  Only a member that has lost a part of what it unpacks to is compressed again, in its own
 * codec: one member for one, and none where nothing is left.  Where a record stands in the place of a cut, the members that
 * share such cuts become one.
 */
#ifndef PD_APPLY_REWRITE_H
#define PD_APPLY_REWRITE_H

#include <stdio.h>

#include "base/codec.h"
#include "read/source.h"

/* Bytes that are not copied, and what stands in their place. */
struct pd_apply_cut {
	struct pd_read_extent x;
	enum pd_codec codec;		/* of the input */
	size_t text_at, text_n;		/* a record among the texts of the run; 0: none … */
	const char *from;		/* … or bytes of another file; NULL: none */
	uint64_t from_begin, from_end;
};

struct pd_apply_rewriter {
	struct pd_read_source source;	/* for members that are unpacked once more */
	struct pd_read_sink sink;
	struct pd_packer *packer;
	struct pd_buf out;
	/* of the run */
	const char *path, *name;
	int fd;
	FILE *to;
	const char *texts;
	uint64_t written, rewritten;	/* bytes; members compressed again */
	uint64_t lost;			/* bytes of broken members that could not be kept */
};

/* Damage inside members that are compressed again goes to `o->damage`. */
void pd_apply_rewriter_init(struct pd_apply_rewriter *c, const struct pd_reader_options *o);
void pd_apply_rewriter_release(struct pd_apply_rewriter *c);
/* `path`: a regular file.  `texts`: what the cuts point into.  The counts are set.  PD_ERR_SYSTEM; PD_ERR_INPUT: a file is not
 * what was scanned. */
int pd_apply_rewrite(struct pd_apply_rewriter *c, const char *path, const char *name, const struct pd_apply_cut *cuts, size_t n_cuts,
		     const char *texts, FILE *to, struct pd_err *e);
/* How many cuts from the first on share compressed members; *last: where the last of these members begins. */
size_t pd_apply_cuts_sharing(const struct pd_apply_cut *cuts, size_t n, uint64_t *last);

#endif
