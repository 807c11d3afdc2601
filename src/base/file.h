/* SPDX-License-Identifier: MIT
 *
 * What is read from and written to files in other ways than a page: a small file whole, a text file line by line, a stretch
 * of a file as it is, and files without a name, which leave no trace; and outputs that leave nothing half-written
 * and never meet inputs.
 *
 * An output file is written under a temporary name beside its own, and is synced and renamed when it is whole; a signal, an error or a
 * want of memory removes it.  Files are known by device and inode, whatever they are called.  Whoever opens an input says so
 * (pd_input_fopen, pd_input_note); an output that would be one of them is refused before anything is lost, and so is an input
 * that is an output of this run, or its temporary file.
 */
#ifndef PD_BASE_FILE_H
#define PD_BASE_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* Replaces what `out` held.  PD_ERR_SYSTEM names the file; over 1 GiB is PD_ERR_LIMIT. */
int pd_read_file(const char *path, struct pd_buf *out, struct pd_err *e);
/* A file that holds a secret (pd_secret_parse).  PD_ERR_FORMAT for anything else, and the message says how to make such a file. */
struct pd_secret;
int pd_read_secret(const char *path, struct pd_secret *out, struct pd_err *e);
/* Bytes of an open file from `at` on: n of them, or those up to its end; how many.  Negative: errno says why. */
ssize_t pd_pread(int fd, void *to, size_t n, uint64_t at);

/* --- lines --- */

enum pd_lines_kind { PD_LINES_UNKNOWN, PD_LINES_PIPE, PD_LINES_FILE };

/* From zeros but for `f` and `path`. */
struct pd_line_reader {
	FILE *f;		/* of the caller: nothing here closes it; a file is read ahead */
	const char *path;	/* for messages */
	uint64_t no;		/* of the last line, from 1 */
	char *raw;
	size_t cap, at, end;	/* raw[at..end - 1] has been read and not been handed over */
	enum pd_lines_kind kind;
	bool done;		/* no more will come into `raw` */
	int failed;		/* errno, where that was an error */
	uint64_t bytes;		/* of all lines so far */
};

/* The next line without its end (\n or \r\n): 1, 0 at the end of the file, PD_ERR_SYSTEM.  *line is valid until the next. */
int pd_line_next(struct pd_line_reader *l, struct pd_span *line, struct pd_err *e);
/* The next file, of which the first line has number 1; `bytes` go on. */
void pd_line_reader_start(struct pd_line_reader *l, FILE *f, const char *path);
void pd_line_reader_release(struct pd_line_reader *l);

/* --- bytes from file to file --- */

/* Bytes from..to - 1 of `in` are written to `out` (`to` UINT64_MAX: to the end); *written grows.  Within one file system
 * the kernel copies, or shares the blocks.  PD_ERR_SYSTEM; PD_ERR_INPUT: the file ends before `to`. */
int pd_copy_range(int in, const char *name, uint64_t from, uint64_t to, FILE *out, uint64_t *written, struct pd_err *e);

/* --- files without a name --- */

/* In `dir`, else TMPDIR, else /tmp, to be written and read.  NULL on error. */
FILE *pd_tempfile_open(const char *dir, struct pd_err *e);
/* Up to n bytes of something: how many, 0 at the end, -1 and errno. */
typedef ptrdiff_t pd_take_bytes(void *ctx, void *to, size_t n);
/* All that `take` gives, in such a file, for what must be sought in and cannot be.  `name` is for messages. */
FILE *pd_tempfile_of(pd_take_bytes *take, void *ctx, const char *name, struct pd_err *e);
/* A new folder there, for one file of this name that others read: `path` is the file's, which is not there yet.  One at a time; a
 * signal that ends the process removes both. */
int pd_tempfolder_make(const char *dir, const char *file, struct pd_buf *path, struct pd_err *e);
void pd_tempfolder_remove(void);

/* --- standard streams --- */

/* Once, at the very start of the program: gives a descriptor to each standard stream that is closed, because otherwise the next file
 * that is opened would get its number, and with it what is written to standard error or output.  Reading and writing these streams
 * fails; messages vanish. */
void pd_standard_open(void);
/* STDIN_FILENO, STDOUT_FILENO: PD_ERR_SYSTEM if it is closed, so that nothing is begun that cannot be read or written. */
int pd_standard_check(int fd, struct pd_err *e);

/* --- inputs --- */

/* fopen for reading, and note. */
FILE *pd_input_fopen(const char *path, struct pd_err *e);
/* A file is read, which `path` leads to.  PD_ERR_USAGE: this run writes it. */
int pd_input_note(const struct stat *st, const char *path, struct pd_err *e);
int pd_input_note_fd(int fd, const char *path, struct pd_err *e);
/* Another run begins in this process: its outputs may be what were inputs or outputs before. */
void pd_inputs_forget(void);
/* Does this run write the file, or will it take its place?  Who walks through a folder passes it by: 1; 0: it is none. PD_ERR_USAGE:
 * it stood there before and no run of this program wrote it, so it may be what the folder is read for. */
int pd_output_passed_by(const struct stat *st, const char *path, struct pd_err *e);

/* --- outputs --- */

/* What stands there: 1 and `st`; 0: nothing; negative: nobody could tell, so that it is neither read nor written over. */
int pd_stat_path(const char *path, struct stat *st, struct pd_err *e);
/* Is `path` one of these files ("-": standard input or output; a NULL among the inputs: none)?  Asked before anything is written. */
int pd_outfile_check(const char *path, char *const *inputs, int n_inputs, struct pd_err *e);

/* Statistics and lists take only the place of a file that this program wrote: who forgot the FILE of an option gave it an input. */
int pd_outfile_check_own(const char *path, struct pd_err *e);

struct pd_outfile {
	FILE *f;
	/* What is written to `f` goes through it and is something else in the file beneath; NULL: `f` is the file. */
	struct pd_outfile_filter *filter;
	char *path;	/* NULL: standard output */
	char *temp;
	int slot;	/* in the list of what this run writes, from 1; 0 or less: none */
};

/* Set after opening; it comes out of the heap.  `end` closes what leads to it; `whole`: what is held back is written, too.  0, or negative,
 * and why, which names the file. */
struct pd_outfile_filter {
	FILE *beneath;
	int (*end)(struct pd_outfile_filter *self, bool whole, struct pd_err *e);
};

/* `path` NULL or "-": standard output.  Until it is whole the file is PATH.??????.part; it has the mode of the file whose
 * place it takes, else that of a new file.  PD_ERR_USAGE: the file is read or written by this run already, or looks like a dump. */
int pd_outfile_open(struct pd_outfile *o, const char *path, struct pd_err *e);
/* What is written is a dump itself. */
int pd_outfile_open_dump(struct pd_outfile *o, const char *path, struct pd_err *e);
/* Flushes, checks, syncs the file, renames it, and syncs the folder: after a power cut the final name has the old file or the whole new
 * one, and the new one if this returned.  After an error nothing stays under the final name, unless the folder alone could not be synced. */
int pd_outfile_commit(struct pd_outfile *o, struct pd_err *e);

/* Outputs that get their names together: for many small files one wait for the disk takes the place of one for each.  A batch that has
 * grown to some size is committed by itself.  Until then its files have temporary names. */
struct pd_outfile_batch;
struct pd_outfile_batch *pd_outfile_batch_new(void);
/* As pd_outfile_commit, later; `b` NULL: now.  An error may be of another file of the batch. */
int pd_outfile_commit_in(struct pd_outfile *o, struct pd_outfile_batch *b, struct pd_err *e);
/* The folder of `path` got a new name in another way, and is synced with the batch. */
void pd_outfile_batch_note(struct pd_outfile_batch *b, const char *path);
bool pd_outfile_batch_is_empty(const struct pd_outfile_batch *b);
int pd_outfile_batch_commit(struct pd_outfile_batch *b, struct pd_err *e);
/* Removes the files that wait.  NULL is ignored. */
void pd_outfile_batch_free(struct pd_outfile_batch *b);

/* Makes the names in the folder of `path` durable. */
int pd_sync_folder_of(const char *path, struct pd_err *e);
/* Makes durable what was written, if standard output is a regular file. */
int pd_sync_standard_output(struct pd_err *e);
void pd_outfile_abandon(struct pd_outfile *o);

/* Once, at program start: signals that end the process remove what is unfinished and then end it as they would; so does
 * a want of memory, with a message and exit 2. */
void pd_unfinished_install(void);
/* Another file that a signal, or a want of memory, removes; the result is for pd_unfinished_remove.  0: too many, it is not removed. */
int pd_unfinished_add(const char *path);
void pd_unfinished_remove(int slot);

#endif
