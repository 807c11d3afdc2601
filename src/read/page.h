/* SPDX-License-Identifier: MIT
 *
 * A page: a record's payload after HTTP was undone (chunked transfer, content encoding), and what HTTP said of it.
 * In: a record.  Out: a page, or why the record is none.  Views in the page point into the record or into the
 * opener's buffers and die at the next call.
 */
#ifndef PD_READ_PAGE_H
#define PD_READ_PAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "read/record.h"

enum pd_page_type { PD_PAGE_HTML, PD_PAGE_TEXT };

/* Why a record is no page; counted by reason, never an error. */
enum pd_skip {
	PD_SKIP_NONE,		/* it is a page */
	PD_SKIP_KIND,		/* warcinfo, request, metadata, revisit … */
	PD_SKIP_STATUS,		/* an HTTP status that was not asked for: by default other than 200 */
	PD_SKIP_TYPE,		/* a type that was not asked for: by default neither HTML nor plain text */
	PD_SKIP_EMPTY,		/* no byte of payload */
	PD_SKIP_DAMAGED,	/* HTTP header or coding that gives nothing readable: reported as damage too */
	PD_SKIP_COUNT
};

struct pd_page {
	struct pd_span id, url, fetch_time, digest, user_id;	/* of the record */
	enum pd_page_type type;
	int status;				/* HTTP status, 0 when there was none */
	struct pd_span content_type;		/* media type as sent, without parameters; may be empty */
	struct pd_span charset;			/* of the Content-Type header, may be empty */
	struct pd_span body;			/* at most max_page bytes */
	struct pd_span payload;			/* what the payload digest is of: the body after transfer coding, before content coding */
	unsigned flags;
};

struct pd_page_options {
	size_t max_page;		/* the rest of a page is cut off */
	const char *status;		/* "200,206", "2xx"; NULL: 200.  HTTP/0.9 and what is not HTTP have none */
	const char *content_types;	/* media types; NULL: text/html,application/xhtml+xml,text/plain */
};

struct pd_page_opener;

/* PD_ERR_USAGE when a list cannot be read. */
int pd_page_options_check(const struct pd_page_options *o, struct pd_err *e);
/* A list that cannot be read is as good as NULL: check it first. */
struct pd_page_opener *pd_page_opener_new(const struct pd_page_options *o);
void pd_page_opener_free(struct pd_page_opener *o);
/* PD_SKIP_NONE, or why not; *reason (may be NULL) then says more in words, or is empty. */
enum pd_skip pd_page_open(struct pd_page_opener *o, const struct pd_record *in, struct pd_page *out, const char **reason);
const char *pd_skip_name(enum pd_skip s);
/* The digest that rows give a page: the record's own, or SHA-1 of the payload in base32.  `out` is cleared. */
void pd_page_digest(const struct pd_page *page, struct pd_buf *out);
/* The same of a record, whatever its status and type are, without undoing its content coding.  False: it has no payload. */
bool pd_page_record_digest(struct pd_page_opener *o, const struct pd_record *in, struct pd_buf *out);

/* In: the bytes of an HTTP response as a crawler stored them (RFC 9112).  Out: its parts as views, and the body with
 * chunked transfer undone.  Real servers and real crawlers are untidy: lines may end in LF alone, the reason phrase or
 * the blank line may be missing, lines that are no header are passed over. */

/* A list of codings in the order in which they were applied: one header line after the other, parted by commas.  Who
 * sends more lines than these means no good. */
enum { PD_HTTP_CODING_LINES = 4 };

struct pd_read_http_codings {
	struct pd_span line[PD_HTTP_CODING_LINES];
	int n;
};

struct pd_read_http {
	int status;
	/* header values as they stand, a folded one with its line ends; the first of several counts */
	struct pd_span content_type, content_length;
	struct pd_read_http_codings transfer, content;
	struct pd_span body;
	bool endless;			/* the message ends before its headers do */
};

/* False: it does not begin with a status line. */
bool pd_read_http_parse(struct pd_span message, struct pd_read_http *out);

/* In: the body of a response and the codings that its header names.  Out: the body without them, at most a page of it,
 * whatever it unpacks to.  A body that is not in the coding that it is said to be in is taken as it is: Common Crawl
 * stores bodies already decoded and keeps the header, and servers lie.
 * RFC 9110, 8.4 (content codings: gzip, deflate, br, zstd) and RFC 9112, 7 (transfer codings: the same and chunked). */

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
 * PD_ERR_INPUT: the body gives nothing readable. */
int pd_read_coder_transfer(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags);
int pd_read_coder_content(struct pd_read_coder *c, struct pd_read_http_codings list, struct pd_span *body, unsigned *flags);

#endif
