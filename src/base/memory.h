/* SPDX-License-Identifier: MIT
 *
 * Arrays that may be too big for memory: they count against a budget, and what goes over half of it lies in a file without a
 * name instead, mapped, so that the system may give its pages back.  The other half is for what comes and goes while the arrays are there.
 *
 * A spool holds lines that are too many for memory: added one after the other, read again at any time by where they begin, in
 * a file without a name.  What was written is mapped, so that reading costs no copy; `trim` gives the mapped pages back to the
 * system, which may read them again from the file.
 */
#ifndef PD_BASE_MEMORY_H
#define PD_BASE_MEMORY_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/* Half of what the machine, or the control group that we run in, has. */
size_t pd_memory_default(void);
/* The least limit that anything can be done in, for so many rows, whose sketches may be compared by bands. */
size_t pd_memory_least(size_t n_rows, bool bands);

struct pd_budget {
	size_t limit;
	const char *tmp_dir;
	size_t used;			/* by arrays in memory */
	size_t in_files;		/* by arrays in files, and sorted runs (base/items.h): ever written */
	size_t runs;			/* how many such */
	int status;			/* a file could not be had: the array lies in memory all the same */
	struct pd_err err;
};

/* All zeroes is an empty array. */
struct pd_array {
	void *p;
	size_t bytes;
	enum { PD_ARRAY_HEAP, PD_ARRAY_MAPPED, PD_ARRAY_FILE } where;
	FILE *file;
	struct pd_budget *budget;
};

/* Room for so many bytes, what is there kept.  `budget` NULL: memory without bounds. */
void *pd_array_room(struct pd_array *b, struct pd_budget *budget, size_t bytes);
void pd_array_release(struct pd_array *b);

/* What may be used beside the arrays: a great deal without a budget. */
size_t pd_budget_left(const struct pd_budget *b);
/* PD_OK, or why some file could not be had. */
int pd_budget_check(const struct pd_budget *b, struct pd_err *e);

/* A file without a name, of so many bytes that are there (a full disk says so now), mapped to be written.  NULL: error. */
void *pd_map_new(const char *tmp_dir, size_t bytes, FILE **file, struct pd_err *e);

/* --- lines that are too many for memory --- */

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
