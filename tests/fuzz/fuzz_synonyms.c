/* SPDX-License-Identifier: MIT
 *
 * The lines of a list of synonyms, a NUL, and a text: the list is refused with a reason, or each of its words
 * becomes the first of its line.  The text between the words is unchanged.
 */
#include "fuzz.h"
#include "base/err.h"
#include "term/fold.h"
#include "term/wordfiles.c" /* for its functions that are not exported */

struct senses {
	const struct pd_synonyms *s;
	struct pd_folder *folder;
	struct pd_buf base, folded, out;
	size_t words;
};

static int check_line(void *ctx, const struct pd_wordfile *f, struct pd_span line, struct pd_err *e)
{
	struct senses *x = ctx;
	struct pd_span word;
	HOLDS(wordfile_word(&line, &word));
	pd_fold_term(x->folder, word, &x->base);
	for (; wordfile_word(&line, &word); x->words++) {
		pd_fold_term(x->folder, word, &x->folded);
		pd_synonyms_replace(x->s, pd_buf_span(&x->folded), &x->out);
		HOLDS(pd_span_eq(pd_buf_span(&x->out), pd_buf_span(&x->base)));
	}
	return PD_OK;
}

static void check_lines(const struct pd_synonyms *s, const char *path)
{
	struct senses x = { .s = s, .folder = pd_folder_new() };
	struct pd_err e;
	HOLDS(wordfile_read(path, check_line, &x, &e) == PD_OK);
	HOLDS(x.words >= s->n_replaced && x.words > 0);
	pd_buf_release(&x.base);
	pd_buf_release(&x.folded);
	pd_buf_release(&x.out);
	pd_folder_free(x.folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *cut = n ? memchr(data, 0, n) : NULL;
	size_t lines = cut ? (size_t)(cut - data) : n;
	struct pd_synonyms *s;
	struct pd_err e = { 0 };
	struct pd_buf out = { 0 };
	const char *path = fuzz_file(data, lines);
	int status = synonyms_load(path, &s, &e);
	HOLDS(!status == (s != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	check_lines(s, path);
	struct pd_span text = cut ? fuzz_span(cut + 1, n - lines - 1) : pd_span(NULL, 0);
	bool utf8 = true;
	for (size_t at = 0, k; utf8 && at < text.n; at += k)
		utf8 = (k = pd_utf8_sequence(text.p + at, text.n - at)) > 0;
	if (utf8)
		pd_synonyms_replace(s, text, &out);
	HOLDS(out.n <= 255 * text.n);
	pd_buf_release(&out);
	synonyms_free(s);
	return 0;
}
