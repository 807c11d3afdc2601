/* SPDX-License-Identifier: MIT
 *
 * What a person at a terminal sees.
 *
 * Colour for people (--color=auto|always|never), and no binary data.  A command prints its text as always and says by rules
 * which lines are what; colours are added on the way out, so a text in colour is the plain text and nothing else.  With auto
 * there is colour on a terminal that can show it, unless NO_COLOR is set and not empty (no-color.org); who types always means
 * it, NO_COLOR or not.
 *
 * Messages on standard error: "pagededup fp: text".  One struct per command run, handed to whoever has something to say; safe to call
 * from several threads.  A progress line, when one is shown, is wiped before the text and drawn again after it.
 */
#ifndef PD_BASE_TERMINAL_H
#define PD_BASE_TERMINAL_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum pd_color { PD_COLOR_AUTO, PD_COLOR_ALWAYS, PD_COLOR_NEVER };
extern const char *const pd_color_names[];	/* NULL at the end */

/* SGR parameters (ECMA-48, 8.3.117). */
#define PD_PAINT_HEAD "1"	/* bold */
#define PD_PAINT_GOOD "32"	/* green: kept, only in the second */
#define PD_PAINT_BAD "31"	/* red: dropped, only in the first */
#define PD_PAINT_NOTE "36"	/* cyan: why */

/* A line that begins with `prefix` has the style; of several rules the first counts. */
struct pd_paint {
	const char *prefix;
	const char *style;
};

/* Writes the text, on a terminal what it can show of it; `rules` ends with a row without prefix, NULL: none. */
void pd_print(FILE *to, struct pd_span text, const struct pd_paint *rules, enum pd_color color);

/* Text for a terminal: what would act there and not show (pd_utf8_acts, but for newlines and tabs), and what is not UTF-8,
 * becomes \xHH, so that a file's name or a page cannot move the cursor or turn what stands beside it. */
void pd_terminal_add(struct pd_buf *out, struct pd_span text);

/* Misuse when `to` is a terminal: "WHAT is binary …".  Whatever writes binary data asks before the first byte. */
int pd_refuse_terminal(FILE *to, const char *what, struct pd_err *e);

/* --- messages --- */

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
/* A bad row, "FILE:LINE: reason", was skipped; `log` as void, since readers of rows are handed it so. */
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
