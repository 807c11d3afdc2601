/* SPDX-License-Identifier: MIT */
#include "base/line_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"

int pd_line_next(struct pd_line_reader *l, struct pd_span *line, struct pd_err *e)
{
	errno = 0;
	ssize_t n = getline(&l->raw, &l->cap, l->f);
	bool whole = n > 0 && l->raw[n - 1] == '\n';
	if (!whole && ferror(l->f))
		return pd_fail_errno(e, "cannot read %s", l->path);
	if (n <= 0 && !feof(l->f))	/* neither an error nor the end: the line found no memory */
		pd_out_of_memory();
	if (n <= 0)
		return 0;
	l->no++;
	l->bytes += (uint64_t)n;
	n -= whole;
	n -= n && l->raw[n - 1] == '\r';
	*line = pd_span(l->raw, (size_t)n);
	return 1;
}

void pd_line_reader_release(struct pd_line_reader *l)
{
	free(l->raw);
	l->raw = NULL;
	l->cap = 0;
}
