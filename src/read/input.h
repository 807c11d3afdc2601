/* SPDX-License-Identifier: MIT
 *
 * In: a path, standard input, or whoever gives bytes.  Out: its bytes through a window that is peeked at, skipped over and filled again.
 * Nothing seeks while reading in sequence, so a pipe is as good as a file; some bytes
 * before the reading position stay in the window, so that a broken place can be read once more.
 *
 * Up to PD_INPUT_WINDOW bytes ahead can be asked for, PD_INPUT_HISTORY before it are kept.  Views die at the next peek.
 */
#ifndef PD_READ_INPUT_H
#define PD_READ_INPUT_H

#include "base/err.h"
#include "base/span.h"

enum { PD_INPUT_WINDOW = 1 << 20, PD_INPUT_HISTORY = 1 << 18 };

struct pd_read_input {
	int fd;			/* -1: none open */
	size_t (*pull)(void *ctx, char *to, size_t n);	/* in the place of a file: up to n > 0 bytes, 0 at the end; or NULL */
	void *pull_ctx;
	char *window;
	size_t n, at;		/* bytes in the window, reading position */
	uint64_t offset;	/* of window[at] in the input */
	uint64_t taken;		/* bytes read, over all inputs that this struct has opened */
	uint64_t size;		/* of a regular file, else 0 */
	bool regular;
	bool end;		/* nothing follows the window */
	int error;		/* errno of a call that failed; then `end` is set too */
	size_t piece;		/* bytes that are read at a time; 0: as many as there is room for */
	bool broken;		/* set by `pull`: what it gave is not all there should be, or not right */
};

/* The bytes of the regular file that standard input is, of which nothing was read yet: 1; 0: there is none; PD_ERR_SYSTEM:
 * nobody could tell, errno. */
int pd_read_input_stdin_size(uint64_t *size);

void pd_read_input_init(struct pd_read_input *in);
/* `path` NULL: standard input.  0, or PD_ERR_SYSTEM with errno set. */
int pd_read_input_open(struct pd_read_input *in, const char *path);
/* What `pull` gives, with no file: it cannot be sought in. */
void pd_read_input_open_pull(struct pd_read_input *in, size_t (*pull)(void *ctx, char *to, size_t n), void *ctx);
void pd_read_input_close(struct pd_read_input *in);
void pd_read_input_release(struct pd_read_input *in);
/* At least `want` (up to PD_INPUT_WINDOW) bytes from the reading position, fewer only at the end; more when there. */
struct pd_span pd_read_input_peek(struct pd_read_input *in, size_t want);
/* Moves on over `n` bytes that were peeked at. */
void pd_read_input_skip(struct pd_read_input *in, size_t n);
/* Back to `offset`, or as near to it as the history reaches. */
void pd_read_input_back(struct pd_read_input *in, uint64_t offset);
/* Up to n bytes at any offset of a regular file, which stay where the reading position is: how many. */
size_t pd_read_input_look(struct pd_read_input *in, uint64_t offset, char *to, size_t n);
/* To any offset of a regular file: 0, or PD_ERR_NOT_FOUND; PD_ERR_SYSTEM is left in `error`, too. */
int pd_read_input_seek(struct pd_read_input *in, uint64_t offset);

#endif
