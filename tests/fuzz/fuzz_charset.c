/* SPDX-License-Identifier: MIT
 *
 * The first byte names the charset that HTTP declares, or none; the rest is the page.  The output is valid UTF-8,
 * and decoding it again does not change it.
 */
#include "fuzz.h"
#include "text/text.c" /* for its functions that are not exported */

static void decode(struct pd_text_decoder *d, const struct pd_page *page, struct pd_text *out)
{
	bool multibyte;
	pd_text_decode(d, page, out);
	HOLDS(fuzz_utf8(out->utf8));
	HOLDS(text_utf8_clean(out->utf8, &multibyte) == out->utf8.n);
	HOLDS(out->charset && out->charset->name && pd_charset_how_name(out->how));
	HOLDS(out->utf8.n <= 3 * page->body.n + 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_text_decoder *d;
	static struct pd_text text, again;
	struct pd_page page = { .status = 200 };
	unsigned how = fuzz_first(&data, &n);
	if (!d)
		d = pd_text_decoder_new();
	page.type = how & 128 ? PD_PAGE_TEXT : PD_PAGE_HTML;
	if ((how & 127) < PD_CHARSETS)
		page.charset = pd_span_z(pd_charset_by_id((enum pd_charset_id)(how & 127))->name);
	page.body = page.payload = fuzz_span(data, n);
	decode(d, &page, &text);
	decode(d, &page, &again);
	HOLDS(pd_span_eq(text.utf8, again.utf8) && text.charset == again.charset && text.replaced == again.replaced);
	return 0;
}
