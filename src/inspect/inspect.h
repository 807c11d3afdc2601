/* SPDX-License-Identifier: MIT
 *
 * What is shown of pages, where everything the pipeline knows of them may be examined.
 */
#ifndef PD_INSPECT_INSPECT_H
#define PD_INSPECT_INSPECT_H

#include "base/json.h"
#include "base/terminal.h"
#include "pipeline.h"
#include "walk/walk.h"

/* show and compare: an id, a file, or --url=URL and the dumps to look in -> one page that has walked the pipeline. */

struct pd_pick {
	struct pd_pipeline pipeline;
	struct pd_record record;
};

struct pd_pick_which {
	const char *id, *url;	/* url NULL: the page of that id; else the one page of that URL in the dumps */
	char **dumps;
	int n_dumps;
};

/* The record, then through the pipeline.  PD_ERR_NOT_FOUND when there is none or more than one (the ids are then listed on stderr). */
int pd_pick_page(struct pd_pick *p, const struct pd_walk_options *o, const struct pd_tables *t, const struct pd_pick_which *which,
		 struct pd_log *log, struct pd_err *e);
void pd_pick_release(struct pd_pick *p);

/* What a report or a page of labels shows of a page, as pd_report_options.fetch wants it: `ctx` is a struct pd_pick_texts. */
struct pd_pick_texts {
	const struct pd_walk_options *walk;
	struct pd_tables tables;
	struct pd_log *log;
};

int pd_pick_text(void *ctx, const char *id, struct pd_buf *title, struct pd_buf *url, struct pd_buf *text, struct pd_err *e);

/* What each stage made of a page, as text: `pagededup show --stage=…`, and the golden files of the tests. */

enum pd_stage { PD_STAGE_UTF8, PD_STAGE_HTML, PD_STAGE_BLOCKS, PD_STAGE_TERMS, PD_STAGE_TOPIC, PD_STAGE_FEATURES, PD_STAGE_SIGNATURE };
extern const char *const pd_stage_names[];	/* NULL at the end */

/* The pipeline has run over the page with keep_xhtml and explain set. */
void pd_show(struct pd_pipeline *p, enum pd_stage stage, struct pd_buf *out);

/* The same of a page that is found first, on standard output. */
int pd_show_page(const struct pd_walk_options *o, const struct pd_pick_which *which, enum pd_stage stage, enum pd_color color,
		 struct pd_log *log, struct pd_err *e);

/* Why two pages match, or do not, on standard output: distance, shared shingles and lines of main text. */
int pd_compare_pages(const struct pd_walk_options *o, const struct pd_pick_which which[2], enum pd_color color, struct pd_log *log,
		     struct pd_err *e);

/* What becomes of a page, and why: a page's id or URL, a verdicts file, perhaps the pairs -> the steps to the page kept, the
 * duplicates of a page that is kept, the pages that it is paired with.  The verdicts are read twice, so that memory grows with
 * one cluster alone. */

struct pd_why_options {
	const char *id, *url;		/* one of them */
	const char *verdicts, *pairs;	/* files; pairs may be NULL */
};

/* In words for people, or as JSON Lines, a line for each step.  PD_ERR_NOT_FOUND: no page has this URL, or several (the message
 * lists some).  An id that is not named is no error.
 * 1: a table was cut, as the error's text says; `out` has what is known. */
int pd_why(const struct pd_why_options *o, bool json, struct pd_buf *out, struct pd_err *e);

/* A sample of a dump -> what a whole run would find, take and need, as a short table for people.
 *
 * Numbers of records and pages follow from the bytes that the sample's records take; their range is two standard errors
 * of that ratio over the places of the sample.  Near-duplicates cannot be counted so: a page and its partner are
 * seldom both in a small sample.  What has a partner inside the sample is the least share; the most comes from the pairs between
 * different places, of which a sample of n out of N pages holds about (n/N)^2. */

/* The inputs of `in`, of which about `sample` records are read; damage is reported as they say.  The table is added to `out`.
 * *damaged: records were, and not one page could be read. */
int pd_estimate(const struct pd_walk_options *o, const struct pd_reader_options *in, int sample, struct pd_buf *out, bool *damaged,
		struct pd_err *e);

/* Does the program work here: fingerprints, charsets, dictionary, matching?  What is well and what is not, on standard output.
 * golden: also pages of many charsets and kinds, each with what `show --stage=signature` must print of it (tools/pack-golden);
 * empty: without them. */
bool pd_selftest(struct pd_span golden);

#endif
