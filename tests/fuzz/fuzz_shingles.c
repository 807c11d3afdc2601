/* SPDX-License-Identifier: MIT
 *
 * Read any bytes as a file of shingles: the result for a page is an ascending set, at most as large as its list.
 */
#include "fuzz.h"
#include "row/shingles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *path = (char *)fuzz_file(data, n);
	struct pd_shingles *s;
	struct pd_shingle_set set = { 0 };
	struct pd_err e;
	/* The pages of the first block, and one that is there by chance alone. */
	uint64_t ids[] = { 1, pd_shingles_id(&pd_no_secret, pd_span_z("a:0")), pd_shingles_id(&pd_no_secret, pd_span_z("a:1")) };
	uint64_t asked[] = { ids[0], ids[1], ids[2] };
	int status = pd_shingles_open(&s, &path, 1, ids, 3, &e);
	HOLDS(status <= 0);
	for (int i = 0; !status && i < 3; i++) {
		if (pd_shingles_count(s, asked[i]) > n) /* a list that ends after the file: not worth its memory here */
			continue;
		int known = pd_shingles_get(s, asked[i], &set, &e);
		HOLDS(known <= 1);
		for (size_t k = 1; known == 1 && k < set.n; k++)
			HOLDS(set.v[k - 1] < set.v[k]);
		HOLDS(known < 1 || set.n <= pd_shingles_count(s, asked[i]));
		HOLDS(known < 1 || pd_shingles_text(s, asked[i]) == pd_shingles_text(s, asked[i]));
		HOLDS(known < 1 || pd_shingle_set_common(&set, &set) == set.n);
	}
	free(set.v);
	pd_shingles_free(s);
	return 0;
}
