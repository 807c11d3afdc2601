/* SPDX-License-Identifier: MIT
 *
 * Read the bytes as a dictionary, unchanged and with a correct checksum: it is refused, or it finds its words and
 * segments text without reading past its end.
 */
#include "../seal.h"
#include "fuzz.h"
#include "term/dict.h"
#include "term/terms.h"

static const char sample[] = "网页近似研究 T恤 B超 𠮷野 中华人民共和国的没有此词网页网页 A&B";

static void use(struct pd_dict *d)
{
	struct pd_terms terms = { 0 };
	struct pd_dict_word w;
	struct pd_span all = pd_span_z(sample);
	for (size_t from = 0; from < all.n; from++)
		for (size_t n = 0; n <= 21 && from + n <= all.n; n++)
			if (pd_dict_find(d, pd_span(all.p + from, n), &w))
				HOLDS(pd_span_eq(w.text, pd_span(all.p + from, n)));
	HOLDS(strlen(pd_dict_id(d)) == 16 && pd_dict_words(d) > 0);
	for (int method = 0; method < 2; method++) {
		struct pd_segmenter_options o = { .dict = d, .method = (enum pd_segment_method)method };
		struct pd_segmenter *s = pd_segmenter_new(&o);
		pd_segment(s, all, &terms);
		pd_segmenter_free(s);
	}
	pd_terms_release(&terms);
}

static void open_and_use(struct pd_span bytes)
{
	struct pd_err e = { 0 };
	struct pd_dict *d;
	int status = pd_dict_open(bytes, &d, &e);
	HOLDS(status == PD_OK ? d != NULL : status == PD_ERR_DICT && !d && e.text[0]);
	if (d)
		use(d);
	pd_dict_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	open_and_use(fuzz_span(data, n));
	char *sealed = pd_alloc(n + 1);
	memcpy(sealed, data, n);
	open_and_use(pd_span(sealed, seal_container(sealed, n, 0)));
	free(sealed);
	return 0;
}
