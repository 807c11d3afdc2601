/* SPDX-License-Identifier: MIT
 *
 * Stages as steps of map and reduce: each is a filter from standard input to standard output, which an engine (Hadoop, Spark) or
 * a shell runs on many parts of the data, and sorts between two of them:
 *
 *	map | LC_ALL=C sort | reduce
 *
 * Between the two stands a key, a tab and a value; lines of one key come together, in any order.  The last line of a map task is empty
 * but for its tab.  Nothing depends on how lines were split among tasks, on the order of a key's lines, or on how often a task ran.
 * Lines that came from other tasks hold what these wrote: one that cannot be read ends the task.  Whatever cannot go on ends it before
 * anything is written where that can be known.
 */
#ifndef PD_ENGINE_ENGINE_H
#define PD_ENGINE_ENGINE_H

#include "base/file.h"
#include "base/terminal.h"
#include "walk/walk.h"

struct pd_group_options;

/* What a task was told. */
struct pd_engine {
	const char *fetch;		/* a command that writes a file to its standard output; NULL: files are opened */
	const char *output, *store;	/* apply: the folder of dumps, and a command that puts a file there; NULL: files are written */
	bool unchecked;			/* apply: pages are removed without comparing their digests */
	const char *batch;		/* the key file of a batch; NULL: none */
	const char *tables;		/* its tables; NULL: none */
	const char *header;		/* cluster: a file with the header of the pairs */
	const struct pd_group_options *group;	/* cluster: how */
	const char *tmp_dir;
	size_t memory;			/* 0: half of the machine's */
	int bucket;			/* rows of a bucket, beyond which it goes in parts; 0: PD_ENGINE_BUCKET */
	struct pd_log *log;
};

/* A counter of the engine grows: a line that Hadoop takes from standard error. */
void pd_engine_count(const struct pd_engine *t, const char *name, uint64_t n);

/* To standard output. */
int pd_engine_write(const struct pd_buf *text, struct pd_err *e);

/* The last line of a map task that reduce tasks follow, which pass over it.  Hadoop streaming throws away what a reduce task writes, such
 * as a header or parameters, if it was given no line. */
int pd_engine_write_last(struct pd_err *e);

/* --- files that a command gives --- */

struct pd_engine_fetch {
	long pid;
	int saved;			/* what was standard input */
	const char *path;
};

/* What the command says of `path` becomes standard input: its words, parted by spaces, then the path as one more.  No shell is asked. */
int pd_engine_fetch_open(struct pd_engine_fetch *f, const char *command, const char *path, struct pd_err *e);
/* Standard input is again what it was.  PD_ERR_SYSTEM: the command failed; `read`: all that it said was. */
int pd_engine_fetch_close(struct pd_engine_fetch *f, bool read, struct pd_err *e);

/* The command's words, then the two paths: it puts a file somewhere. */
int pd_engine_put_file(const char *command, const char *file, const char *to, struct pd_err *e);

/* --- jobs --- */

/* Paths of dumps, a line each -> their fp rows.  A damaged record is named, counted and left out; a path that cannot be read ends
 * the task. */
int pd_engine_map_fp(const struct pd_engine *t, const struct pd_walk_options *o, struct pd_err *e);

/* join: all pairs of a collection; batch: new pages against a collection, whose tasks that are NULL are those of the step of join
 * with the same name. */
struct pd_engine_params;
struct pd_engine_step {
	const char *name;
	bool params;			/* the step is given the file of parameters */
	/* NULL: there is none on this side, nor in join */
	int (*map)(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
	int (*reduce)(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
};
extern const struct pd_engine_step pd_engine_join_steps[], pd_engine_batch_steps[];	/* a row without a name at the end */

/* cluster: pairs to verdicts; apply: verdicts and dumps to dumps. */
struct pd_engine_filter {
	const char *name;
	bool grouped;			/* the reduce task is given header and group */
	int (*map)(const struct pd_engine *t, struct pd_err *e);	/* NULL, as below: there is none on this side */
	int (*reduce)(const struct pd_engine *t, struct pd_err *e);
};
extern const struct pd_engine_filter pd_engine_cluster_steps[], pd_engine_apply_steps[];

#endif
