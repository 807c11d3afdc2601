/* SPDX-License-Identifier: MIT */
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

static const char *folder_of(const char *dir)
{
	if (dir)
		return dir;
	dir = getenv("TMPDIR");
	return dir && *dir ? dir : "/tmp";
}

FILE *pd_tempfile_open(const char *dir, struct pd_err *e)
{
	dir = folder_of(dir);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		struct pd_buf name = { 0 };
		pd_buf_printf(&name, "%s/pagededup-XXXXXX", dir);
		fd = mkostemp(name.p, O_CLOEXEC);
		if (fd >= 0)
			unlink(name.p);
		pd_buf_release(&name);
	}
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!f) {
		pd_fail_errno(e, "cannot make a temporary file in %s", dir);
		if (fd >= 0)
			close(fd);
	}
	return f;
}
