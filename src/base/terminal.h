/* SPDX-License-Identifier: MIT
 *
 * What is done otherwise when a terminal reads: colour for people (--color=auto|always|never), and no binary data.
 *
 * A command prints its text as always and says by rules which lines are what; colours are added on the way out, so a
 * text in colour is the plain text and nothing else.  With auto there is colour on a terminal that can show it, unless
 * NO_COLOR is set and not empty (no-color.org); who types always means it, NO_COLOR or not.
 */
#ifndef PD_BASE_TERMINAL_H
#define PD_BASE_TERMINAL_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

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

#endif
