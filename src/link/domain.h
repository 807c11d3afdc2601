/* SPDX-License-Identifier: MIT
 *
 * A host -> its registered domain: the name that somebody registered below a public suffix (publicsuffix.org), by libpsl.
 * news.bbc.co.uk -> bbc.co.uk.  The list is the one that libpsl was built with.
 */
#ifndef PD_LINK_DOMAIN_H
#define PD_LINK_DOMAIN_H

#include "base/buf.h"

/* Replaces `out`.  An address, a public suffix and a name without a dot are their own domain. */
void pd_domain_of(struct pd_span host, struct pd_buf *out);
/* Does it end in a suffix that the list names, with something before it?  example.org does, index.html does not. */
bool pd_domain_listed(struct pd_span host, struct pd_buf *scratch);

#endif
