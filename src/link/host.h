/* SPDX-License-Identifier: MIT
 *
 * The host of a URL: bytes as they stand in it -> the one way to write them, as the URL standard of the WHATWG says
 * (url.spec.whatwg.org, "Host parsing"): lower case, escapes read, international names in Punycode (UTS 46, not
 * transitional, by libidn2), IPv4 in whatever base as four numbers, IPv6 compressed.
 *
 * Two things are libidn2's way: an international name has at most 63 bytes a label and 255 in all, and no symbols, which
 * IDNA 2008 forbids and no registry should give away.  Names in plain ASCII stand as they are, Punycode in them unread.
 */
#ifndef PD_LINK_HOST_H
#define PD_LINK_HOST_H

#include "base/buf.h"

/* Appends the host to `out` and returns NULL, or says in a few words why it is none.  `special`: of a scheme such as http,
 * whose hosts are domains and addresses; other hosts stay as they are, but for escapes.  `scratch` is free to use. */
const char *pd_host_parse(struct pd_span in, bool special, struct pd_buf *scratch, struct pd_buf *out);

/* Is it an address (IPv6 in brackets), and no name?  Of what pd_host_parse gave. */
bool pd_host_is_address(struct pd_span host);

/* The name without a "www." in front, where something stands after it. */
struct pd_span pd_host_without_www(struct pd_span host);

/* A host -> its registered domain: the name that somebody registered below a public suffix (publicsuffix.org), by libpsl.
 * news.bbc.co.uk -> bbc.co.uk.  The list is the one that libpsl was built with. */

/* Replaces `out`.  An address, a public suffix and a name without a dot are their own domain. */
void pd_domain_of(struct pd_span host, struct pd_buf *out);
/* Does it end in a suffix that the list names, with something before it?  example.org does, index.html does not. */
bool pd_domain_listed(struct pd_span host, struct pd_buf *scratch);

#endif
