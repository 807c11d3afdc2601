/* SPDX-License-Identifier: MIT
 *
 * Delete pages that are separate files, on request.  Input: the files to delete, each with the id of the page kept,
 * and the rows of `fp`.  Output: each file is deleted, or the reason why it is not.
 *
 *	pd_apply_deleter_add(&r, path, kept);	for each file to delete
 *	pd_apply_deleter_check(&r, e);		reads files and rows, deletes nothing
 *	pd_apply_deleter_next(&r, &file)	one file after the other, in the order of `add`
 *
 * A file is deleted only if all of these conditions hold, which are checked before the first deletion:
 * - The file has the digest of the rows, and contains nothing after the part that `fp` reads, such as junk after a
 * compressed page.
 * - The page kept exists, with the digest of the rows.
 * - It is another file, by device and inode, under any name.
 * - No name of it is deleted in the same run.
 * To delete the file, it is first moved aside.  If it was replaced in the meantime, or the page kept would disappear
 * with it (two names of one file that device and inode do not show), it is moved back and kept.
 *
 * Memory: the files to delete, their ids and two digests for each.
 */
#ifndef PD_APPLY_DELETE_H
#define PD_APPLY_DELETE_H

#include <sys/stat.h>

#include "base/alloc.h"
#include "read/page.h"
#include "read/reader.h"

struct pd_apply_delete_file;
struct pd_apply_wanted;

struct pd_apply_deleter {
	/* set by the caller */
	const char *rows;	    /* of fp; NULL: contents are not compared, for lists alone */
	size_t max_page, max_block; /* as for fp */
	bool list;		    /* only report which files could be deleted */
	/* its own */
	struct pd_arena arena;
	struct pd_apply_delete_file *files;
	size_t n, cap, at;
	struct pd_apply_wanted *wanted; /* ids that need digests from the rows, in order */
	size_t n_wanted;
	struct pd_reader_options reader;
	struct pd_page_opener *opener;
	struct pd_record record;
	struct pd_buf digest, text;
	uint64_t deleted, refused; /* deleted, or with X could be */
};

/* The result of a file; valid until the next call. */
struct pd_apply_deleted {
	const char *path;
	const char *why; /* the reason why it is kept; NULL: it is deleted, or could be */
};

/* A file to delete, NULL for standard input, and the id of the page kept, as in the rows.  `junk`: as in struct
 * pd_record. */
void pd_apply_deleter_add(struct pd_apply_deleter *r, const char *path, struct pd_span kept, bool junk);
/* Read the rows and examine the files, to decide which files can be deleted. */
int pd_apply_deleter_check(struct pd_apply_deleter *r, struct pd_err *e);
/* 1: the next file was handled; 0: there is none. */
int pd_apply_deleter_next(struct pd_apply_deleter *r, struct pd_apply_deleted *out);
void pd_apply_deleter_release(struct pd_apply_deleter *r);

#endif
