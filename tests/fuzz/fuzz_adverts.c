/* SPDX-License-Identifier: MIT
 * The bytes as a list of adverts: refused by an error that says why, or each plain host of it is known, and all below it. */
#include "fuzz.h"
#include "base/err.h"
#include "link/links.c" /* for its functions that are not exported */

/* Lower case letters separated by dots and nothing more: a host that canonicalisation does not change. */
static bool plain(struct pd_span s)
{
	size_t label = 0, dots = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.') {
			if (!label)
				return false;
			dots++;
			label = 0;
		} else if (s.p[i] < 'a' || s.p[i] > 'z') {
			return false;
		} else {
			label++;
		}
	}
	return dots && label && s.n < 60;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_span rest = fuzz_span(data, n), line;
	struct pd_adverts *a;
	struct pd_err e = { 0 };
	struct pd_buf below = { 0 };
	const uint8_t *newline = n ? memchr(data, '\n', n) : NULL;
	bool columns = fuzz_columns(data, newline ? (size_t)(newline - data) + 1 : n);
	int status = pd_adverts_open(&a, fuzz_file(data, n), &e);
	HOLDS(!status == (a != NULL) && (!status || e.text[0]));
	HOLDS(status || !columns);
	for (; !columns && pd_span_split(&rest, '\n', &line);) {
		if (!plain(line))
			continue;
		HOLDS(a && adverts_has(a, line));
		pd_buf_clear(&below);
		pd_buf_add_z(&below, "www.");
		pd_buf_add_span(&below, line);
		HOLDS(adverts_has(a, pd_buf_span(&below)));
	}
	pd_buf_release(&below);
	pd_adverts_free(a);
	return 0;
}
