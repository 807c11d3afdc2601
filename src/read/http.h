/* SPDX-License-Identifier: MIT
 *
 * In: the bytes of an HTTP response as a crawler stored them (RFC 9112).  Out: its parts as views, and the body with
 * chunked transfer undone.  Real servers and real crawlers are untidy: lines may end in LF alone, the reason phrase or
 * the blank line may be missing, lines that are no header are passed over.
 */
#ifndef PD_READ_HTTP_H
#define PD_READ_HTTP_H

#include "base/buf.h"

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

enum pd_read_http_chunked {
	PD_CHUNKED_OK,
	PD_CHUNKED_SHORT,	/* broke off: `out` has what came before */
	PD_CHUNKED_NOT,		/* the body is not chunked at all */
};

/* False: it does not begin with a status line. */
bool pd_read_http_parse(struct pd_span message, struct pd_read_http *out);
/* Is it one of HTTP/0.9 (RFC 1945, 4.1), which has neither status line nor header: all of it is the body? */
bool pd_read_http_simple(struct pd_span message);
/* Appends the body without chunk headers to `out`, at most `limit` bytes of it. */
enum pd_read_http_chunked pd_read_http_unchunk(struct pd_span body, size_t limit, struct pd_buf *out);
/* Takes the coding that was applied last off the list; false when there is none left. */
bool pd_read_http_codings_pop(struct pd_read_http_codings *list, struct pd_span *coding);
/* The media type of a Content-Type value, without its parameters. */
struct pd_span pd_read_http_media_type(struct pd_span content_type);
/* Its charset parameter, without quotes; may be empty. */
struct pd_span pd_read_http_charset(struct pd_span content_type);

#endif
