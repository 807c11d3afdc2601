/* SPDX-License-Identifier: MIT
 *
 * The bytes are the block of a record, and the first byte its kind: the result is a page within the size limit, or a
 * reason.
 */
#include "fuzz.h"
#include "read/page.h"

enum { MAX_PAGE = 2048 };

static void check(const struct pd_page *p, const struct pd_record *r)
{
	HOLDS(p->body.n > 0 && p->body.n <= MAX_PAGE);
	HOLDS(p->payload.n <= r->block.n || p->payload.n <= MAX_PAGE); /* a compressed transfer coding grows */
	/* A text without a charset is UTF-8. */
	HOLDS(p->charset.n <= r->block.n + r->content_type.n || pd_span_is(p->charset, "utf-8"));
	HOLDS(p->content_type.n <= r->block.n + r->content_type.n);
	HOLDS(fuzz_sum(p->body) + fuzz_sum(p->payload) + fuzz_sum(p->charset) + fuzz_sum(p->content_type) != 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_page_opener *opener;
	static const char *const types[] = { "", "text/html; charset=gbk", "text/plain", "application/xhtml+xml" };
	struct pd_record r = { 0 };
	struct pd_page page;
	const char *reason = NULL;
	unsigned how = fuzz_first(&data, &n);
	if (!opener)
		opener = pd_page_opener_new(&(struct pd_page_options){ .max_page = MAX_PAGE });
	/* A response, one that was cut, a payload with a content type, a text. */
	r.kind = how & 2 ? (how & 1 ? PD_RECORD_TEXT : PD_RECORD_PAYLOAD) : PD_RECORD_RESPONSE;
	r.cut = how == 1;
	r.length = n + r.cut;
	pd_buf_add_z(&r.content_type, types[how >> 2 & 3]);
	pd_buf_add(&r.block, data, n);
	enum pd_skip skip = pd_page_open(opener, &r, &page, &reason);
	HOLDS(skip < PD_SKIP_COUNT && pd_skip_name(skip));
	HOLDS(skip != PD_SKIP_DAMAGED || reason);
	if (!skip)
		check(&page, &r);
	pd_record_release(&r);
	return 0;
}
