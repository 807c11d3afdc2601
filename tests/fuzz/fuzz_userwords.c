/* SPDX-License-Identifier: MIT
 * The bytes as a file of a user's words: refused by an error that says why, or each of its words begins where it begins, or a longer
 * one does, and has a part of speech. */
#include "fuzz.h"
#include "base/err.h"
#include "term/fold.h"
#include "term/wordfiles.h"

struct found {
	struct pd_userwords *u;
	struct pd_folder *folder;
	struct pd_buf folded;
	size_t words;
};

static int check_line(void *ctx, const struct pd_wordfile *f, struct pd_span line, struct pd_err *e)
{
	struct found *x = ctx;
	struct pd_span word;
	if (!pd_wordfile_word(&line, &word))
		return PD_OK;
	pd_fold_term(x->folder, word, &x->folded);
	HOLDS(pd_userwords_tag(x->u, pd_buf_span(&x->folded)) != NULL);
	HOLDS(pd_userwords_at(x->u, pd_buf_span(&x->folded), 0) == x->folded.n);
	x->words++;
	return PD_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_folder *f;
	struct found x = { 0 };
	struct pd_err e = { 0 };
	x.folder = f = f ? f : pd_folder_new();
	const char *path = fuzz_file(data, n);
	int status = pd_userwords_load(path, &x.u, &e);
	HOLDS(!status == (x.u != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	HOLDS(pd_wordfile_read(path, check_line, &x, &e) == PD_OK);
	HOLDS(x.words >= pd_userwords_count(x.u) && pd_userwords_count(x.u) > 0 && strlen(pd_userwords_checksum(x.u)) == 8);
	pd_buf_release(&x.folded);
	pd_userwords_free(x.u);
	return 0;
}
