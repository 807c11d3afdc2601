/* SPDX-License-Identifier: MIT
 *
 * Pairs rows -> how many pairs there are at each distance, and how many pages each further bit of k removes: pages less
 * chains of pages when pairs up to that distance count.  That is what `cluster --linkage=connected` removes, and the most
 * that star can.  Memory: 24 bytes for a page, 12 for a pair.
 */
#ifndef PD_REPORT_REACH_H
#define PD_REPORT_REACH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "report/sums.h"

struct pd_report_reach {
	int k;						/* of the header; -1: it says none */
	int most;					/* the largest k that is exact for their width; -1: not known */
	uint64_t bad, all;
	uint64_t pairs[PD_BITS_MAX + 2];		/* [0]: the same text; [d + 1]: distance d */
	uint64_t removed[PD_BITS_MAX + 2];			/* pages that this distance removes and those before it do not */
};

int pd_report_reach_read(struct pd_report_reach *r, const struct pd_report_reading *o, struct pd_err *e);

#endif
