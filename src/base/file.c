/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <stdio.h>
#include "base/outfile.h"


#define AT_ONCE ((size_t)1 << 20)
#define MOST ((size_t)1 << 30)

static int read_all(FILE *f, const char *path, struct pd_buf *out, struct pd_err *e)
{
	size_t got;
	do {
		got = fread(pd_buf_reserve(out, AT_ONCE), 1, AT_ONCE, f);
		out->n += got;
		if (out->n > MOST)
			return pd_fail(e, PD_ERR_LIMIT, "%s: over a gigabyte", path);
	} while (got > 0);
	return ferror(f) ? pd_fail_errno(e, "cannot read %s", path) : PD_OK;
}

int pd_read_file(const char *path, struct pd_buf *out, struct pd_err *e)
{
	pd_buf_clear(out);
	FILE *f = pd_input_fopen(path, e);
	if (!f)
		return e ? e->status : PD_ERR_SYSTEM;
	int status = read_all(f, path, out, e);
	fclose(f);
	if (out->p)
		out->p[out->n] = 0;
	return status;
}
