/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/outfile.h"

/* --- whole files --- */

#define AT_ONCE ((size_t)1 << 20)
#define WHOLE_MOST ((size_t)1 << 30)

static int read_all(FILE *f, const char *path, struct pd_buf *out, struct pd_err *e)
{
	size_t got;
	do {
		got = fread(pd_buf_reserve(out, AT_ONCE), 1, AT_ONCE, f);
		out->n += got;
		if (out->n > WHOLE_MOST)
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

/* --- lines --- */

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

/* --- bytes from file to file --- */

/* SMALL: below this the stream's own buffer is faster than a system call for each piece. */
enum { PIECE = 1 << 16, SMALL = 1 << 18 };

/* 1 done, 0 the kernel cannot (go on from *from by hand), negative. */
static int copy_by_kernel(int in, const char *name, uint64_t *from, uint64_t to, FILE *out, struct pd_err *e)
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
static int copy_by_hand(int in, const char *name, uint64_t *from, uint64_t to, FILE *out, struct pd_err *e)
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
	int r = copy_by_kernel(in, name, &at, to, out, e);
	if (r == 0)
		r = copy_by_hand(in, name, &at, to, out, e);
	*written += at - from;
	return r < 0 ? r : PD_OK;
}

/* --- files without a name --- */

static const char *temporary_folder(const char *dir)
{
	if (dir)
		return dir;
	dir = getenv("TMPDIR");
	return dir && *dir ? dir : "/tmp";
}

FILE *pd_tempfile_open(const char *dir, struct pd_err *e)
{
	dir = temporary_folder(dir);
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
		pd_fail_errno(e, "cannot create a temporary file in %s", dir);
		if (fd >= 0)
			close(fd);
	}
	return f;
}
