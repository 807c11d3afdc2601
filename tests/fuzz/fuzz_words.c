/* SPDX-License-Identifier: MIT
 * The lines of a dictionary, a NUL, lines of idf: they are refused by an error that says why, or compile to a dictionary that
 * opens and finds its own words; the same lines give the same bytes. */
#include "base/err.h"
#include "fuzz.h"
#include "term/dict.h"

static void check(struct pd_span bytes, const uint8_t *words, size_t n)
{
	struct pd_dict *d;
	struct pd_dict_word w;
	struct pd_err e = { 0 };
	HOLDS(pd_dict_open(bytes, &d, &e) == PD_OK && pd_dict_words(d) > 0);
	/* The lines contain words, or none. */
	for (size_t from = 0; from < n && from < 200; from++)
		for (size_t k = 1; k <= 21 && from + k <= n; k++)
			if (pd_dict_find(d, pd_span((const char *)words + from, k), &w))
				HOLDS(w.text.n == k && !memcmp(w.text.p, words + from, k) && w.frequency > 0);
	pd_dict_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int fd = -1;
	const uint8_t *cut = n ? memchr(data, 0, n) : NULL;
	size_t n_words = cut ? (size_t)(cut - data) : n;
	struct pd_buf out = { 0 }, again = { 0 };
	struct pd_err e = { 0 };
	char idf[64], words[64];
	if (fd < 0)
		fd = memfd_create("idf", 0);
	HOLDS(fd >= 0 && ftruncate(fd, 0) == 0 && (!cut || pwrite(fd, cut + 1, n - n_words - 1, 0) == (ssize_t)(n - n_words - 1)));
	snprintf(idf, sizeof idf, "/proc/self/fd/%d", fd);
	snprintf(words, sizeof words, "%s", fuzz_file(data, n_words));
	int status = pd_dict_compile(words, cut ? idf : NULL, &out, &e);
	HOLDS(!status || e.text[0]);
	if (!status) {
		check(pd_buf_span(&out), data, n_words);
		HOLDS(pd_dict_compile(words, cut ? idf : NULL, &again, &e) == PD_OK);
		HOLDS(pd_span_eq(pd_buf_span(&out), pd_buf_span(&again)));
	}
	pd_buf_release(&out);
	pd_buf_release(&again);
	return 0;
}
