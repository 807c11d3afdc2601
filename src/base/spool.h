/* SPDX-License-Identifier: MIT
 *
 * Lines that are too many for memory: added one after the other, read again at any time by where they begin, in a file
 * without a name (tempfile.h).  What was written is mapped, so that reading costs no copy; `trim` gives the mapped pages
 * back to the system, which may read them again from the file.
 */
#ifndef PD_BASE_SPOOL_H
#define PD_BASE_SPOOL_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

struct pd_spool {
	FILE *f;
	struct pd_buf tail;	/* what is not in the file yet */
	uint64_t written;	/* bytes in the file */
	char *map;
	size_t mapped;		/* bytes of address space: may be more than the file has */
	uint64_t views;		/* since the last trim */
};

/* The file lies in `dir`, else TMPDIR, else /tmp. */
int pd_spool_init(struct pd_spool *s, const char *dir, struct pd_err *e);
void pd_spool_release(struct pd_spool *s);
/* Where the next line will begin. */
uint64_t pd_spool_end(const struct pd_spool *s);
/* The end of the line that is being written; fields are added to `tail` before it. */
int pd_spool_line_done(struct pd_spool *s, struct pd_err *e);
/* The line that begins at `at`, without its newline.  It dies with the next pd_spool_line_done. */
struct pd_span pd_spool_line(struct pd_spool *s, uint64_t at);
/* To be called now and then: keeps the part of the file that lies in our memory small.  Lines stay where they are. */
void pd_spool_trim(struct pd_spool *s);

#endif
