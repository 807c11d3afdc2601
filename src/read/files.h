/* SPDX-License-Identifier: MIT
 *
 * In: what was typed and a list of paths.  Out: one input after the other: paths in the order given, folders walked
 * recursively in the bytewise order of full paths (regular files, also hidden ones; links to files are followed, links
 * to folders are not).  Where it is asked for, a file that has several names (hard and symbolic links, `q` and `./q`, a
 * path that lies in a folder that was named, too) comes under the first alone.  A folder is read to its end and closed
 * before its members come, so few files are open at once.
 */
#ifndef PD_READ_FILES_H
#define PD_READ_FILES_H

#include <stdio.h>

#include "base/file.h"
#include "base/map.h"
#include "read/record.h"

struct pd_read_file {
	const char *path;	/* valid until the next call; NULL: standard input */
	const char *label;	/* what it is called in ids and messages */
	size_t name;		/* where in `path` the last part of what was named begins: of a file, or of the folder that it
				 * was found in; after a "." or ".." that was named */
	bool typed;		/* on the command line: must be readable */
	bool found;		/* in a folder, not named */
	bool regular;
	uint64_t size;		/* of a regular file */
	int error;		/* errno: cannot be opened; reported here because it is no file that could fail */
};

struct pd_dir;

struct pd_read_files {
	const struct pd_reader_options *o;
	const char *stdin_label;
	int at;				/* next operand */
	FILE *list;
	bool list_done;
	struct pd_line_reader lines;
	struct pd_buf line;
	struct pd_buf path;		/* of the folder being walked, then of its member */
	struct pd_dir *stack;	/* folders entered, the innermost last */
	size_t depth, cap;
	size_t name;
	bool typed;			/* what is being walked was typed */
	struct pd_err err;		/* why an input was refused */
	bool found;			/* … was found in a folder */
	struct pd_map seen;		/* device and inode of what was given, hashed */
	uint64_t aliases;
};

/* Looks at all that was typed: PD_ERR_SYSTEM for what is not there or may not be read, PD_ERR_USAGE for standard input
 * wanted twice.  `o` stays in use. */
int pd_read_files_open(struct pd_read_files *f, const struct pd_reader_options *o, struct pd_err *e);
/* 1 an input, 0 no more, negative: the list cannot be read, or this run writes what it names. */
int pd_read_files_next(struct pd_read_files *f, struct pd_read_file *out, struct pd_err *e);
void pd_read_files_release(struct pd_read_files *f);

#endif
