/* SPDX-License-Identifier: MIT
 *
 * What a user says of pages beside the rows: a file with a number for URLs (--rank), a list of hosts (--prefer-host).
 * Out: key[i] of page i, the smaller the better, PD_KEY_LAST where the file says nothing.
 */
#ifndef PD_GROUP_PREFER_H
#define PD_GROUP_PREFER_H

#include "group/pages.h"

/* Lines "URL<TAB>number", escaped as rows are; # begins a remark.  Of several numbers for a URL the smallest counts.
 * Memory grows with the pages, not with the file.  Lines that cannot be read are reported and counted in pages->bad. */
int pd_rank_keys(struct pd_pages *pages, const char *file, const struct pd_pages_options *o, uint64_t *key, struct pd_err *e);
/* A host a line. */
int pd_prefer_keys(struct pd_pages *pages, const char *file, uint64_t *key, struct pd_err *e);

#endif
