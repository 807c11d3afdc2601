/* SPDX-License-Identifier: MIT
 *
 * The dumps that a report was given: how many of their bytes would go, and how a page of the rows is asked for.
 */
#ifndef PD_CMD_REPORT_DUMPS_H
#define PD_CMD_REPORT_DUMPS_H

#include "cmd/report.h"
#include "apply/removals.h"

struct pd_report_dumps {
	struct pd_apply_removals *removals;			/* NULL: ids are asked for as they are */
	uint64_t bytes_in, bytes_out;		/* 0: not known */
	FILE *verdicts;				/* a copy of standard input … */
	struct pd_buf path;			/* … and where it can be read again */
};

/* Verdicts that come by standard input are wanted twice: *path becomes a file. */
int pd_report_dumps_copy(struct pd_report_dumps *d, const char **path, const char *tmp_dir, struct pd_err *e);
/* Reads the dumps as `apply` does, and writes nothing.  PD_ERR_USAGE: their base names do not tell which is which. */
int pd_report_dumps_measure(struct pd_report_dumps *d, const struct pd_report_command *o, const char *verdicts,
			    struct pd_err *e);
/* The id as this run must ask for it: rows may come from another folder than the dumps are in now. */
void pd_report_dumps_here(const struct pd_report_dumps *d, struct pd_span id, struct pd_buf *out);
void pd_report_dumps_release(struct pd_report_dumps *d);

#endif
