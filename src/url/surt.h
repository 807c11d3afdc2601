/* SPDX-License-Identifier: MIT
 *
 * The sort-friendly form of URLs (SURT), the key of pages in web archives: the host is reversed, and parts that do
 * not distinguish pages are normalised by the rules of the Wayback machine: scheme, user, default port, "www.",
 * letter case, unnecessary escapes, "." and "..", empty segments, a slash at the end, the order of the query, session
 * ids.
 *
 *	http://www.Example.com/a/B?b=2&a=1 -> com,example)/a/b?a=1&b=2
 *
 * Other URLs (dns:, urn:) are only converted to lower case.  Hosts outside ASCII stay escaped: crawlers write them
 * in their ASCII form.  Buffers are reused.
 */
#ifndef PD_URL_SURT_H
#define PD_URL_SURT_H

#include "base/buf.h"

struct pd_surt {
	struct pd_buf host, path, query, part, key;
	struct pd_span *parts; /* of the query */
	size_t cap_parts;
};

/* Append the form of a URL: one word of a line, for any host and scheme. */
void pd_surt(struct pd_surt *s, struct pd_span url, struct pd_buf *out);
void pd_surt_release(struct pd_surt *s);

#endif
