/* SPDX-License-Identifier: MIT
 *
 * Measure the segmentation of text into terms by the built-in dictionary.  Each pass has a new segmenter, so that no word
 * is cached.  Reading the files and opening the dictionary are not timed.
 *
 * usage: segment [--repeat N] FILE…      files of UTF-8; prints bytes, terms and CPU seconds of one pass
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/threads.h"
#include "term/dict.h"
#include "term/terms.h"

static int load(struct pd_buf *text, char **paths, int n)
{
	struct pd_buf file = { 0 };
	struct pd_err e;
	int status = 0;
	for (int i = 0; i < n && !status; i++) {
		status = pd_read_file(paths[i], &file, &e);
		if (status)
			fprintf(stderr, "segment: %s\n", e.text);
		else
			pd_buf_add_span(text, pd_buf_span(&file));
	}
	pd_buf_release(&file);
	return status;
}

static double pass(const struct pd_dict *dict, struct pd_span text, struct pd_terms *terms)
{
	struct pd_segmenter_options o = { .dict = dict };
	double t = pd_cpu_seconds();
	struct pd_segmenter *s = pd_segmenter_new(&o);
	pd_terms_clear(terms);
	pd_segment(s, text, terms);
	pd_segmenter_free(s);
	return pd_cpu_seconds() - t;
}

int main(int argc, char **argv)
{
	struct pd_buf text = { 0 };
	struct pd_terms terms = { 0 };
	struct pd_dict *dict;
	struct pd_err e;
	int repeat = 1, first = 1;
	double seconds = 0;
	if (argc > 2 && !strcmp(argv[1], "--repeat")) {
		repeat = atoi(argv[2]);
		first = 3;
	}
	if (repeat < 1 || first >= argc || load(&text, argv + first, argc - first) || pd_dict_builtin(&dict, &e))
		return 2;
	for (int i = 0; i < repeat; i++)
		seconds += pass(dict, pd_buf_span(&text), &terms);
	printf("%zu bytes, %zu terms, %.4f CPU seconds, %.1f MB/s\n", text.n, terms.n, seconds / repeat,
	       (double)text.n * 1e-6 * repeat / seconds);
	pd_terms_release(&terms);
	pd_buf_release(&text);
	pd_dict_free(dict);
	return 0;
}
