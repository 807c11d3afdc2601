/* SPDX-License-Identifier: MIT
 *
 * A dump with revisit records in place of what was removed (revisit.h) -> the bytes of it that are replaced by those of the
 * inputs it was made from, compressed as they were there.  Bytes are given back only when their digest is right.
 */
#ifndef PD_APPLY_RESTORE_H
#define PD_APPLY_RESTORE_H

#include "apply/revisit.h"
#include "apply/rewrite.h"
#include "base/alloc.h"

struct pd_apply_restore {
	const char *folder;		/* where the inputs are looked for; NULL: where the records say */
	/* A record that stays, and why; may be NULL. */
	void (*missing)(void *ctx, const char *id, const char *why);
	void *ctx;
	/* its own */
	struct pd_read_source source, probe;
	struct pd_read_sink sink;
	struct pd_record record;
	struct pd_apply_original original;
	struct pd_arena paths;
	struct pd_buf path, digest;
	/* the bytes looked at last, and what is wrong with them */
	const char *last_path;
	uint64_t last_offset, last_length;
	struct pd_buf last_digest;
	const char *last_why;
	/* of the dump scanned last */
	struct pd_apply_cut *cuts;	/* in the order of the dump; `from` dies with the next scan */
	size_t n_cuts, cap_cuts;
	uint64_t restored, missed;	/* records */
};

/* folder, missing and ctx are set. */
void pd_apply_restore_init(struct pd_apply_restore *r, const struct pd_reader_options *o);
void pd_apply_restore_release(struct pd_apply_restore *r);
/* What is no dump has no cuts.  PD_ERR_SYSTEM, PD_ERR_INPUT. */
int pd_apply_restore_scan(struct pd_apply_restore *r, const char *path, const char *name, struct pd_err *e);

#endif
