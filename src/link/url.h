/* SPDX-License-Identifier: MIT
 *
 * A URL as it stands in a page, and the address of the page -> the URL in full and where its parts lie, as browsers read
 * it: the URL standard of the WHATWG (url.spec.whatwg.org).  No library in Debian 12 that has a C interface reads URLs so
 * (libcurl, uriparser, GLib and libsoup follow RFC 3986), so this is our own, held against the standard's tests.
 *
 * Three differences: bytes that are not UTF-8 are escaped as they stand, because U+FFFD for each would make one URL of
 * many; queries are read as UTF-8, whatever the page's charset; a URL over PD_URL_MAX bytes is none.
 *
 * Time is linear in the bytes.  A struct pd_url owns its memory and is used again and again.
 */
#ifndef PD_LINK_URL_H
#define PD_LINK_URL_H

#include "base/buf.h"

#define PD_URL_MAX (1u << 16)

enum pd_url_scheme { PD_URL_OTHER, PD_URL_HTTP, PD_URL_HTTPS, PD_URL_WS, PD_URL_WSS, PD_URL_FTP, PD_URL_FILE };

/*	https://user:secret@host.example:8080/path?query#fragment
 *	     ^  ^           ^           ^    ^    ^     ^        ^
 *	  colon user        host host_end path query fragment  href.n
 *
 * Without a host host, host_end and path are equal; a port has its colon, a query its '?', a fragment its '#', and those
 * that are not there are empty: query == fragment, fragment == href.n. */
struct pd_url {
	struct pd_buf href;
	enum pd_url_scheme scheme;
	bool has_host;		/* "//" follows the colon; the host may be empty */
	bool opaque;		/* the path is no path of segments: mailto:someone@example.org */
	bool plain;		/* the path has nothing that is escaped or could be, no empty segment and none that begins with a dot */
	bool slash_dot;		/* "/." stands before a path that begins with two slashes, when there is no host */
	uint32_t colon, user, host, host_end, path, query, fragment;
	const char *why;	/* why it could not be read */
	struct pd_buf scratch, clean;
};

/* False: it is no URL, and `why` says so.  `base` may be NULL, and is not `out`. */
bool pd_url_parse(struct pd_span in, const struct pd_url *base, struct pd_url *out);
void pd_url_release(struct pd_url *u);

static inline struct pd_span pd_url_part(const struct pd_url *u, uint32_t from, uint32_t to)
{
	return pd_span(u->href.p + from, to - from);
}

static inline struct pd_span pd_url_host_of(const struct pd_url *u)
{
	return pd_url_part(u, u->host, u->host_end);
}

/* Digits; nothing: the scheme's own. */
static inline struct pd_span pd_url_port(const struct pd_url *u)
{
	uint32_t end = u->path - (u->slash_dot ? 2 : 0);
	return end > u->host_end ? pd_url_part(u, u->host_end + 1, end) : pd_span("", 0);
}

static inline struct pd_span pd_url_path(const struct pd_url *u)
{
	return pd_url_part(u, u->path, u->query);
}

/* How many dots a segment of a path is, escaped or not: of one or two the parser leaves nothing.  0: it is something else. */
int pd_url_dots(struct pd_span segment);

#endif
