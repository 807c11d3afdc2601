/* SPDX-License-Identifier: MIT
 *
 * Outputs that leave nothing half-written behind and never meet inputs.  An output file is written under a temporary name
 * beside its own and renamed when it is whole; a signal, an error or a want of memory removes it.
 *
 * Files are known by device and inode, whatever they are called.  Whoever opens an input says so (pd_input_fopen,
 * pd_input_note); an output that would be one of them is refused before anything is lost, and so is an input that is an
 * output of this run, or its temporary file.
 */
#ifndef PD_BASE_OUTFILE_H
#define PD_BASE_OUTFILE_H

#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/span.h"

/* --- inputs --- */

/* fopen for reading, and note. */
FILE *pd_input_fopen(const char *path, struct pd_err *e);
/* A file is read, which `path` leads to.  PD_ERR_USAGE: this run writes it. */
int pd_input_note(const struct stat *st, const char *path, struct pd_err *e);
int pd_input_note_fd(int fd, const char *path, struct pd_err *e);
/* Another run begins in this process: its outputs may be what were inputs or outputs before. */
void pd_inputs_forget(void);
/* Does this run write the file?  Who walks through a folder passes it by. */
bool pd_output_is(const struct stat *st);

/* --- outputs --- */

/* What stands there: 1 and `st`; 0: nothing; negative: nobody could tell, so that it is neither read nor written over. */
int pd_look(const char *path, struct stat *st, struct pd_err *e);
/* Is `path` one of these files ("-": standard input or output; a NULL among the inputs: none)?  A look before anything is written. */
int pd_outfile_check(const char *path, char *const *inputs, int n_inputs, struct pd_err *e);

struct pd_outfile {
	FILE *f;
	char *path;	/* NULL: standard output */
	char *temp;
	int slot;	/* in the list of what this run writes, from 1; 0 or less: none */
};

/* `path` NULL or "-": standard output.  Until it is whole the file is PATH.??????.part; it has the mode of the file whose
 * place it takes, else that of a new file.  PD_ERR_USAGE: the file is read or written by this run already. */
int pd_outfile_open(struct pd_outfile *o, const char *path, struct pd_err *e);
/* Flushes, checks, renames.  After an error nothing stays under the final name. */
int pd_outfile_commit(struct pd_outfile *o, struct pd_err *e);
void pd_outfile_abandon(struct pd_outfile *o);

/* Once, at program start: signals that end the process remove what is unfinished and then end it as they would; so does
 * a want of memory, with a message and exit 2. */
void pd_unfinished_install(void);

#endif
