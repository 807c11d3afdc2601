/* SPDX-License-Identifier: MIT
 *
 * What is read from and written to files in other ways than a page: a small file whole, a text file line by line, a stretch
 * of a file as it is, and files without a name, which leave nothing behind.
 */
#ifndef PD_BASE_FILE_H
#define PD_BASE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* Replaces what `out` held.  PD_ERR_SYSTEM names the file; over 1 GiB is PD_ERR_LIMIT. */
int pd_read_file(const char *path, struct pd_buf *out, struct pd_err *e);

/* --- lines --- */

struct pd_line_reader {
	FILE *f;		/* of the caller: nothing here closes it */
	const char *path;	/* for messages */
	uint64_t no;		/* of the last line, from 1 */
	char *raw;
	size_t cap;
	uint64_t bytes;		/* of all lines so far */
};

/* The next line without its end (\n or \r\n): 1, 0 at the end of the file, PD_ERR_SYSTEM.  *line is valid until the next. */
int pd_line_next(struct pd_line_reader *l, struct pd_span *line, struct pd_err *e);
void pd_line_reader_release(struct pd_line_reader *l);

/* --- bytes from file to file --- */

/* Bytes from..to - 1 of `in` are written to `out` (`to` UINT64_MAX: to the end); *written grows.  Within one file system
 * the kernel copies, or shares the blocks.  PD_ERR_SYSTEM; PD_ERR_INPUT: the file ends before `to`. */
int pd_copy_range(int in, const char *name, uint64_t from, uint64_t to, FILE *out, uint64_t *written, struct pd_err *e);

/* --- files without a name --- */

/* In `dir`, else TMPDIR, else /tmp, to be written and read.  NULL on error. */
FILE *pd_tempfile_open(const char *dir, struct pd_err *e);

#endif
