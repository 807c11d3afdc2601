/* SPDX-License-Identifier: MIT
 *
 * Read the bytes as a file of 'word idf': it is refused with a reason, or it gives a table with values over 0 and
 * under 1000, and the median between them.  The words of its lines are in the table in any case.
 */
#include "word_lines.h"

struct values {
	struct pd_idf *idf;
	double least, most;
};

static void check_word(void *ctx, struct pd_span word)
{
	struct values *v = ctx;
	double value = pd_idf_get(v->idf, word, pd_hash64(word.p, word.n));
	HOLDS(value > 0 && value <= PD_IDF_MAX);
	v->least = value < v->least ? value : v->least;
	v->most = value > v->most ? value : v->most;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct values v = { .least = PD_IDF_MAX };
	struct pd_err e = { 0 };
	const char *path = fuzz_file(data, n);
	int status = idf_load(path, &v.idf, &e);
	HOLDS(!status == (v.idf != NULL) && (!status || e.text[0]));
	if (status)
		return 0;
	HOLDS(fuzz_word_lines(path, check_word, &v) >= v.idf->words.n && v.idf->words.n > 0);
	HOLDS(v.idf->median >= v.least && v.idf->median <= v.most);
	HOLDS(strlen(v.idf->checksum) == 8);
	idf_free(v.idf);
	return 0;
}
