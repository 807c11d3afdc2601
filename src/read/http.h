/* SPDX-License-Identifier: MIT
 *
 * The bytes of an HTTP response as a crawler stored them (RFC 9112) -> its parts as views, and the body without chunked
 * transfer coding.  Real servers and crawlers deviate from the standard: lines may end in LF only, the reason phrase or
 * the blank line may be missing, and lines that are not headers are skipped.
 */
#ifndef PD_READ_HTTP_H
#define PD_READ_HTTP_H

#include "base/buf.h"
#include "base/err.h"

/* A list of codings in the order of application: the header lines in order, each separated by commas.  More lines than
 * this are probably an attack. */
enum { PD_HTTP_CODING_LINES = 4 };

struct pd_read_http_codings {
	struct pd_span line[PD_HTTP_CODING_LINES];
	int n;
};

struct pd_read_http {
	int status;
	/* unchanged header values, a folded one with its line ends; the first of several is used */
	struct pd_span content_type, content_length;
	struct pd_read_http_codings transfer, content;
	struct pd_span body;
	bool endless; /* the message ends before its headers do */
};

/* Return false if it does not begin with a status line. */
bool pd_read_http_parse(struct pd_span message, struct pd_read_http *out);

/* Return TYPE/SUBTYPE without the rest: "text/html; charset=x", "text/html charset=x", "text/html, text/html",
 * "text/html: x". */
struct pd_span pd_read_http_media_type(struct pd_span content_type);
/* Return the charset parameter without quotes; may be empty. */
struct pd_span pd_read_http_charset(struct pd_span content_type);

/* The body of a response and the codings in its header -> the decoded body, limited to the page size.  A body that is
 * not in the declared coding is used unchanged: Common Crawl stores decoded bodies and keeps the header, and servers
 * declare wrong codings.  RFC 9110, 8.4 (content codings: gzip, deflate, br, zstd) and RFC 9112, 7 (transfer codings:
 * the same and chunked). */

/* Properties of a page recorded while reading it. */
enum pd_page_flag {
	PD_PAGE_CUT = 1,	  /* over --max-page; the rest is ignored */
	PD_PAGE_TRUNCATED = 2,	  /* body shorter than Content-Length, or its coding is incomplete: the available
					 * part is used */
	PD_PAGE_PLAIN_CODING = 4, /* the header declares a coding that the body does not have */
};

struct pd_read_coder;

struct pd_read_coder *pd_read_coder_new(size_t max_page);
void pd_read_coder_free(struct pd_read_coder *c);
/* Decode transfer codings, then content codings.  *body becomes a view into the coder's buffers, valid until the next
 * call of the same function; PD_PAGE_… flags are added to *flags, and PD_PAGE_CUT in it means that the body was already
 * cut.  PD_ERR_INPUT: the body cannot be decoded. */
int pd_read_coder_transfer(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags);
int pd_read_coder_content(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags);
/* Return why the last body could not be decoded. */
const char *pd_read_coder_reason(const struct pd_read_coder *c);

#endif
