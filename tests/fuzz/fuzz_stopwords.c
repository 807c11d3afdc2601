/* SPDX-License-Identifier: MIT
 *
 * Read the bytes as a list of stop words: the word of every line, as terms are written, is in the set.
 */
#include "fuzz.h"
#include "term/fold.h"
#include "term/wordfiles.c" /* for its functions that are not exported */

static void check_line(const struct pd_stopwords *s, struct pd_folder *f, struct pd_span line, struct pd_buf *word)
{
	const char *comment = line.n ? memchr(line.p, '#', line.n) : NULL;
	if (comment)
		line.n = (size_t)(comment - line.p);
	pd_fold_term(f, line, word); /* as the segmenter writes it */
	if (word->n)
		HOLDS(pd_stopwords_has(s, pd_hash64(word->p, word->n)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_folder *f;
	struct pd_stopwords *s;
	struct pd_span rest = fuzz_span(data, n), line;
	struct pd_buf word = { 0 };
	size_t lines = 0;
	if (!f)
		f = pd_folder_new();
	int status = stopwords_load(fuzz_file(data, n), &s, NULL);
	HOLDS(!status == !fuzz_columns(data, n));
	if (status)
		return 0;
	if (rest.n >= 3 && !memcmp(rest.p, "\xEF\xBB\xBF", 3))
		rest = pd_span(rest.p + 3, rest.n - 3);
	for (; pd_span_split(&rest, '\n', &line); lines++)
		check_line(s, f, line, &word);
	HOLDS(pd_stopwords_count(s) <= lines && strlen(pd_stopwords_checksum(s)) == 8);
	pd_stopwords_free(s);
	pd_buf_release(&word);
	return 0;
}
