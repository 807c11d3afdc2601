/* SPDX-License-Identifier: MIT
 * Any value comes back from its escaped form, which is one field of one line of UTF-8; and any field is read or refused. */
#include "base/err.h"
#include "row/fields.h"
#include "row/tsv.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_span value = fuzz_span(data, n), fields[4];
	struct pd_buf escaped = { 0 }, back = { 0 };
	pd_tsv_add(&escaped, value);
	HOLDS(escaped.n > 0 && fuzz_utf8(pd_buf_span(&escaped)));
	HOLDS(pd_tsv_fields(pd_buf_span(&escaped), fields, 4) == 1 && !memchr(escaped.p, '\n', escaped.n));
	HOLDS(pd_tsv_value(pd_buf_span(&escaped), &back) == PD_OK && pd_span_eq(pd_buf_span(&back), value));
	pd_tsv_value(value, &back);
	pd_url_host(value, &back);
	HOLDS(pd_page_id_cmp(value, value) == 0);
	if (n > 1) {
		struct pd_span a = fuzz_span(data, n / 2), b = fuzz_span(data + n / 2, n - n / 2);
		int d = pd_page_id_cmp(a, b), r = pd_page_id_cmp(b, a);
		HOLDS((d < 0) == (r > 0) && (d == 0) == pd_span_eq(a, b));
	}
	pd_buf_release(&escaped);
	pd_buf_release(&back);
	return 0;
}
