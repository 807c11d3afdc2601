/* SPDX-License-Identifier: MIT
 *
 * Pages that are files of their own are deleted, on request.  In: the files that go, each with the id of the page
 * kept in its place, and the rows that say what `fp` saw.  Out: the files are deleted, or it is said why one is not.
 *
 *	pd_apply_deleter_add(&r, path, kept);			for each file that goes
 *	pd_apply_deleter_check(&r, e);				reads files and rows, deletes nothing
 *	pd_apply_deleter_next(&r, &file)			one file after the other, in the order of `add`
 *
 * Nothing is deleted unless all of this holds, and is checked before the first file goes:
 *
 *  - the file has the digest that the rows give it, and nothing in it lies after what `fp` reads, such as junk after a compressed page;
 *  - the page kept is there, with the digest that the rows give it;
 *  - it is another file, by device and inode, whatever the names are;
 *  - no name of it goes in the same run.
 *
 * In the moment of deleting, the file is first moved aside: had it been replaced meanwhile, or were the page kept
 * removed with it (two names of one file that device and inode do not show), it is moved back and stays.
 *
 * Memory: the files that go, their ids and two digests for each.
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
	const char *rows;		/* of fp; NULL: contents are not compared, for lists alone */
	size_t max_page, max_block;	/* as for fp */
	bool list;			/* nothing is deleted */
	/* its own */
	struct pd_arena arena;
	struct pd_apply_delete_file *files;
	size_t n, cap, at;
	struct pd_apply_wanted *wanted;	/* ids whose digests are taken from the rows, in order */
	size_t n_wanted;
	struct pd_reader_options reader;
	struct pd_page_opener *opener;
	struct pd_record record;
	struct pd_buf digest, text;
	uint64_t deleted, refused;	/* deleted: or could be */
};

/* What became of a file; dies with the next call. */
struct pd_apply_deleted {
	const char *path;
	const char *why;		/* it stays, for this reason; NULL: it is deleted, or could be */
};

/* A file to be deleted, NULL for standard input, and the id of the page kept, as it stands in the rows.  `junk`: as in
 * struct pd_record. */
void pd_apply_deleter_add(struct pd_apply_deleter *r, const char *path, struct pd_span kept, bool junk);
/* The rows are read and the files are examined: only now is it known what can go. */
int pd_apply_deleter_check(struct pd_apply_deleter *r, struct pd_err *e);
/* 1: the next file was dealt with; 0: there is none. */
int pd_apply_deleter_next(struct pd_apply_deleter *r, struct pd_apply_deleted *out);
void pd_apply_deleter_release(struct pd_apply_deleter *r);

#endif
