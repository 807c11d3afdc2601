/* SPDX-License-Identifier: MIT
 *
 * In: inputs and options.  Out: a line for each of their pages, in the order of the inputs, whatever the number of threads.
 * It holds the pool of pipelines, what is counted and said on the way, the closing line and --stats.  Commands differ only
 * in the line that they write for a page.
 */
#ifndef PD_WALK_WALK_H
#define PD_WALK_WALK_H

#include "base/json.h"
#include "base/terminal.h"
#include "pipeline.h"
#include "topic/boilerplate.h"
#include "write/write.h"

/* What a record may hold beside its page: HTTP headers, chunk sizes, a body that compression made longer. */
enum { PD_BLOCK_ROOM = 256 * 1024 };

/* What a walk counted. */
struct pd_walk_counts {
	uint64_t pages, without_fingerprint, left_out, damaged, bytes;
	uint64_t inputs_without_pages;		/* inputs of which not one page could be read */
};

struct pd_walk_options {
	int preset;			/* enum pd_preset */
	struct pd_options page;
	int topic, hidden, stubs, hash, weights;	/* choices, copied into `page` by pd_walk_parse */
	const char *method;		/* the list as typed, read into `page` by pd_walk_parse */
	const char *files_from, *name, *output, *stats;
	struct pd_read_jsonl_fields fields;
	const char *select;		/* see pd_reader_options */
	int jobs;			/* 0: all cores */
	int progress;			/* -1: when stderr is a terminal */
	bool quiet, ignore_damaged;
	bool learn;			/* fp: learn what sites repeat first; boilerplate: that alone */
	const char *save_boilerplate, *tmp_dir;
	bool all_text, twice;		/* see pd_reader_options */
	const char *shingles;		/* fp: a file for the shingles of each page (rows/shingles.h); NULL: none */
	const struct pd_secret *shingles_secret;	/* that they are made with; NULL: the one of all zeroes */
	const char *left_out;		/* a file for what is left out, and why; NULL: counted alone */
	const struct pd_found *found;	/* of each input, see pd_reader_options */
	int samples;			/* boilerplate: write them */
	struct pd_boilerplate *known;	/* boilerplate: a table whose hosts stay */
	int format;			/* fp: enum pd_write_row_format */
	struct pd_walk_counts *counts;	/* filled in the end; NULL: nobody asks */
};

struct pd_walker {
	bool header;
	enum pd_write_kind kind;	/* of the header */
	/* NULL: nothing but learning, whose table is the output */
	void (*row)(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out);
	bool parsed;		/* `row` asks for no more than the page's blocks: nothing is signed */
	bool total;		/* close with a "# total" line */
	/* NULL: rows are written as they are made.  Else one thread takes them, in order of the input, and writes at the end. */
	void (*take)(void *ctx, struct pd_span row);
	void (*end)(void *ctx, FILE *out);
	int (*finish)(void *ctx, FILE *out, struct pd_err *e);	/* the same, where it may go wrong */
	void *ctx;
};

extern const struct pd_walker pd_walk_fp;	/* fp's rows */

/* The inputs, to be read as these options say; what to do about damage is left to the caller. */
struct pd_reader_options pd_walk_inputs(const struct pd_walk_options *o, char **inputs, int n_inputs);
/* The closing line of what was learned. */
void pd_walk_taught(const struct pd_site_learn_counts *c, struct pd_log *log);
int pd_walk(const struct pd_walker *w, const struct pd_walk_options *o, char **inputs, int n_inputs, struct pd_log *log,
	    struct pd_err *e);

#endif
