/* SPDX-License-Identifier: MIT
 *
 * The owner of a page: a URL -> a hash of its owner, so that pages of one owner can be distinguished from pages of
 * others.  The owner is the registered domain of the host.  With a table it is the table's entry for the host,
 * otherwise for its registered domain, otherwise the host.
 *
 * A table has rows of `url --learn-sites` (their columns host and site), or lines of host, tab, owner.
 */
#ifndef PD_LINK_OWNER_H
#define PD_LINK_OWNER_H

#include "base/buf.h"
#include "base/err.h"

struct pd_owners;

/* `path` NULL: no table.  PD_ERR_FORMAT: a row that cannot be parsed, or a host with two owners. */
int pd_owners_open(struct pd_owners **out, const char *path, struct pd_err *e);
void pd_owners_free(struct pd_owners *o);
/* Checksum of the table, independent of its order; 0: no table. */
uint64_t pd_owners_checksum(const struct pd_owners *o);
/* `url` is as in a row.  Only one thread at a time may call it. */
uint64_t pd_owners_hash(struct pd_owners *o, struct pd_span url);

#endif
