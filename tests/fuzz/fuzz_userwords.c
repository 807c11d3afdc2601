/* SPDX-License-Identifier: MIT
 *
 * Read the bytes as a file of user words: it is refused with a reason, or at the beginning of each of its words this
 * word or a longer one is found, with a part of speech.
 */
#include "word_lines.h"

static void check_word(void *ctx, struct pd_span word)
{
	HOLDS(pd_userwords_tag(ctx, word) != NULL);
	HOLDS(pd_userwords_at(ctx, word, 0) == word.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_userwords *u;
	struct pd_err e = { 0 };
	const char *path = fuzz_file(data, n);
	int status = userwords_load(path, &u, &e);
	HOLDS(!status == (u != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	HOLDS(fuzz_word_lines(path, check_word, u) >= u->words.n && u->words.n > 0);
	HOLDS(strlen(u->checksum) == 8);
	userwords_free(u);
	return 0;
}
