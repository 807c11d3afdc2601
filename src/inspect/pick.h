/* SPDX-License-Identifier: MIT
 *
 * show and compare: an id, a file, or --url=URL and the dumps to look in -> one page that has walked the pipeline.
 */
#ifndef PD_INSPECT_PICK_H
#define PD_INSPECT_PICK_H

#include "walk/walk.h"

struct pd_pick {
	struct pd_pipeline pipeline;
	struct pd_record record;
};

/* The record of this id, or, with `url`, the one record of that URL in the dumps; then through the pipeline.
 * PD_ERR_NOT_FOUND when there is none or more than one (the ids are then listed on stderr). */
int pd_pick_page(struct pd_pick *p, const struct pd_walk_options *o, const struct pd_tables *t, const char *id, const char *url,
		 char **dumps, int n_dumps, struct pd_log *log, struct pd_err *e);
void pd_pick_release(struct pd_pick *p);

/* What the report shows of a page, as pd_report_options.fetch wants it: `ctx` is a struct pd_pick_texts. */
struct pd_pick_texts {
	const struct pd_walk_options *walk;
	struct pd_tables tables;
	struct pd_log *log;
};

int pd_pick_text(void *ctx, const char *id, struct pd_buf *title, struct pd_buf *text, struct pd_err *e);

#endif
