/* SPDX-License-Identifier: MIT
 *
 * Show any two texts side by side (the first zero byte separates them): only our markup occurs, and it is closed; no
 * hidden character is printed as it is; the size is bounded; and a text compared with itself has no marks.
 */
#include "fuzz.h"
#include "tools/report.h"

/* Walks over the tags; true when each is one of ours and closed. */
static bool only_ours(struct pd_span s, const char *tag)
{
	char open[16], close[16];
	bool in_tag = false, in_span = false;
	snprintf(open, sizeof open, "<%s>", tag);
	snprintf(close, sizeof close, "</%s>", tag);
	for (const char *p; s.n && (p = memchr(s.p, '<', s.n));) {
		s = pd_span(p, s.n - (size_t)(p - s.p));
		bool opens = pd_span_istarts(s, open), closes = pd_span_istarts(s, close), ends = pd_span_istarts(s, "</span>");
		if ((opens && in_tag) || (closes && !in_tag) || (ends && !in_span))
			return false;
		if (!opens && !closes && !ends && (in_span || !pd_span_istarts(s, "<span class=\"")))
			return false;
		in_tag = opens || (in_tag && !closes);
		in_span = (!opens && !closes && !ends) || (in_span && !ends);
		s = pd_span(s.p + 1, s.n - 1);
	}
	return !in_tag && !in_span;
}

static void check(struct pd_span html, const char *tag)
{
	HOLDS(fuzz_utf8(html));
	HOLDS(only_ours(html, tag));
	HOLDS(html.n <= 16384 * 40);
	for (size_t i = 0; i < html.n; i++)
		HOLDS((uint8_t)html.p[i] >= ' ' || html.p[i] == '\n' || html.p[i] == '\t');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *zero = n ? memchr(data, 0, n) : NULL;
	size_t first = zero ? (size_t)(zero - data) : n;
	struct pd_span a = fuzz_span(data, first), b = zero ? fuzz_span(zero + 1, n - first - 1) : a;
	struct pd_buf x = { 0 }, y = { 0 };
	pd_report_texts(a, b, &x, &y);
	check(pd_buf_span(&x), "del");
	check(pd_buf_span(&y), "ins");
	if (!zero)
		HOLDS(!memmem(pd_buf_z(&x), x.n, "<del>", 5) && pd_span_eq(pd_buf_span(&x), pd_buf_span(&y)));
	pd_buf_release(&x);
	pd_buf_release(&y);
	return 0;
}
