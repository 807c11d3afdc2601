/* SPDX-License-Identifier: MIT
 *
 * Whose is a page: a URL -> a hash of its owner, so that pages of one can be distinguished from those of others.  The owner is the
 * registered domain of the host; or, with a table, what it says of the host, else of its registered domain, else the host.
 *
 * A table holds rows of `sites` (their columns host and site), or lines of host, tab, owner.
 */
#ifndef PD_LINK_OWNER_H
#define PD_LINK_OWNER_H

#include "base/buf.h"
#include "base/err.h"

struct pd_owners;

/* `path` NULL: no table.  PD_ERR_FORMAT: a row that cannot be read, or a host with two owners. */
int pd_owners_open(struct pd_owners **out, const char *path, struct pd_err *e);
void pd_owners_free(struct pd_owners *o);
/* Of all that the table says, in whatever order; 0: no table. */
uint64_t pd_owners_checksum(const struct pd_owners *o);
/* A URL as it stands in a row.  One thread at a time. */
uint64_t pd_owners_hash(struct pd_owners *o, struct pd_span url);

#endif
