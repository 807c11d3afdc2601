/* SPDX-License-Identifier: MIT
 *
 * External sort.  Records are added as sorted runs, stored in one file without a name, and returned in the order of
 * all of them.  The caller sorts as many records as fit into memory and writes them as a run, repeatedly; the last
 * run may stay in memory.  Records are bytes that contain their own length.
 */
#ifndef PD_BASE_RUNS_H
#define PD_BASE_RUNS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_runs_type {
	size_t (*size)(struct pd_span bytes); /* length of the record at the begin of these bytes; 0: it is incomplete */
	uint64_t (*key)(const char *record);  /* records are in the order of their keys, */
	int (*compare)(struct pd_span a, struct pd_span b); /* second sort key; NULL: records with equal keys have any order */
};

struct pd_runs;
/* The file is made in `tmp_dir` with the first run. */
struct pd_runs *pd_runs_new(const struct pd_runs_type *type, const char *tmp_dir);
void pd_runs_free(struct pd_runs *r);

/* A run: begin, add its records in order, end.  Threads that write runs wait for each other.  After an error nothing
 * more is written, and each later `end` and `pd_runs_merge` returns it. */
void pd_runs_begin(struct pd_runs *r);
void pd_runs_add(struct pd_runs *r, const void *records, size_t n);
int pd_runs_end(struct pd_runs *r, struct pd_err *e);
/* A run that stays in memory: takes over `records`. */
void pd_runs_keep(struct pd_runs *r, struct pd_buf *records);

/* End the adding of runs; the merge is before the first record.  Runs are read through windows that share `memory`
 * bytes, with at least some kilobytes each. */
int pd_runs_merge(struct pd_runs *r, size_t memory, struct pd_err *e);
/* The current record of the merge, valid until the next step; false: the end. */
bool pd_runs_see(const struct pd_runs *r, struct pd_span *record);
int pd_runs_step(struct pd_runs *r, struct pd_err *e);

#endif
