/* SPDX-License-Identifier: MIT
 *
 * A text file, line by line.  A line that an error of reading cut short is none.
 */
#ifndef PD_BASE_LINE_READER_H
#define PD_BASE_LINE_READER_H

#include <stdio.h>

#include "base/err.h"
#include "base/span.h"

struct pd_line_reader {
	FILE *f;		/* of the caller: nothing here closes it */
	const char *path;	/* for messages */
	uint64_t no;		/* of the last line, from 1 */
	char *raw;
	size_t cap;
	uint64_t bytes;		/* of all lines so far */
};

/* The next line without its end (\n or \r\n): 1, 0 at the end of the file, PD_ERR_SYSTEM.  *line is valid until the next. */
int pd_line_next(struct pd_line_reader *l, struct pd_span *line, struct pd_err *e);
void pd_line_reader_release(struct pd_line_reader *l);

#endif
