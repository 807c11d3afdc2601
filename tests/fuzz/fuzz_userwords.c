/* SPDX-License-Identifier: MIT
 * The bytes as a file of a user's words: refused by an error that says why, or each of its words begins where it begins, or a longer
 * one does, and has a part of speech. */
#include "fuzz.h"
#include "base/err.h"
#include "term/fold.h"
#include "term/userwords.h"
#include "term/wordfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_folder *f;
	struct pd_userwords *u;
	struct pd_err e = { 0 };
	struct pd_wordfile file;
	struct pd_span line, word;
	struct pd_buf folded = { 0 };
	size_t words = 0;
	if (!f)
		f = pd_folder_new();
	const char *path = fuzz_file(data, n);
	int status = pd_userwords_load(path, &u, &e);
	HOLDS(!status == (u != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	HOLDS(pd_wordfile_open(&file, path, &e) == PD_OK);
	while (pd_wordfile_next(&file, &line, &e) == 1) {
		if (!pd_wordfile_word(&line, &word))
			continue;
		pd_fold_term(f, word, &folded);
		HOLDS(pd_userwords_tag(u, pd_buf_span(&folded)) != NULL);
		HOLDS(pd_userwords_at(u, pd_buf_span(&folded), 0) == folded.n);
		words++;
	}
	HOLDS(words >= pd_userwords_count(u) && pd_userwords_count(u) > 0 && strlen(pd_userwords_checksum(u)) == 8);
	pd_wordfile_release(&file);
	pd_buf_release(&folded);
	pd_userwords_free(u);
	return 0;
}
