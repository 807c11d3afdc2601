/* SPDX-License-Identifier: MIT
 *
 * In: the body of a response and the codings that its header names.  Out: the body without them, at most a page of it,
 * whatever it unpacks to.  A body that is not in the coding that it is said to be in is taken as it is: Common Crawl
 * stores bodies already decoded and keeps the header, and servers lie.
 *
 * RFC 9110, 8.4 (content codings: gzip, deflate, br, zstd) and RFC 9112, 7 (transfer codings: the same and chunked).
 */
#ifndef PD_READ_CODING_H
#define PD_READ_CODING_H

#include "read/http.h"

/* What is noted of a page on the way. */
enum pd_page_flag {
	PD_PAGE_CUT = 1,		/* over --max-page, the rest is left out */
	PD_PAGE_TRUNCATED = 2,		/* body shorter than Content-Length, or its coding broke off: kept as far as it went */
	PD_PAGE_PLAIN_CODING = 4,	/* header names a coding, body is not in it */
};

struct pd_read_coder;

struct pd_read_coder *pd_read_coder_new(size_t max_page);
void pd_read_coder_free(struct pd_read_coder *c);
/* Undoes transfer codings, then content codings.  *body becomes a view into the coder's buffers, which die at the next
 * call of the same function; *flags gets PD_PAGE_… flags, and PD_PAGE_CUT in it says that the body was cut already.
 * PD_ERR_INPUT: the body gives nothing readable, see pd_read_coder_reason. */
int pd_read_coder_transfer(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags);
int pd_read_coder_content(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags);
const char *pd_read_coder_reason(const struct pd_read_coder *c);

#endif
