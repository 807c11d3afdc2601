/* SPDX-License-Identifier: MIT
 *
 * What the steps of a join cost, in nanoseconds, and from that what a part of it costs (plan.h).  The one table of
 * measured constants is in cost.c; bench/calibrate measures them again.
 */
#ifndef PD_MATCH_COST_H
#define PD_MATCH_COST_H

#include "match/plan.h"
#include "match/scan.h"

struct pd_cost {
	double vector[PD_SCAN_WIDTHS];	/* one key with one vector of keys */
	int lanes[PD_SCAN_WIDTHS];	/* keys in a vector */
	double meeting;			/* two buckets that meet, before any key does */
	double candidate;		/* a pair that is near in its halves: fetched and looked at whole */
};

/* Whatever the path. */
#define PD_COST_BUCKET 1.0		/* a bucket that may be empty: cleared, summed, looked at */
#define PD_COST_PROBE .7		/* a neighbouring bucket, looked up */
#define PD_COST_GATHER 5.5		/* a small bucket, copied beside others */
#define PD_COST_SORT_HALF 15.0		/* a key into its bucket, two passes over many keys; halves kept */
#define PD_COST_SORT_WHOLE 8.0		/* the same, all words kept, */
#define PD_COST_SORT_WORD 10.0		/* and for each word */
#define PD_COST_SORT_INNER 5.1		/* a key of a bucket into a bucket of its own, for each word */
#define PD_COST_SPLIT 2000.0		/* planning and clearing before a bucket is sorted again */

const struct pd_cost *pd_cost_of(enum pd_scan_path path);

/* n_a keys with n_b, in nanoseconds, those of a in one run and those of b in one. */
double pd_cost_cross(const struct pd_cost *c, enum pd_scan_width width, double n_a, double n_b);
/* The same for the b of a small bucket among many (gather.h). */
double pd_cost_gathered(const struct pd_cost *c, enum pd_scan_width width, double n_a, double n_b);

#endif
