/* SPDX-License-Identifier: MIT
 *
 * The parts of a URL that pages are grouped by (RFC 3986, generic syntax).  Junk gives an empty host, never an error.
 */
#ifndef PD_BASE_URL_H
#define PD_BASE_URL_H

#include "base/buf.h"

/* The host in lower case, without user, port and trailing dot; nothing when the URL has none. */
void pd_url_host(struct pd_span url, struct pd_buf *out);

#endif
