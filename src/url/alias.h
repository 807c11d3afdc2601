/* SPDX-License-Identifier: MIT
 *
 * Hosts that are one site under several names.  Pages, each with its host, its path, the address of its server and its
 * source -> for each host, the host that represents its site.
 *
 * Two hosts are one site if they share an address, if their first pages match, or if both hold (after an
 * encyclopaedia's entry on duplicate pages, which has "or").  Both are the default, because one address serves many
 * sites, and a page is easily copied.  With both, hosts at one address with names that differ only in "www." are
 * always one site, even if different pages of them were crawled.
 *
 * First pages are the pages nearest to the root: by depth, then length, then bytes of the path.  They match if the
 * nearest pages of the two hosts are equal or similar, and if this also holds for more than half of all compared
 * pages: the nearest pages, and first pages with equal paths on both hosts.  Sources are compared without the host's
 * own name.  The similarity is the Jaccard similarity of runs of at least four words, estimated by their 128 smallest
 * hashes.  A nearest page with fewer than 16 runs is not evidence: half of the web begins with "It works!".
 * Different sites made by the same tool reach .91, mirrors .98.
 *
 * A host is compared with hosts that share an address (if addresses are used), and, if pages are used, with hosts that
 * share one of the four smallest hashes of the nearest page, or its digest; of many such hosts, with the
 * representatives of the first 64 sites.  So the time is not quadratic in the number of hosts.  The result does not
 * depend on the order of the pages.
 */
#ifndef PD_LINK_ALIAS_H
#define PD_LINK_ALIAS_H

#include "base/terminal.h"
#include "read/page.h"
#include "read/reader.h"

enum pd_alias_by { PD_ALIAS_BOTH, PD_ALIAS_IP, PD_ALIAS_PAGES };
extern const char *const pd_alias_by_names[]; /* terminated by NULL */

struct pd_alias_options {
	int by;		/* enum pd_alias_by */
	int first;	/* number of pages of a host that are compared */
	double similar; /* least similarity of sources */
};

#define PD_ALIAS_DEFAULTS \
	{ \
		.first = 5, .similar = .95 \
	}

/* `url --learn-sites`: pages of dumps, and addresses from a file -> the table. */
struct pd_aliases_run {
	const struct pd_alias_options *o;
	struct pd_reader_options in;
	struct pd_page_options pages;
	const char *addresses; /* lines of host, blanks, address; NULL: none */
	const char *output;    /* NULL: standard output */
};

/* Return 0; 1: damaged records were skipped; negative: an error. */
int pd_aliases_run(const struct pd_aliases_run *r, struct pd_log *log, struct pd_err *e);

#endif
