/* SPDX-License-Identifier: MIT
 *
 * The inside of a walk, for walk.c (the pages one by one) and learn.c (twice over them: what sites repeat is learned
 * before the first page is signed).
 */
#ifndef PD_WALK_RUN_H
#define PD_WALK_RUN_H

#include "base/tempfile.h"
#include "base/threads.h"
#include "topic/site_learn.h"
#include "walk/counts.h"
#include "walk/inputs.h"
#include "walk/spool.h"
#include "walk/walk.h"

struct pd_worker {
	struct pd_pipeline pipeline;
	struct pd_record record;
	struct pd_json *json;
	struct pd_walk_run *walk;
	struct pd_buf events;		/* that came before the record */
	struct pd_walk_counts counts;
	struct pd_buf packed;		/* the page that came back from the spool */
	struct pd_walk_codec codec;
	bool lost;			/* one did not */
};

struct pd_walk_run {
	const struct pd_walker *walker;
	const struct pd_walk_options *o;
	struct pd_log *log;
	struct pd_tables tables;
	struct pd_reader *reader;
	struct pd_buf events;		/* since the last record was read, see inputs.h */
	struct pd_walk_inputs inputs;
	struct pd_outfile out;
	struct pd_worker **workers;
	int n_workers;
	struct pd_err err;
	struct pd_walk_progress progress;
	double read_seconds;
	uint64_t aliases;
	/* where something is learned first */
	struct pd_site_learner *learner;
	struct pd_walk_spool *spool;		/* of pages that are signed afterwards; NULL: none are */
};

/* Of a pool: the next record. */
int pd_walk_next(void *shared, void *worker);
/* What became of the worker's record is counted, said where it is damaged, and begins the result. */
void pd_walk_count(struct pd_worker *me, enum pd_skip skip, const char *reason, struct pd_buf *out);
/* pd_pool_run over the workers; what one of them failed of is the walk's error. */
int pd_walk_pool(struct pd_walk_run *w, const struct pd_pool_ops *ops);
/* The row of the page that the pipeline signed. */
void pd_walk_row(struct pd_worker *me, struct pd_buf *out);
int pd_walk_emit(void *shared, const struct pd_buf *out);

/* The first pass: what the sites repeat is learned of all pages, which are spooled where they are wanted again.  Then the
 * table is written: into the output where that is all that is wanted; else into --save-boilerplate, if it is named, and
 * into the tables of the walk. */
int pd_walk_learn(struct pd_walk_run *w);
/* The second pass, over the spool. */
int pd_walk_again(struct pd_walk_run *w);

#endif
