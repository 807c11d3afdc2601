/* SPDX-License-Identifier: MIT
 *
 * Sorting records that are more than memory holds.
 *
 * They come in as sorted runs, lie in one file without a name, and come out in the order of all of them together.  The caller
 * sorts what memory holds and writes it as a run, as often as it must; what it has left in the end may stay in memory as the
 * last run.  Records are bytes whose length they tell.
 */
#ifndef PD_BASE_RUNS_H
#define PD_BASE_RUNS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_runs_type {
	size_t (*size)(struct pd_span bytes);			/* of the record that they begin with; 0: it is not whole */
	uint64_t (*key)(const char *record);			/* records are in the order of their keys, */
	int (*compare)(struct pd_span a, struct pd_span b);	/* then of this; NULL: those of one key in any order */
};

struct pd_runs;
/* The file is made in `tmp_dir` with the first run. */
struct pd_runs *pd_runs_new(const struct pd_runs_type *type, const char *tmp_dir);
void pd_runs_free(struct pd_runs *r);

/* A run: begin, add its records in order, end.  Threads that write runs wait for each other.  After an error nothing more
 * is written, and each later `end` and `pd_runs_merge` say why. */
void pd_runs_begin(struct pd_runs *r);
void pd_runs_add(struct pd_runs *r, const void *records, size_t n);
int pd_runs_end(struct pd_runs *r, struct pd_err *e);
/* A run that stays in memory: takes over `records`. */
void pd_runs_keep(struct pd_runs *r, struct pd_buf *records);

/* No more runs come: the merge stands before the first record.  Runs are read through windows that share `memory` bytes,
 * some kilobytes each at least. */
int pd_runs_merge(struct pd_runs *r, size_t memory, struct pd_err *e);
/* The record that the merge stands at, there until the next step; false: none is left. */
bool pd_runs_see(const struct pd_runs *r, struct pd_span *record);
int pd_runs_step(struct pd_runs *r, struct pd_err *e);

#endif
