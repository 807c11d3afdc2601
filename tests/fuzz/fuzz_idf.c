/* SPDX-License-Identifier: MIT
 * The bytes as a file of 'word idf': refused by an error that says why, or a table all of whose values are over 0 and under 1000,
 * with the median between them; the words of its lines are in it, whatever their case. */
#include "fuzz.h"
#include "base/err.h"
#include "term/fold.h"
#include "term/wordfiles.h"

struct values {
	struct pd_idf *idf;
	struct pd_folder *folder;
	struct pd_buf folded;
	double least, most;
	size_t words;
};

static int check_line(void *ctx, const struct pd_wordfile *f, struct pd_span line, struct pd_err *e)
{
	struct values *v = ctx;
	struct pd_span word;
	if (!pd_wordfile_word(&line, &word))
		return PD_OK;
	pd_fold_term(v->folder, word, &v->folded);
	double value = pd_idf_get(v->idf, pd_buf_span(&v->folded), pd_hash64(v->folded.p, v->folded.n));
	HOLDS(value > 0 && value <= PD_IDF_MAX);
	v->least = value < v->least ? value : v->least;
	v->most = value > v->most ? value : v->most;
	v->words++;
	return PD_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_folder *f;
	struct values v = { .least = PD_IDF_MAX };
	struct pd_err e = { 0 };
	v.folder = f = f ? f : pd_folder_new();
	const char *path = fuzz_file(data, n);
	int status = pd_idf_load(path, &v.idf, &e);
	HOLDS(!status == (v.idf != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	HOLDS(pd_wordfile_read(path, check_line, &v, &e) == PD_OK);
	HOLDS(v.words >= pd_idf_words(v.idf) && pd_idf_words(v.idf) > 0);
	HOLDS(pd_idf_median(v.idf) >= v.least && pd_idf_median(v.idf) <= v.most);
	HOLDS(strlen(pd_idf_checksum(v.idf)) == 8);
	pd_buf_release(&v.folded);
	pd_idf_free(v.idf);
	return 0;
}
