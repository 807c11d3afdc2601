/* SPDX-License-Identifier: MIT
 * Any bytes as a URL: the key for sorting has no spaces and no control bytes, is not longer than escaping makes it, and the
 * same whether buffers are fresh or were used before. */
#include "fuzz.h"
#include "url/surt.h"

static struct pd_surt used;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_surt fresh = { 0 };
	struct pd_buf a = { 0 }, b = { 0 };
	pd_surt(&used, fuzz_span(data, n), &a);
	pd_surt(&fresh, fuzz_span(data, n), &b);
	HOLDS(pd_span_eq(pd_buf_span(&a), pd_buf_span(&b)));
	HOLDS(a.n <= 6 * n + 16);
	for (size_t i = 0; i < a.n; i++)
		HOLDS((uint8_t)a.p[i] > ' ' && a.p[i] != 0x7F);
	pd_surt_release(&fresh);
	pd_buf_release(&a);
	pd_buf_release(&b);
	return 0;
}
