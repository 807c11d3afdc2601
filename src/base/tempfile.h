/* SPDX-License-Identifier: MIT
 *
 * Files that leave nothing behind.  A spool has no name from the start.  An output file is written under a temporary
 * name beside its own and renamed when it is whole; a signal or an error removes it.
 */
#ifndef PD_BASE_TEMPFILE_H
#define PD_BASE_TEMPFILE_H

#include <stdio.h>

#include "base/err.h"
#include "base/span.h"

/* A file without a name, in `dir`, else TMPDIR, else /tmp.  NULL on error. */
FILE *pd_spool_open(const char *dir, struct pd_err *e);

/* Is `path` one of these files?  Writing over an input loses it. */
int pd_outfile_check(const char *path, char *const *inputs, int n_inputs, struct pd_err *e);

struct pd_outfile {
	FILE *f;
	char *path;	/* NULL: standard output */
	char *temp;
	int slot;	/* in the list that the signal handler walks */
};

/* `path` NULL or "-": standard output.  Until it is whole the file is PATH.??????.part. */
int pd_outfile_open(struct pd_outfile *o, const char *path, struct pd_err *e);
/* Flushes, checks, renames.  After an error nothing stays under the final name. */
int pd_outfile_commit(struct pd_outfile *o, struct pd_err *e);
void pd_outfile_abandon(struct pd_outfile *o);

/* Once, at program start: signals that end the process remove what is unfinished and then end it as they would; so does
 * a want of memory, with a message and exit 2. */
void pd_unfinished_install(void);

#endif
