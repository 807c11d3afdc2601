/* SPDX-License-Identifier: MIT
 *
 * Arrays that may be too big for memory: they count against a budget, and what goes over half of it lies in a file without a
 * name instead, mapped, so that the system may give its pages back.  The other half is for what comes and goes while the arrays are there.
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
	size_t in_files;		/* by arrays in files, and sorted runs (base/sort.h): ever written */
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
void *pd_tempfile_map(const char *tmp_dir, size_t bytes, FILE **file, struct pd_err *e);

#endif
