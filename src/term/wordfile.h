/* SPDX-License-Identifier: MIT
 *
 * Files that a user writes, an entry a line, in UTF-8: lines without their ends, without a byte order mark, with their numbers for
 * messages.  A line that is not UTF-8 is an error, because the words in it would never be found.
 */
#ifndef PD_TERM_WORDFILE_H
#define PD_TERM_WORDFILE_H

#include "base/buf.h"
#include "base/err.h"

struct pd_wordfile {
	const char *path;
	struct pd_buf text;
	struct pd_span rest;
	size_t number;		/* of the line that was read last, from 1 */
};

int pd_wordfile_open(struct pd_wordfile *f, const char *path, struct pd_err *e);
void pd_wordfile_release(struct pd_wordfile *f);
/* 1: a line, white space at its ends taken off; 0: the end; PD_ERR_DICT. */
int pd_wordfile_next(struct pd_wordfile *f, struct pd_span *line, struct pd_err *e);
/* The next word of a line, which is taken off it; white space parts words, that of U+3000 too.  False: there is none. */
bool pd_wordfile_word(struct pd_span *line, struct pd_span *word);
/* PD_ERR_DICT: "PATH:LINE: WHY". */
int pd_wordfile_fail(const struct pd_wordfile *f, struct pd_err *e, const char *why);

#endif
