/* SPDX-License-Identifier: MIT
 *
 * The window is a buffer: [history | reading position … end].  It is moved to the front only if the requested bytes are
 * not in it, and then filled by one read, so each byte is moved only a few times.
 */
#include "read/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

/* Twice the maximum request: a full window is then moved once per PD_INPUT_WINDOW bytes, however small the steps
 * are. */
enum { CAPACITY = 2 * PD_INPUT_WINDOW + PD_INPUT_HISTORY };

void pd_read_input_init(struct pd_read_input *in)
{
	*in = (struct pd_read_input){ .fd = -1 };
}

/* Reset to the start. */
static void start(struct pd_read_input *in)
{
	in->n = in->at = 0;
	in->offset = 0;
	in->end = in->broken = false;
	in->error = 0;
}

/* Return the size of a regular file that is read from its start; bytes of standard input that were read before cannot
 * be read again.  Negative: the size is unavailable, see errno. */
static int size_of(int fd, uint64_t *size)
{
	struct stat st;
	*size = 0;
	if (fstat(fd, &st) < 0)
		return PD_ERR_SYSTEM;
	if (!S_ISREG(st.st_mode))
		return 0;
	off_t at = lseek(fd, 0, SEEK_CUR);
	if (at < 0)
		return PD_ERR_SYSTEM;
	*size = at ? 0 : (uint64_t)st.st_size;
	return at == 0;
}

int pd_read_input_stdin_size(uint64_t *size)
{
	return size_of(STDIN_FILENO, size);
}

int pd_read_input_open(struct pd_read_input *in, const char *path)
{
	in->fd = STDIN_FILENO;
	if (path) {
		/* A regular file never waits: one of the kernel that would gives an error.  A pipe waits for its writer. */
		struct stat st;
		bool regular = stat(path, &st) == 0 && S_ISREG(st.st_mode);
		in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0));
	}
	if (in->fd < 0)
		return PD_ERR_SYSTEM;
	start(in);
	in->pull = NULL;
	int regular = size_of(in->fd, &in->size);
	if (regular < 0) {
		int error = errno;
		pd_read_input_close(in);
		errno = error;
		return PD_ERR_SYSTEM;
	}
	in->regular = regular > 0;
	if (!in->window)
		in->window = pd_alloc(CAPACITY);
	return PD_OK;
}

void pd_read_input_open_pull(struct pd_read_input *in, size_t (*pull)(void *ctx, char *to, size_t n), void *ctx)
{
	start(in);
	in->pull = pull;
	in->pull_ctx = ctx;
	in->size = 0;
	in->regular = false;
	if (!in->window)
		in->window = pd_alloc(CAPACITY);
}

void pd_read_input_close(struct pd_read_input *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = -1;
}

void pd_read_input_release(struct pd_read_input *in)
{
	pd_read_input_close(in);
	free(in->window);
	pd_read_input_init(in);
}

/* Move the window to the front and keep only the history before the reading position. */
static void compact(struct pd_read_input *in)
{
	size_t keep = in->at < PD_INPUT_HISTORY ? in->at : PD_INPUT_HISTORY;
	size_t consumed = in->at - keep;
	if (!consumed)
		return;
	memmove(in->window, in->window + consumed, in->n - consumed);
	in->n -= consumed;
	in->at -= consumed;
}

/* Stop reading after an error: the reader of records then stops too. */
static void failed(struct pd_read_input *in)
{
	in->error = errno;
	in->end = true;
}

struct pd_span pd_read_input_peek(struct pd_read_input *in, size_t want)
{
	if (want > PD_INPUT_WINDOW)
		want = PD_INPUT_WINDOW;
	if (in->n - in->at < want && !in->end)
		compact(in);
	while (in->n - in->at < want && !in->end) {
		size_t room = in->piece && in->piece < CAPACITY - in->n ? in->piece : CAPACITY - in->n;
		ssize_t got = in->pull ? (ssize_t)in->pull(in->pull_ctx, in->window + in->n, room)
				       : read(in->fd, in->window + in->n, room);
		if (got > 0) {
			in->n += (size_t)got;
			in->taken += (uint64_t)got;
		} else if (got == 0) {
			in->end = true;
		} else if (errno != EINTR) {
			failed(in);
		}
	}
	return pd_span(in->window + in->at, in->n - in->at);
}

void pd_read_input_skip(struct pd_read_input *in, size_t n)
{
	in->at += n;
	in->offset += n;
}

void pd_read_input_back(struct pd_read_input *in, uint64_t offset)
{
	uint64_t oldest = in->offset - in->at;
	if (offset < oldest)
		offset = oldest;
	if (offset >= in->offset)
		return;
	in->at -= (size_t)(in->offset - offset);
	in->offset = offset;
}

size_t pd_read_input_look(struct pd_read_input *in, uint64_t offset, char *to, size_t n)
{
	ssize_t got = in->regular ? pd_pread(in->fd, to, n, offset) : 0;
	if (got < 0)
		failed(in);
	return got > 0 ? (size_t)got : 0;
}

int pd_read_input_seek(struct pd_read_input *in, uint64_t offset)
{
	if (!in->regular || offset > in->size)
		return PD_ERR_NOT_FOUND;
	if (in->error) /* libarchive tries another method after an error, but the error remains */
		return PD_ERR_SYSTEM;
	if (lseek(in->fd, (off_t)offset, SEEK_SET) < 0) {
		failed(in);
		return PD_ERR_SYSTEM;
	}
	start(in);
	in->offset = offset;
	return PD_OK;
}
