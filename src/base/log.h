/* SPDX-License-Identifier: MIT
 *
 * Talk on stderr: "pagededup fp: text".  One struct per command run, handed to whoever must speak; safe to call from
 * several threads.  A progress line, when one is shown, is wiped before the text and drawn again after it.
 */
#ifndef PD_BASE_LOG_H
#define PD_BASE_LOG_H

#include <stdio.h>

#include "base/span.h"

struct pd_log {
	const char *command;	/* "fp"; NULL: the program itself */
	FILE *to;		/* stderr */
	bool quiet;		/* only errors */
	bool progress;		/* draw a progress line */
	char line[160];		/* the progress line as it stands */
	double drawn;		/* when it was drawn, elapsed seconds */
	char about[256];	/* see pd_log_many */
	uint64_t n_about;
};

void pd_log_init(struct pd_log *l, const char *command);
/* Something went wrong and work goes on, or not: always said. */
void pd_log_error(struct pd_log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A bad row, "FILE:LINE: reason", was left out; `log` as void, since readers of rows are handed it so. */
void pd_log_bad_row(void *log, const char *why);
/* Worth knowing; not said when quiet. */
void pd_log_note(struct pd_log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* There may be very many messages about one thing, such as the damaged records of a file: true for the first hundred of
 * them, which are said; how many more there are is said when the next thing comes, and by pd_log_many_end. */
bool pd_log_many(struct pd_log *l, const char *about);
void pd_log_many_end(struct pd_log *l);
/* Draws the progress line, at most ten times a second; `fmt` NULL wipes it. */
void pd_log_progress(struct pd_log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
