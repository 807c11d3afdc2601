/* SPDX-License-Identifier: MIT
 *
 * Hosts that are one site under several names.  In: pages, each with its host, its path, the address of its server and its
 * source.  Out: for each host the host that stands for its site.
 *
 * Two hosts are one site when they share an address, when their first pages match, or, as one address serves many sites
 * and a page is copied easily, when both hold (after an encyclopaedia's entry on duplicate pages, which has "or").  With
 * the last, hosts at one address whose names differ in "www." alone are one site whatever pages a crawl brought of each.
 *
 * First pages are those nearest to the root: by depth, then length, then bytes of the path.  Of two hosts the nearest page of each
 * must be equal or alike, and so must more than half of all that are compared, which are these two and the first pages that
 * have the same path on both.  Sources are compared without the host's own name: alike is a similarity of runs of four words or
 * more, estimated by the smallest 128 of their hashes.  A nearest page with fewer than 16 such runs is no evidence: half the
 * web begins with "It works!".  Sites of one make reach .91, mirrors .98.
 *
 * A host is compared with those that share an address (where addresses count) and, where pages count, one of the four
 * smallest hashes of the nearest page, or its digest; among many such with the first 64 that stand for different sites.  So
 * time does not grow with the square of the hosts.  The result does not depend on the order of the pages.
 */
#ifndef PD_LINK_ALIAS_H
#define PD_LINK_ALIAS_H

#include "base/terminal.h"
#include "read/page.h"
#include "read/reader.h"

enum pd_alias_by { PD_ALIAS_BOTH, PD_ALIAS_IP, PD_ALIAS_PAGES };
extern const char *const pd_alias_by_names[];	/* NULL at the end */

struct pd_alias_options {
	int by;			/* enum pd_alias_by */
	int first;		/* pages of a host that are compared */
	double similar;		/* sources of at least this similarity are alike */
};

#define PD_ALIAS_DEFAULTS { .first = 5, .similar = .95 }

struct pd_aliases;

struct pd_aliases *pd_aliases_new(const struct pd_alias_options *o);
void pd_aliases_free(struct pd_aliases *a);
/* `path` with its query; `address` may be empty. */
void pd_aliases_page(struct pd_aliases *a, struct pd_span host, struct pd_span path, struct pd_span address, struct pd_span source);
/* An address of a host, from elsewhere. */
void pd_aliases_address(struct pd_aliases *a, struct pd_span host, struct pd_span address);

struct pd_aliases_counts {
	uint64_t hosts, addresses, sites;
};

/* After all pages.  A row for each host that had a page, by site, then host; see docs/urls.md. */
struct pd_aliases_counts pd_aliases_write(struct pd_aliases *a, struct pd_buf *out);

/* What the command `sites` does: the pages of dumps, and addresses from a file, in; that table out. */
struct pd_aliases_run {
	const struct pd_alias_options *o;
	struct pd_reader_options in;
	struct pd_page_options pages;
	const char *addresses;	/* lines of host, blanks, address; NULL: none */
	const char *output;	/* NULL: standard output */
};

/* 0; 1: damaged records were left out; negative, and why. */
int pd_aliases_run(const struct pd_aliases_run *r, struct pd_log *log, struct pd_err *e);

#endif
