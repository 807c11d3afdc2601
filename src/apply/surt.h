/* SPDX-License-Identifier: MIT
 *
 * The sort-friendly form of a URL that web archives look pages up by (SURT): host reversed, and what does not tell pages
 * apart undone, by the rules of the Wayback machine: scheme, user, default port, "www.", letter case, escapes that need
 * not be, "." and "..", empty segments, a slash at the end, the order of the query, session ids.
 *
 *	http://www.Example.com/a/B?b=2&a=1  ->  com,example)/a/b?a=1&b=2
 *
 * What is no http-like URL (dns:, urn:) is only brought to lower case.  Hosts outside ASCII stay escaped: crawlers write
 * them in their ASCII form.
 */
#ifndef PD_APPLY_SURT_H
#define PD_APPLY_SURT_H

#include "base/buf.h"

/* Buffers are used again. */
struct pd_apply_surt {
	struct pd_buf host, path, query, part, key;
	struct pd_span *parts;		/* of the query */
	size_t cap_parts;
};

void pd_apply_surt(struct pd_apply_surt *s, struct pd_span url, struct pd_buf *out);
void pd_apply_surt_release(struct pd_apply_surt *s);

#endif
