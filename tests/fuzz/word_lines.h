/* SPDX-License-Identifier: MIT
 *
 * For targets of word files: pass the first word of each line, as terms are written, to a check.
 */
#ifndef WORD_LINES_H
#define WORD_LINES_H

#include "fuzz.h"
#include "base/err.h"
#include "term/fold.h"
#include "term/wordfiles.c" /* for its functions that are not exported */

struct word_lines {
	void (*check)(void *ctx, struct pd_span word);
	void *ctx;
	struct pd_folder *folder;
	struct pd_buf folded;
	size_t words;
};

static inline int fuzz_word_line(void *ctx, const struct pd_wordfile *f, struct pd_span line, struct pd_err *e)
{
	struct word_lines *w = ctx;
	struct pd_span word;
	if (!wordfile_word(&line, &word))
		return PD_OK;
	pd_fold_term(w->folder, word, &w->folded);
	w->check(w->ctx, pd_buf_span(&w->folded));
	w->words++;
	return PD_OK;
}

/* Number of words in the lines of an accepted file. */
static inline size_t fuzz_word_lines(const char *path, void (*check)(void *ctx, struct pd_span word), void *ctx)
{
	struct word_lines w = { .check = check, .ctx = ctx, .folder = pd_folder_new() };
	struct pd_err e = { 0 };
	HOLDS(wordfile_read(path, fuzz_word_line, &w, &e) == PD_OK);
	pd_buf_release(&w.folded);
	pd_folder_free(w.folder);
	return w.words;
}

#endif
