/* SPDX-License-Identifier: MIT
 * The bytes as a file of 'word idf': refused by an error that says why, or a table all of whose values are over 0 and under 1000,
 * with the median between them; the words of its lines are in it, whatever their case. */
#include "fuzz.h"
#include "base/err.h"
#include "term/fold.h"
#include "term/idf.h"
#include "term/wordfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_folder *f;
	struct pd_idf *idf;
	struct pd_err e = { 0 };
	struct pd_wordfile file;
	struct pd_span line, word;
	struct pd_buf folded = { 0 };
	double least = PD_IDF_MAX, most = 0;
	size_t words = 0;
	if (!f)
		f = pd_folder_new();
	const char *path = fuzz_file(data, n);
	int status = pd_idf_load(path, &idf, &e);
	HOLDS(!status == (idf != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	HOLDS(pd_wordfile_open(&file, path, &e) == PD_OK);
	while (pd_wordfile_next(&file, &line, &e) == 1) {
		if (!pd_wordfile_word(&line, &word))
			continue;
		pd_fold_term(f, word, &folded);
		double value = pd_idf_get(idf, pd_buf_span(&folded), pd_hash64(folded.p, folded.n));
		HOLDS(value > 0 && value <= PD_IDF_MAX);
		least = value < least ? value : least;
		most = value > most ? value : most;
		words++;
	}
	HOLDS(words >= pd_idf_words(idf) && pd_idf_words(idf) > 0);
	HOLDS(pd_idf_median(idf) >= least && pd_idf_median(idf) <= most);
	HOLDS(strlen(pd_idf_checksum(idf)) == 8);
	pd_wordfile_release(&file);
	pd_buf_release(&folded);
	pd_idf_free(idf);
	return 0;
}
