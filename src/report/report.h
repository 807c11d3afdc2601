/* SPDX-License-Identifier: MIT
 *
 * Verdicts or answers, perhaps pairs, settings and dumps -> a page for a browser that shows what is removed.  What is damaged
 * makes it poorer, not impossible: it is named on `log` and counted.  The texts of pages come from the caller.
 */
#ifndef PD_REPORT_REPORT_H
#define PD_REPORT_REPORT_H

#include "base/terminal.h"
#include "read/reader.h"
#include "report/sums.h"

enum { PD_REPORT_SAMPLE = 12 };

struct pd_report_options {
	const char *verdicts, *pairs, *sweep;	/* files; "-": standard input; the last two may be NULL */
	const char *output;			/* NULL: standard output */
	const char *tmp_dir;
	int sample, seed;
	struct pd_reader_options in;		/* the dumps */
	bool suspects_go;			/* they are removed, too */
	bool with_texts;			/* there are dumps, whose texts are wanted */
	uint64_t bytes_in, bytes_out;		/* of the dumps; 0: they are measured */
	/* Title and main text of the page of this id. */
	int (*fetch)(void *ctx, const char *id, struct pd_buf *title, struct pd_buf *text, struct pd_err *e);
	void *ctx;
};

struct pd_report_result {
	uint64_t clusters, duplicates, suspects;
	bool damaged;				/* rows, texts or sizes were left out */
};

/* 0 or negative, and why. */
int pd_report_write(const struct pd_report_options *o, struct pd_log *log, struct pd_report_result *out, struct pd_err *e);

#endif
