/* SPDX-License-Identifier: MIT */
#include "base/copy.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* SMALL: below this the stream's own buffer is faster than a system call for each piece. */
enum { PIECE = 1 << 16, SMALL = 1 << 18 };

/* 1 done, 0 the kernel cannot (go on from *from by hand), negative. */
static int by_kernel(int in, const char *name, uint64_t *from, uint64_t to, FILE *out, struct pd_err *e)
{
	struct stat st;
	if (to - *from < SMALL || fstat(fileno(out), &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (fflush(out) != 0)
		return pd_fail_errno(e, "cannot write");
	while (*from < to) {
		off64_t at = (off64_t)*from;
		size_t want = to - *from < SIZE_MAX / 4 ? (size_t)(to - *from) : SIZE_MAX / 4;
		ssize_t n = copy_file_range(in, &at, fileno(out), NULL, want, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT || errno == EFBIG))
			return pd_fail_errno(e, "cannot copy %s", name);
		if (n <= 0)
			return n == 0 && to == UINT64_MAX;
		*from += (uint64_t)n;
	}
	return 1;
}

/* 1 the end was reached. */
static int by_hand(int in, const char *name, uint64_t *from, uint64_t to, FILE *out, struct pd_err *e)
{
	char piece[PIECE];
	while (*from < to) {
		size_t want = to - *from < PIECE ? (size_t)(to - *from) : PIECE;
		ssize_t n = pread(in, piece, want, (off_t)*from);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pd_fail_errno(e, "cannot read %s", name);
		if (n == 0)
			return to == UINT64_MAX ? 1 : pd_fail(e, PD_ERR_INPUT, "%s became shorter while it was read", name);
		if (fwrite(piece, 1, (size_t)n, out) != (size_t)n)
			return pd_fail_errno(e, "cannot write");
		*from += (uint64_t)n;
	}
	return 1;
}

int pd_copy_range(int in, const char *name, uint64_t from, uint64_t to, FILE *out, uint64_t *written, struct pd_err *e)
{
	uint64_t at = from;
	int r = by_kernel(in, name, &at, to, out, e);
	if (r == 0)
		r = by_hand(in, name, &at, to, out, e);
	*written += at - from;
	return r < 0 ? r : PD_OK;
}
